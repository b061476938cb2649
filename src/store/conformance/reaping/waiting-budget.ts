// Waiting jobs that have spent their budget. In the native table, the claim that finds one ends it (C10). In a team's table
// they run once more, and their outcome is judged: somebody put them there (C29).
import { describe, expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobStore } from '../../job-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  crashOnce,
  DAY,
  enqueueOne,
  eventsOf,
  expectUnchanged,
  fail,
  MINUTE,
  plainPolicy,
  readJob,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

interface Spent {
  name: string
  budget: keyof typeof budgets
  fields: Partial<Job>
}

const everySpent: Spent[] = [
  { name: 'failures', budget: 'failures', fields: { failures: 3, attempt: 3 } },
  { name: 'crashes', budget: 'failures', fields: { crashes: 3 } },
  { name: 'timeouts', budget: 'failures', fields: { timeouts: 3 } },
  { name: 'attempts', budget: 'attempts', fields: { attempt: 3 } },
  { name: 'crashes beside attempts', budget: 'countedAtFailure', fields: { crashes: 5 } },
  { name: 'attempts and their last claim', budget: 'countedAtReap', fields: { attempt: 4 } },
]

async function plantSpent({ store, plantJob }: TestBench, { budget, fields }: Spent): Promise<string> {
  await store.writePolicy({ ...plainPolicy, ...budgets[budget] })
  return plantJob({ type: TYPE, status: 'waiting', maxAttempts: 3, ...fields })
}

async function codesOf(store: JobStore, jobId: string): Promise<string[]> {
  const facts = await store.readJobFacts(jobId)
  if (facts === null) throw new Error(`there are no facts of job ${jobId}`)
  return explainJob(facts).reasons.map(({ code }) => code)
}

export function describeWaitingBudget(opened: () => TestBench, options: ConformanceOptions): void {
  describe('waiting jobs without budget', () => {
    describeRefused(opened, options)
    describeEnded(opened)
    describeNotMet(opened)
  })
}

async function expectExhausted(store: JobStore, jobId: string): Promise<void> {
  const job = await readJob(store, jobId)
  expect(job).toMatchObject({ status: 'dead', runAt: null, leaseId: null, fence: 0 })
  expect(job.error).toMatchObject({ code: 'exhausted', reason: 'attempts_exhausted' })
  expect(job.finishedAt).not.toBeNull()
  expect(await eventsOf(store, jobId, 'failed')).toHaveLength(1)
}

function describeRefused(opened: () => TestBench, { isSharded = false }: ConformanceOptions): void {
  it.each(everySpent)(
    'C10 a job that has spent its $name reports it, and the claim that finds it ends it',
    async (spent) => {
      const { store } = opened()
      const jobId = await plantSpent(opened(), spent)
      expect(await codesOf(store, jobId)).toContain('BUDGET_SPENT')
      expect(await claimMany(store)).toEqual([])
      await expectExhausted(store, jobId)
    },
  )

  it.each(everySpent)('C10 a job that has spent its $name is ended by a claim of its id', async (spent) => {
    const { store } = opened()
    const jobId = await plantSpent(opened(), spent)
    expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    await expectExhausted(store, jobId)
  })

  it('LEASE-1 C10 it is ended by a claim from more queues than it may take jobs', async () => {
    const { store } = opened()
    const [spent] = everySpent
    if (spent === undefined) throw new Error('there are no budgets')
    const jobId = await plantSpent(opened(), spent)
    expect(await claimMany(store, { queues: ['other', TYPE, 'another'], limit: 1 })).toEqual([])
    await expectExhausted(store, jobId)
  })

  it('LEASE-1 C10 it does not use up the limit of a claim', async () => {
    const { store } = opened()
    for (const spent of everySpent.slice(0, 3)) await plantSpent(opened(), spent)
    const jobId = await enqueueOne(store, { priority: 5 })
    expect((await claimOne(store, { limit: 1 })).jobId).toBe(jobId)
  })

  it('LEASE-1 C10 a claim that finds only such jobs goes on to the next until it has its limit', async () => {
    const { store, elapse, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const ids = []
    for (let nth = 0; nth < 12; nth += 1) ids.push(await plantJob({ ...spentJob, type: TYPE }))
    await elapse(MINUTE)
    const jobIds = [await enqueueOne(store), await enqueueOne(store)]
    expect((await claimMany(store, { limit: 2 })).map(({ jobId }) => jobId)).toEqual(jobIds)
    for (const jobId of ids) await expectExhausted(store, jobId)
  })

  it.skipIf(isSharded)(
    'LEASE-1 C10 due time decides even if older jobs of a queue have no budget',
    async () => {
      const { store, elapse, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      const spent = { type: TYPE, queue: 'a', attempt: 3, failures: 3, maxAttempts: 3 }
      for (let nth = 0; nth < 2; nth += 1) await plantJob(spent)
      await elapse(MINUTE)
      const first = await enqueueOne(store, { queue: 'b' })
      await elapse(MINUTE)
      await enqueueOne(store, { queue: 'a' })
      expect((await claimOne(store, { queues: ['a', 'b'] })).jobId).toBe(first)
    },
  )

  it.skipIf(isSharded)(
    'C10 REAP-15 a claim that gives a last chance alone ends those it has met',
    async () => {
      const { store, elapse, plantJob } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      const last = await plantJob({ ...spentJob, queue: 'a', attempt: 2, failures: 0, crashes: 2 })
      await elapse(MINUTE)
      const [met, unmet] = [
        await plantJob({ ...spentJob, queue: 'b' }),
        await plantJob({ ...spentJob, queue: 'c' }),
      ]
      await elapse(MINUTE)
      await enqueueOne(store, { queue: 'b' })
      const claimed = await claimMany(store, { queues: ['a', 'b', 'c'], limit: 2 })
      expect(claimed.map(({ jobId }) => jobId)).toEqual([last])
      await expectExhausted(store, met)
      expect(await readJob(store, unmet)).toMatchObject({ status: 'waiting' })
    },
  )
}

const spentJob = { type: TYPE, status: 'waiting', attempt: 3, failures: 3, maxAttempts: 3 } as const

function describeEnded(opened: () => TestBench): void {
  it('C10 one whose limit of crashes was lowered is ended', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const { jobId } = await crashOnce(bench, await startOne(store))
    await store.writePolicy({ maxCrashes: 1 })
    expect(await claimMany(store)).toEqual([])
    expect(await readJob(store, jobId)).toMatchObject({ status: 'dead', error: { code: 'exhausted' } })
  })

  it('REAP-17 C10 no sweep looks for them', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spentJob)
    await expectUnchanged(store, jobId, async () => {
      expect(await store.previewSweep()).toEqual([])
      expect((await sweep(store)).reaped).toEqual([])
      expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).reaped).toEqual([])
    })
  })

  it('C10 an ended one returns by a retry, with a new budget', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spentJob)
    await claimMany(store)
    expect(await store.retryJobs([jobId])).toMatchObject([{ outcome: 'retried' }])
    expect((await claimOne(store)).jobId).toBe(jobId)
  })
}

