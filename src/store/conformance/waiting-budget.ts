// Waiting jobs that have spent their budget. The native table refuses them to claims, and sweeps end them (C10). In a team's
// table they run once more, and their end is judged: somebody put them there (C29).
import { describe, expect, it } from 'vitest'
import type { Job } from '../../job/job.ts'
import { explainJob } from '../../policy/explain-job.ts'
import type { JobStore } from '../job-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  crashOnce,
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
} from './builders.ts'
import type { TestBench } from './harness.ts'

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

export function describeWaitingBudget(opened: () => TestBench): void {
  describe('waiting jobs without budget', () => {
    describeRefused(opened)
    describeEnded(opened)
  })
}

function describeRefused(opened: () => TestBench): void {
  it.each(everySpent)('C10 a job that has spent its $name is not claimed, and says so', async (spent) => {
    const { store } = opened()
    const jobId = await plantSpent(opened(), spent)
    expect(await claimMany(store)).toEqual([])
    expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    expect(await codesOf(store, jobId)).toContain('BUDGET_SPENT')
  })

  it('LEASE-1 C10 it takes no place of the limit of a claim', async () => {
    const { store } = opened()
    for (const spent of everySpent.slice(0, 3)) await plantSpent(opened(), spent)
    const jobId = await enqueueOne(store, { priority: 5 })
    expect((await claimOne(store, { limit: 1 })).jobId).toBe(jobId)
  })

  it('LEASE-1 C10 due time decides also where older jobs of a queue have no budget', async () => {
    const { store, elapse, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const spent = { type: TYPE, queue: 'a', attempt: 3, failures: 3, maxAttempts: 3 }
    for (let nth = 0; nth < 2; nth += 1) await plantJob(spent)
    await elapse(MINUTE)
    const first = await enqueueOne(store, { queue: 'b' })
    await elapse(MINUTE)
    await enqueueOne(store, { queue: 'a' })
    expect((await claimOne(store, { queues: ['a', 'b'] })).jobId).toBe(first)
  })
}

function describeEnded(opened: () => TestBench): void {
  const spent = { type: TYPE, status: 'waiting', attempt: 3, failures: 3, maxAttempts: 3 } as const

  it('C10 a waiting job whose maximum was lowered under what it has spent is made dead', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spent)
    const preview = await store.previewSweep()
    expect((await sweep(store)).reaped).toEqual(preview)
    expect(preview).toMatchObject([
      { jobId, action: 'dead', reason: 'attempts_exhausted', workerId: null, retryInMs: null },
    ])
    const job = await readJob(store, jobId)
    expect(job.status).toBe('dead')
    expect(job.error).toMatchObject({ code: 'exhausted', reason: 'attempts_exhausted' })
    expect(job.finishedAt).not.toBeNull()
    expect(await eventsOf(store, jobId, 'failed')).toHaveLength(1)
  })

  it('C10 so is one whose limit of crashes was lowered', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const { jobId } = await crashOnce(bench, await startOne(store))
    await store.writePolicy({ maxCrashes: 1 })
    expect((await sweep(store)).reaped).toMatchObject([{ jobId, action: 'dead' }])
  })

  it('C10 a waiting job that has budget left is not touched', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob({ ...spent, failures: 2 })
    await expectUnchanged(store, jobId, () => sweep(store))
  })

  it('REAP-13 C10 a preview of it changes nothing', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spent)
    await expectUnchanged(store, jobId, async () => {
      expect(await store.previewSweep()).toHaveLength(1)
    })
  })

  it('OPS-14 C10 in observe it is noted once, and left alone', async ({ skip }) => {
    const { store, plantJob } = opened()
    if (store.lacks?.has('modes') === true) skip('this store has no modes')
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await plantJob(spent)
    await store.setMode('observe')
    const reaper = { reaperId: 'reaper-1' }
    await expectUnchanged(store, jobId, async () => {
      expect((await sweep(store, { reaper })).reaped).toMatchObject([
        { jobId, action: 'reported', reason: 'would_be_dead' },
      ])
      expect((await sweep(store, { reaper })).reaped).toEqual([])
    })
    expect(await store.readObservations()).toMatchObject({ wouldDeadLetter: 1, stillStuck: 1 })
    await store.setMode('reap')
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
        expect(await codesOf(store, jobId)).toEqual(['RUNNABLE'])
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

    it('OPS-14 C29 in observe none is noted', async () => {
      const { store } = opened()
      for (const spent of everySpent) await plantSpent(opened(), spent)
      await store.setMode('observe')
      expect((await sweep(store, { reaper: { reaperId: 'reaper-1' } })).reaped).toEqual([])
      expect(await store.readObservations()).toMatchObject({ wouldDeadLetter: 0 })
      await store.setMode('reap')
    })
  })
}
