import { describe, expect, it } from 'vitest'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  fail,
  forgedLease,
  HOUR,
  invalidArgument,
  MINUTE,
  MISSING_ID,
  plainPolicy,
  readJob,
  SECOND,
  startDead,
  startOne,
  storeNow,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'
import { describeCounting, describeGrant, describeLeaseLength, describeRescue } from './claim-grant.ts'

export function describeClaim(opened: () => TestBench, options: ConformanceOptions): void {
  describe('claimJobs', () => {
    describeChoice(opened)
    describeOrder(opened, options)
    describeGrant(opened)
    describeLeaseLength(opened)
    describeCounting(opened)
    describeRescue(opened)
    describeRefusedClaims(opened)
  })
  describe('claimJob', () => {
    describeClaimById(opened)
  })
}

function describeChoice(opened: () => TestBench): void {
  it('LEASE-1 two workers never get the same job', async () => {
    const { store } = opened()
    const jobIds = await enqueueMany(store, 40)
    const workers = Array.from({ length: 8 }, (_, index) => `worker-${index}`)
    const races = await Promise.all(workers.map((workerId) => claimMany(store, { workerId, limit: 5 })))
    const rest = await claimMany(store)
    const claimed = [...races.flat(), ...rest].map(({ jobId }) => jobId)
    expect(claimed.toSorted()).toEqual(jobIds.toSorted())
  })

  it('LEASE-1 a job held by one worker is not given to another', async () => {
    const { store } = opened()
    await startOne(store)
    expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
  })

  it('LEASE-1 takes no more than the limit', async () => {
    const { store } = opened()
    await enqueueMany(store, 5)
    expect(await claimMany(store, { limit: 2 })).toHaveLength(2)
    expect((await store.readHealth()).running).toBe(2)
  })

  it('LEASE-1 takes from the given queues only', async () => {
    const { store } = opened()
    await enqueueOne(store, { queue: 'slow' })
    const quick = await enqueueOne(store, { queue: 'quick' })
    expect((await claimMany(store, { queues: ['quick'] })).map(({ jobId }) => jobId)).toEqual([quick])
  })

  it('LEASE-1 claims nothing without queues', async () => {
    const { store } = opened()
    await enqueueOne(store)
    expect(await claimMany(store, { queues: [] })).toEqual([])
  })

  it('LEASE-1 claims only the given types, if any are given', async () => {
    const { store } = opened()
    await enqueueOne(store, { type: 'asr', queue: 'media' })
    const burnin = await enqueueOne(store, { type: 'burnin', queue: 'media' })
    const claimed = await claimMany(store, { queues: ['media'], types: ['burnin', 'clip'] })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([burnin])
  })

  it('LEASE-1 a waiting job is claimed whatever its lease fields say', async () => {
    const { store, plantJob } = opened()
    const later = new Date((await storeNow(store)) + HOUR)
    const { leaseId } = forgedLease('')
    const left = { workerId: 'old-worker', leaseId, leaseExpiresAt: later, heartbeatAt: later }
    const jobId = await plantJob({ type: TYPE, status: 'waiting', ...left })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('LEASE-1 a job that has ended is never claimed', async () => {
    const { store } = opened()
    await complete(store, await startOne(store))
    await startDead(store)
    await cancel(store, await enqueueOne(store))
    expect(await claimMany(store)).toEqual([])
  })

  it('LEASE-1 jobs that cannot be claimed do not use up the limit', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await enqueueOne(store, { delayMs: HOUR })
    await enqueueOne(store, { type: 'other', queue: TYPE })
    const jobId = await enqueueOne(store, { priority: 5 })
    expect((await claimOne(store, { types: [TYPE], limit: 1 })).jobId).toBe(jobId)
  })

  it('FAIL-6 a job in backoff is not claimed before its earliest run time, and is after it', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await fail(store, claimed, { retryInMs: 10 * MINUTE })
    await elapse(9 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await claimOne(store)).jobId).toBe(claimed.jobId)
  })
}

