// The property: whatever workers, time, reapers and people do, in whatever order and with whatever stale leases,
// PostgreSQL answers and looks as the model does.
import fc from 'fast-check'
import type { PolicyOverride } from '../../src/policy/policy.ts'
import type { TableProfile } from '../../src/profile/profile.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { PostgresBench } from '../support/postgres-harness.ts'
import { findUnclaimable, findViolations } from './invariants.ts'
import { operatorCommands, sweepToTheEnd } from './operator-commands.ts'
import { basePolicy, type Counting, startPolicy } from './policies.ts'
import { assertSameState, readTable } from './snapshot.ts'
import { maxCommands, stepsOf } from './timing.ts'
import { agree, assertEqual, type Model, type Pair, type Side } from './two-sides.ts'
import { add, workerCommands } from './worker-commands.ts'

export interface ModelOptions {
  bench: PostgresBench
  table: TableProfile
  schema: string
  counting: fc.Arbitrary<Counting>
}

export function leaseProperty(options: ModelOptions) {
  const command = fc.oneof(...workerCommands, ...operatorCommands)
  const commands = fc.noBias(fc.commands([command], { maxCommands, size: 'max' }))
  return fc.asyncProperty(startPolicy(options.counting), add, commands, async (policy, first, steps) => {
    const pair = await openPair(options, { ...basePolicy, ...policy })
    await first.run(pair.model, pair.system)
    await fc.asyncModelRun(() => ({ model: pair.model, real: pair.system }), steps)
    await assertHealthy(pair)
    await assertInvariants(pair, options)
  })
}

async function openPair(options: ModelOptions, policy: PolicyOverride): Promise<Pair> {
  const [model, system] = [createModel(options.table), await openSystem(options)]
  await Promise.all([model.store.writePolicy(policy), system.store.writePolicy(policy)])
  return { model, system }
}

function createModel(table: TableProfile): Model {
  let nowMs = Date.UTC(2026, 0, 1)
  const store = createMemoryStore({
    policy: table.policy,
    table: table.table,
    now: () => nowMs,
    random: () => 0,
  })
  let elapsedMs = 0
  const model: Model = {
    store,
    jobIds: [],
    leases: [],
    lastSweptAtMs: null,
    sinceSweepMs: 0,
    story: [],
    tick: () => {
      nowMs += 1
    },
    elapse: async (ms) => {
      store.elapse(ms)
      elapsedMs += ms
    },
    read: async () => {
      const found = await Promise.all(
        model.jobIds.map(async (id) => ({ job: await store.getJob(id), events: await store.listEvents(id) })),
      )
      const jobs = found.flatMap(({ job, events }) =>
        job === null ? [] : [{ job, events: events.map(({ type }) => type) }],
      )
      return { nowMs: nowMs + elapsedMs, jobs }
    },
  }
  return model
}

async function openSystem({ bench, table, schema }: ModelOptions): Promise<Side> {
  const { store, elapse } = await bench.open()
  const system: Side = {
    store,
    jobIds: [],
    leases: [],
    lastSweptAtMs: null,
    elapse: async (ms) => {
      await elapse(ms)
      // Stored times went back; what the reaper remembers of them is as old as they are.
      if (system.lastSweptAtMs !== null) system.lastSweptAtMs -= ms
    },
    read: () => readTable(bench.database.pool, table, schema),
  }
  return system
}

async function assertHealthy(pair: Pair): Promise<void> {
  await agree(pair, 'health', async ({ store }) => {
    const { oldestOverdueMs, oldestDueMs, reaperAgeMs, ...counts } = await store.readHealth()
    return {
      ...counts,
      oldestOverdue: stepsOf(oldestOverdueMs),
      oldestDue: stepsOf(oldestDueMs),
      reaperAge: stepsOf(reaperAgeMs),
    }
  })
}

async function assertInvariants(pair: Pair, { bench, table, schema }: ModelOptions): Promise<void> {
  const { pool } = bench.database
  assertEqual(pair.model, 'the invariants', await findViolations(pool, table, schema), [])
  await agree(pair, 'a last sweep by hand', (side) => sweepToTheEnd(side, {}))
  await assertSameState(pair)
  assertEqual(pair.model, 'waiting jobs without budget', await findUnclaimable(pool, table, schema), [])
}