/** Jobs that no claim finds are not judged. */
function describeNotMet(opened: () => TestBench): void {
  it.each([
    ['that is not due', { runAt: new Date(Date.now() + 365 * DAY) }],
    ['of another queue', { queue: 'another' }],
    ['of a lower priority than what fills the claim', { priority: 9 }],
    ['with budget left', { failures: 2 }],
  ])('C10 one %s is left alone', async (_, fields) => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob({ ...spentJob, createdAt: new Date(), ...fields })
    const first = await enqueueOne(store, { priority: -1 })
    await expectUnchanged(store, jobId, async () => {
      expect((await claimOne(store, { limit: 1 })).jobId).toBe(first)
    })
  })

  it('C10 one of a paused queue is left alone, by a claim of its id too', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spentJob)
    await store.pauseQueue(TYPE)
    await expectUnchanged(store, jobId, async () => {
      expect(await claimMany(store)).toEqual([])
      expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    })
  })
}

export function describeUnjudgedWaiting(opened: () => TestBench): void {
  describe('waiting jobs of a team’s own table', () => {
    it.each(everySpent)(
      'C10 C29 one that has spent its $name is left alone by sweeps, claimed, and dead when it fails once more',
      async (spent) => {
        const { store } = opened()
        const jobId = await plantSpent(opened(), spent)
        expect(await store.previewSweep()).toEqual([])
        await expectUnchanged(store, jobId, async () => {
          expect((await sweep(store)).reaped).toEqual([])
        })
        expect((await codesOf(store, jobId)).filter((code) => code !== 'LAST_CHANCE')).toEqual(['RUNNABLE'])
        const claimed = await claimOne(store)
        expect(claimed.jobId).toBe(jobId)
        expect(await fail(store, claimed)).toMatchObject({ outcome: 'dead' })
      },
    )

    it.each(everySpent)(
      'C10 C29 one that has spent its $name is dead when it is lost once more',
      async (spent) => {
        const bench = opened()
        const jobId = await plantSpent(bench, spent)
        const claimed = await bench.store.claimJob(jobId, { workerId: 'worker-1' })
        if (claimed === 'not-claimable') throw new Error('it was to be claimed')
        expect(await crashOnce(bench, claimed)).toMatchObject({ action: 'dead', reason: 'lease_expired' })
      },
    )

    it('OPS-14 C29 in observe none is recorded', async () => {
      const { store } = opened()
      for (const spent of everySpent) await plantSpent(opened(), spent)
      await store.setMode('observe')
      expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).reaped).toEqual([])
      expect(await store.readObservations()).toMatchObject({ wouldDeadLetter: 0 })
      await store.setMode('reap')
    })
  })
}