function describeOrder(opened: () => TestBench, { isSharded = false }: ConformanceOptions): void {
  it('LEASE-1 WORK-7 the lower priority number runs first', async () => {
    const { store } = opened()
    const last = await enqueueOne(store, { priority: 10 })
    const middle = await enqueueOne(store)
    const first = await enqueueOne(store, { priority: -10 })
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([first, middle, last])
  })

  it('LEASE-1 within a priority the earlier due time runs first, be it a run time or the creation', async () => {
    const { store, elapse } = opened()
    const delayed = await enqueueOne(store, { delayMs: 5 * MINUTE })
    await elapse(MINUTE)
    const early = await enqueueOne(store)
    await elapse(9 * MINUTE)
    const late = await enqueueOne(store)
    expect((await claimMany(store)).map(({ jobId }) => jobId)).toEqual([early, delayed, late])
  })

  it.skipIf(isSharded)('LEASE-1 due time decides over all queues of a claim', async () => {
    const { store, elapse } = opened()
    const jobIds: string[] = []
    for (const queue of ['a', 'b', 'a', 'b']) {
      jobIds.push(await enqueueOne(store, { queue }))
      await elapse(MINUTE)
    }
    const claimed = await claimMany(store, { queues: ['b', 'a'], limit: 3 })
    expect(claimed.map(({ jobId }) => jobId).toSorted()).toEqual(jobIds.slice(0, 3).toSorted())
  })

  it.skipIf(isSharded)(
    'LEASE-1 due time decides even if older jobs of a queue have other types',
    async () => {
      const { store, elapse } = opened()
      for (let nth = 0; nth < 2; nth += 1) await enqueueOne(store, { queue: 'a', type: 'other' })
      await elapse(MINUTE)
      const first = await enqueueOne(store, { queue: 'b' })
      await elapse(MINUTE)
      const second = await enqueueOne(store, { queue: 'a' })
      const request = { queues: ['a', 'b'], types: [TYPE], limit: 1 }
      expect((await claimOne(store, request)).jobId).toBe(first)
      expect((await claimOne(store, request)).jobId).toBe(second)
    },
  )
}

function describeRefusedClaims(opened: () => TestBench): void {
  it.each([0, -1, 1.5, 10_001, Number.NaN])('LEASE-1 refuses a limit of %s', async (limit) => {
    const { store } = opened()
    await expect(claimMany(store, { limit })).rejects.toMatchObject(invalidArgument)
  })

  it('LEASE-2 refuses a worker without a name', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await expect(claimMany(store, { workerId: '' })).rejects.toMatchObject(invalidArgument)
    await expect(store.claimJob(jobId, { workerId: '' })).rejects.toMatchObject(invalidArgument)
    expect((await readJob(store, jobId)).status).toBe('waiting')
  })
}

function describeClaimById(opened: () => TestBench): void {
  const request = { workerId: 'worker-1' }

  it('LEASE-2 claims the given job, whatever its queue and whatever waits before it', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    await enqueueOne(store, { priority: -5 })
    const jobId = await enqueueOne(store, { queue: 'aside', priority: 5 })
    const claimed = await store.claimJob(jobId, request)
    expect(claimed).toMatchObject({ jobId, queue: 'aside', leaseMs: MINUTE })
    expect(await readJob(store, jobId)).toMatchObject({ status: 'running', workerId: 'worker-1' })
  })

  it('LEASE-1 of many workers that claim one job, one gets it', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    const calls = Array.from({ length: 8 }, (_, index) =>
      store.claimJob(jobId, { workerId: `worker-${index}` }),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter((answer) => answer !== 'not-claimable')).toHaveLength(1)
  })

  it('LEASE-1 a job that runs, has ended, is not due or does not exist is not claimable', async () => {
    const { store } = opened()
    const running = await startOne(store)
    const dead = await startDead(store)
    const delayed = await enqueueOne(store, { delayMs: HOUR })
    for (const jobId of [running.jobId, dead, delayed, MISSING_ID])
      expect(await store.claimJob(jobId, request)).toBe('not-claimable')
    expect(await readJob(store, running.jobId)).toMatchObject({ leaseId: running.leaseId })
  })
}
