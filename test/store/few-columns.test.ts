import { afterAll, beforeAll, beforeEach, describe, type TestContext } from 'vitest'
import { completeProfile } from '../../src/profile/own-profile.ts'
import type { Feature } from '../../src/profile/profile.ts'
import { describeJobStore, type StoreHarness } from '../../src/store/conformance/index.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

const profile = completeProfile({
  name: 'few',
  tables: [
    {
      table: 'few_jobs',
      idType: 'uuid',
      statuses: {
        waiting: 'pending',
        running: ['running'],
        succeeded: 'done',
        dead: 'failed',
        cancelled: 'cancelled',
      },
    },
  ],
})
const [table] = profile.tables
const applicationSql = `create table few_jobs (
  id uuid primary key default gen_random_uuid(), type text not null, queue text, payload jsonb,
  priority int not null default 0, status text not null default 'pending',
  created_at timestamptz not null default now())`

/** Tests that read a value which the table does not keep, by the feature that would. */
const differences: Partial<Record<Feature, string[]>> = {
  times: [
    'FAIL-4 a retry waits, without a lease, with an earliest run time and a new update time',
    'FAIL-4 the caller may say when to retry',
    'LEASE-2 a claim sets status, worker, lease and times from the clock of the store',
    'LEASE-2 the start is that of the first claim, the last attempt and the heartbeat those of the last',
    'LEASE-4 a heartbeat extends the lease from now on',
    'LEASE-6 a released job waits again at once, without a lease',
    'OPS-1 a dead job waits again, without its error, as a new generation',
    'RATE-6 a day after its first start the delays double too',
    'REAP-1 a running job whose lease is over waits again after a backoff, without its lease',
  ],
  errors: [
    'FAIL-1 a failure without details is TRANSIENT and UNKNOWN',
    'FAIL-1 a retried job remembers code, reason, category, stack and attempt',
    'OPS-9 a dead job reports when it ended and why',
    'OPS-9 a group has a count, a time range and an example',
  ],
  results: [
    'LEASE-5 C2 beside a stale lease of the same job, the current one completes it with its own result',
    'LEASE-5 the holder of the lease ends its job as succeeded, with its result',
    'OPS-9 a summary has no stack, and payload and result only on request',
    'WORK-7 a batch ends each job by its own lease and returns each outcome',
  ],
  releases: [
    'RATE-5 an interruption is counted apart from a release, and costs as little',
    'RATE-6 a release with a reason is an event with its delay, whatever the events setting',
    'RATE-6 health and why show jobs released often',
  ],
  'max-attempts': [
    "FAIL-8 a handler's maximum raises or lowers the policy's, and is kept with the job",
    'WORK-7 many jobs without a payload have an empty one, and the maximum of the policy',
  ],
}

// A table with the columns of its default features (ADR 0034). Each test passes, or needs a feature by name: the store refused it, or
// the row that the test begins with has a column of it.
describe('table of default features', () => {
  let bench: PostgresBench
  let context: TestContext
  beforeEach((of) => {
    context = of
    for (const [feature, titles] of Object.entries(differences))
      if (titles.includes(of.task.name)) of.skip(`needs ${feature}`)
  })
  beforeAll(async () => {
    bench = await createPostgresBench({ profile, table, applicationSql, features: [] })
  })
  afterAll(() => bench.close())

  async function openFew(): Promise<StoreHarness<SqlClient>> {
    const harness = await bench.open()
    const skipRefused = (error: unknown): never => {
      const feature = /attached without the feature ([\w-]+)|column "(\w+)" of relation/.exec(String(error))
      if (feature !== null) context.skip(`needs ${feature[1] ?? feature[2]}`)
      throw error
    }
    const store = new Proxy(harness.store, {
      get(target, name, receiver) {
        const verb: unknown = Reflect.get(target, name, receiver)
        if (typeof verb !== 'function') return verb
        return (...values: unknown[]) => {
          const answer: unknown = verb.apply(target, values)
          return answer instanceof Promise ? answer.catch(skipRefused) : answer
        }
      },
    })
    return { ...harness, store, plantJob: (fields) => harness.plantJob(fields).catch(skipRefused) }
  }
  describeJobStore('PostgreSQL few columns', () => openFew(), { isTeams: true, leavesOutShared: true })
})
