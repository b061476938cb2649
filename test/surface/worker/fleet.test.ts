// A fleet of idle workers in this process, on a real database: how many of them a new job wakes. Their polls are an hour away, so
// what they claim they were told of.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const HOUR = 3_600_000
const WORKERS = 10

interface Member {
  app: Unstuck
  claims: number
  /** Looks at whether a job is left, and how many found one. */
  looks: number
  finds: number
  ended: number
  /** How many workers its last report answered with. */
  knows: number
  isStopping: boolean
}

let database: TestDatabase
let store: JobStore
let fleet: Member[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: nativeProfile('unstuck').tables[0] })
})
afterAll(() => database.drop())
beforeEach(async () => {
  fleet = []
  await store.writePolicy({ ...nativePolicy, failureBackoffJitterMs: 0 })
  await database.pool.query('delete from unstuck.jobs; delete from unstuck.workers')
})
afterEach(async () => {
  for (const member of fleet) member.isStopping = true
  await Promise.all(fleet.map(({ app }) => app.stop()))
})

const total = (name: 'claims' | 'looks' | 'finds' | 'ended') =>
  fleet.reduce((sum, member) => sum + member[name], 0)
const reset = () => {
  for (const member of fleet) Object.assign(member, { claims: 0, looks: 0, finds: 0, ended: 0 })
}

/** A worker whose calls are counted. */
async function join(expected: number): Promise<Member> {
  const app = unstuck({ databaseUrl: database.url, pollMs: [HOUR, HOUR], concurrency: 1 })
  const member: Member = { app, claims: 0, looks: 0, finds: 0, ended: 0, knows: 0, isStopping: false }
  fleet.push(member)
  const real = { ...app.store }
  const counted: Partial<JobStore> = {
    claimJobs: (request) => {
      member.claims++
      return real.claimJobs(request)
    },
    hasDueJobs: async (queues) => {
      member.looks++
      const hasFound = await real.hasDueJobs(queues)
      if (hasFound) member.finds++
      return hasFound
    },
    // Answers when all have reported, and not at the next interval.
    reportWorker: async (report) => {
      for (;;) {
        const answer = await real.reportWorker(report)
        const known = answer.hintedWorkers.flatMap(({ workerIds }) => workerIds).length
        member.knows = report.hintedQueues === undefined ? 0 : known
        if (report.hintedQueues === undefined || known >= expected || member.isStopping) return answer
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  }
  Object.assign(app.store, counted)
  app.on('job:ended', () => {
    member.ended++
  })
  app.handle('asr', async () => {})
  const listening = new Promise<void>((resolve) => {
    app.on('listen:started', () => resolve())
  })
  await app.start()
  await listening
  return member
}

/** Until each knows the others and none has anything to do any more. */
async function startFleet(workers: number, others = 0): Promise<void> {
  await Promise.all(Array.from({ length: workers }, () => join(workers + others)))
  await expect.poll(() => fleet.every(({ knows }) => knows === workers + others)).toBe(true)
  // Claims for jobs from before the start.
  await untilQuiet()
}

/** Until a round trip of each worker brought no further claim. */
async function untilQuiet(): Promise<void> {
  let claims = -1
  while (claims !== total('claims')) {
    claims = total('claims')
    await Promise.all(fleet.map(({ app }) => app.store.readMode()))
  }
  reset()
}

/** Workers that are listed and never answer, as killed ones are until they are late. */
async function plantGhosts(count: number): Promise<void> {
  for (let ghost = 0; ghost < count; ghost++)
    await store.reportWorker({
      workerId: `ghost-${ghost}`,
      phase: 'running',
      types: ['asr'],
      concurrency: 1,
      running: 0,
      hintedQueues: ['asr'],
      reportMs: HOUR,
    })
}

it('WORK-1 C16 one job wakes one of ten idle workers, and the others only look', async () => {
  await startFleet(WORKERS)
  await store.enqueueJobs([{ type: 'asr' }])
  await expect.poll(() => total('ended')).toBe(1)
  // Each has had its turn: it claimed, or it looked.
  await expect.poll(() => fleet.every(({ claims, looks }) => claims + looks > 0)).toBe(true)
  // Three by the worker that got the job: for the job, for more, and for the next one after it. On a busy machine somebody's
  // turn may come before the claim: it finds the job and claims, too.
  expect(total('claims')).toBeLessThanOrEqual(3 + 3 * total('finds'))
})

it('WORK-1 C16 a job that is due later wakes one worker then, and the others only look', async () => {
  await startFleet(WORKERS)
  await store.enqueueJobs([{ type: 'asr', delayMs: 300 }])
  await expect.poll(() => total('ended')).toBe(1)
  await expect.poll(() => fleet.every(({ claims, looks }) => claims + looks > 0)).toBe(true)
  expect(total('claims')).toBeLessThanOrEqual(3 + 3 * total('finds'))
})

it('WORK-1 C16 workers that have died delay a job, and do not keep it from the others', async () => {
  await plantGhosts(5)
  await startFleet(2, 5)
  for (let round = 1; round <= 10; round++) {
    await store.enqueueJobs([{ type: 'asr' }])
    await expect.poll(() => total('ended')).toBe(round)
  }
})

it('WORK-1 C16 a notification without content wakes everybody, as earlier versions sent it', async () => {
  await startFleet(4)
  await database.pool.query(`select pg_notify(unstuck.hint_channel('native'), '')`)
  await expect.poll(() => fleet.every(({ claims }) => claims > 0)).toBe(true)
  expect(total('looks')).toBe(0)
})

it('WORK-1 C16 a job of another queue wakes nobody', async () => {
  await startFleet(2)
  await store.enqueueJobs([{ type: 'mail' }])
  await store.enqueueJobs([{ type: 'asr' }])
  await expect.poll(() => total('ended')).toBe(1)
  await expect.poll(() => fleet.every(({ claims, looks }) => claims + looks > 0)).toBe(true)
  expect(total('claims')).toBeLessThanOrEqual(3 + 3 * total('finds'))
})
