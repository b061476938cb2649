// The property: whatever workers, time, reapers and people do, in whatever order and with whatever stale leases,
// PostgreSQL answers and looks as the model does.
import fc from 'fast-check'
import type { PolicyOverride } from '../../src/policy/policy.ts'
import type { TableProfile } from '../../src/profile/profile.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { LeaseCommand } from './commands/command.ts'
import { failoverCommands } from './commands/failover-commands.ts'
import { gateCommands, gatePolicy, openGates, removeGates } from './commands/gate-commands.ts'
import { addGrouped, ampleBudget, groupCommands, liftLimits } from './commands/group-commands.ts'
import { operatorCommands, passHours, sweepToTheEnd } from './commands/operator-commands.ts'
import { reportCommands } from './commands/report-commands.ts'
import { transactionCommands } from './commands/transaction-commands.ts'
import { waitCommands } from './commands/wait-commands.ts'
import { add, claimAll, workerCommands } from './commands/worker-commands.ts'
import { findUnclaimable, findViolations } from './invariants.ts'
import type { ModelBench } from './model-bench.ts'
import { basePolicy, type Counting, startPolicy } from './policies.ts'
import { assertSameState, createTableReader } from './snapshot.ts'
import { LONGEST_RUN, maxCommands, stepsOf } from './timing.ts'
import { agree, assertEqual, type Model, type Pair, type Side } from './two-sides.ts'

interface Play {
  first: fc.Arbitrary<LeaseCommand>
  commands: { arbitrary: fc.Arbitrary<LeaseCommand>; weight: number }[]
  policy?: PolicyOverride
  atTheStart?: (pair: Pair) => Promise<void>
  /** Before the last claims, which must meet every job. */
  beforeTheEnd?: (pair: Pair) => Promise<void>
}

const everything: Play = {
  first: add,
  commands: [
    ...workerCommands,
    ...operatorCommands,
    ...failoverCommands,
    ...transactionCommands,
    ...waitCommands,
    ...reportCommands,
  ],
}

const groups: Play = {
  first: addGrouped,
  commands: groupCommands,
  policy: ampleBudget,
  beforeTheEnd: liftLimits,
}

const gates: Play = {
  first: add,
  commands: gateCommands,
  policy: gatePolicy,
  atTheStart: openGates,
  beforeTheEnd: removeGates,
}

export const leaseProperty = (bench: ModelBench, counting: fc.Arbitrary<Counting>) =>
  propertyOf(bench, counting, everything)

export const groupProperty = (bench: ModelBench, counting: fc.Arbitrary<Counting>) =>
  propertyOf(bench, counting, groups)

export const gateProperty = (bench: ModelBench, counting: fc.Arbitrary<Counting>) =>
  propertyOf(bench, counting, gates)

function propertyOf(bench: ModelBench, counting: fc.Arbitrary<Counting>, play: Play) {
  const commands = fc.noBias(fc.commands([fc.oneof(...play.commands)], { maxCommands, size: 'max' }))
  return fc.asyncProperty(startPolicy(counting), play.first, commands, async (policy, first, steps) => {
    const startedAtMs = performance.now()
    const pair = await openPair(bench, { ...basePolicy, ...policy, ...play.policy })
    try {
      await play.atTheStart?.(pair)
      await first.run(pair.model, pair.system)
      await fc.asyncModelRun(() => ({ model: pair.model, real: pair.system }), steps)
      await assertSameState(pair)
      await assertHealthy(pair)
      await play.beforeTheEnd?.(pair)
      await assertInvariants(pair, bench)
    } catch (error) {
      // A machine that stood still meanwhile made PostgreSQL's times older by a step: another run takes the place of this one.
      fc.pre(performance.now() - startedAtMs < LONGEST_RUN)
      throw error
    }
  })
}

async function openPair(bench: ModelBench, policy: PolicyOverride): Promise<Pair> {
  const [model, system] = [createModel(bench.table), await openSystem(bench)]
  await Promise.all([model.store.writePolicy(policy), system.store.writePolicy(policy)])
  await Promise.all([model.replicate(), system.replicate()])
  return { model, system }
}

function createModel(table: TableProfile): Model {
  let nowMs = Date.UTC(2026, 0, 1)
  const store = createMemoryStore({
    policy: table.policy,
    table: table.table,
    judgesWaiting: table.judgesWaiting === true,
    now: () => nowMs,
    random: () => 0,
  })
  let elapsedMs = 0
  let promote = store.keep()
  const model: Model = {
    store,
    jobIds: [],
    leases: [],
    lastSweptAtMs: null,
    sinceSweepMs: 0,
    steps: 0,
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
    replicate: async () => {
      promote = store.keep()
    },
    failOver: async () => promote(),
    inTransaction: async (isCommitted, work) => {
      const rollBack = store.keep()
      const answer = await work({})
      if (!isCommitted) rollBack()
      return answer
    },
  }
  return model
}

async function openSystem(bench: ModelBench): Promise<Side> {
  await bench.reset()
  const system: Side = {
    store: bench.store,
    jobIds: [],
    leases: [],
    lastSweptAtMs: null,
    elapse: async (ms) => {
      await bench.elapse(ms)
      bench.replica.noteElapsed(ms)
      // Stored times went back; what the reaper remembers of them is as old as they are.
      if (system.lastSweptAtMs !== null) system.lastSweptAtMs -= ms
    },
    read: createTableReader(bench),
    replicate: () => bench.replica.catchUp(),
    failOver: async () => {
      const sinceMs = await bench.replica.promote()
      // The reaper's own memory was not lost.
      if (sinceMs > 0) await bench.elapse(sinceMs)
    },
    inTransaction: (isCommitted, work) => openTransaction(bench, isCommitted, work),
  }
  return system
}

/** Rolls back by a throw, as an application does. */
async function openTransaction<T>(
  { inTransaction }: ModelBench,
  isCommitted: boolean,
  work: (options: { tx?: never }) => Promise<T>,
): Promise<T> {
  let answer: T | undefined
  const rollback = new Error('rolled back')
  try {
    await inTransaction?.(async (tx) => {
      answer = await work({ tx: tx as never })
      if (!isCommitted) throw rollback
    })
  } catch (error) {
    if (error !== rollback) throw error
  }
  return answer as T
}

async function assertHealthy(pair: Pair): Promise<void> {
  await agree(pair, 'health', async ({ store }) => {
    const { oldestOverdueMs, oldestDueMs, reaperAgeMs, queues, ...counts } = await store.readHealth()
    return {
      ...counts,
      queues: queues.map((queue) => ({ ...queue, oldestDueMs: stepsOf(queue.oldestDueMs) })),
      oldestOverdue: stepsOf(oldestOverdueMs),
      oldestDue: stepsOf(oldestDueMs),
      reaperAge: stepsOf(reaperAgeMs),
    }
  })
}

async function assertInvariants(pair: Pair, { pool, table, schema }: ModelBench): Promise<void> {
  assertEqual(pair.model, 'the invariants', await findViolations(pool, table, schema), [])
  await agree(pair, 'a last sweep by hand', (side) => sweepToTheEnd(side, {}))
  await assertSameState(pair)
  // Whatever waits is due by then, and claims until nothing is left have met all of it.
  await passHours(pair, 1_000)
  await claimAll(pair)
  await assertSameState(pair)
  assertEqual(pair.model, 'waiting jobs without budget', await findUnclaimable(pool, table, schema), [])
}
