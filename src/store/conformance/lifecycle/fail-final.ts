import { expect, it } from 'vitest'
import type { ErrorCategory } from '../../../job/job.ts'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  crashOnce,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  expectUnchanged,
  fail,
  forgedLease,
  leaseOf,
  MINUTE,
  MISSING_ID,
  msBetween,
  outcomeOf,
  plainPolicy,
  readJob,
  startMany,
  startOne,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

export function describeFinalFailures<Tx>(opened: () => StoreHarness<Tx>): void {
  async function failUntilDead(harness: StoreHarness<Tx>): Promise<number> {
    for (let nth = 1; nth <= 20; nth += 1) {
      const { outcome } = await fail(harness.store, await claimOne(harness.store))
      if (outcome === 'dead') return nth
    }
    throw new Error('twenty failures did not end the job')
  }

  it.each(Object.entries(budgets))(
    'FAIL-5 the last allowed attempt that fails is final, with the budget %s',
    async (_name, budget) => {
      const harness = opened()
      await harness.store.writePolicy({ ...plainPolicy, ...budget })
      const jobId = await enqueueOne(harness.store, { maxAttempts: 3 })
      expect(await failUntilDead(harness)).toBe(3)
      await expectLeaseGone(harness.store, jobId)
      const job = await readJob(harness.store, jobId)
      expect(job).toMatchObject({ status: 'dead', failures: 3, attempt: 3, runAt: null })
      expectAbout(msBetween(job.startedAt, job.finishedAt), 0)
      expect(await claimMany(harness.store)).toEqual([])
    },
  )

  it.each([
    ['failures', budgets.failures],
    ['countedAtFailure', budgets.countedAtFailure],
  ] as const)('FAIL-5 a crash is not a failure of the job, with the budget %s', async (_name, budget) => {
    const harness = opened()
    await harness.store.writePolicy({ ...plainPolicy, ...budget })
    const claimed = await startOne(harness.store, { maxAttempts: 2 })
    await crashOnce(harness, claimed)
    expect((await readJob(harness.store, claimed.jobId)).failures).toBe(0)
    expect(await failUntilDead(harness)).toBe(2)
  })

  it('FAIL-5 C10 a failure is final if no claim would take the job again', async () => {
    const harness = opened()
    const { store } = harness
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await crashOnce(harness, await startOne(store))
    const claimed = await claimOne(store)
    await store.writePolicy({ maxCrashes: 1 })
    expect((await fail(store, claimed)).outcome).toBe('dead')
  })

  it('FAIL-5 C10 timeouts reported by the holder end the job, even if failures have their own budget', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.attempts, failureBudget: 'failures' })
    await enqueueOne(store, { maxAttempts: 2 })
    expect((await fail(store, await claimOne(store), { cause: 'timeout' })).outcome).toBe('retried')
    expect((await fail(store, await claimOne(store), { cause: 'timeout' })).outcome).toBe('dead')
  })

  it('OPS-8 the maximum of the row decides, be it over or under that of the policy', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, maxAttempts: 2 })
    expect((await fail(store, await startOne(store, { maxAttempts: 1 }))).outcome).toBe('dead')
    const patient = await startOne(store, { maxAttempts: 3 })
    expect((await fail(store, patient)).outcome).toBe('retried')
    expect((await fail(store, await claimOne(store))).outcome).toBe('retried')
    expect((await fail(store, await claimOne(store))).outcome).toBe('dead')
  })

  it.each<ErrorCategory>(['PERMANENT', 'CRITICAL'])(
    'FAIL-1 an error of category %s is final at once',
    async (category) => {
      const { store } = opened()
      const claimed = await startOne(store, { maxAttempts: 9 })
      expect(await fail(store, claimed, { category })).toEqual({ outcome: 'dead', retryInMs: null })
      expect(await readJob(store, claimed.jobId)).toMatchObject({ status: 'dead', error: { category } })
    },
  )

  it('FAIL-5 a failure that is not retryable is final at once', async () => {
    const { store } = opened()
    const claimed = await startOne(store, { maxAttempts: 9 })
    expect((await fail(store, claimed, { isRetryable: false })).outcome).toBe('dead')
  })

  it('FAIL-5 a timeout is counted apart from failures, against its own limit', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, maxTimeouts: 2 })
    const claimed = await startOne(store, { maxAttempts: 9 })
    expect((await fail(store, claimed, { cause: 'timeout' })).outcome).toBe('retried')
    expect(await readJob(store, claimed.jobId)).toMatchObject({ timeouts: 1, failures: 0 })
    const second = await claimOne(store)
    expect((await fail(store, second, { cause: 'timeout' })).outcome).toBe('dead')
    expect(await readJob(store, claimed.jobId)).toMatchObject({ timeouts: 2, failures: 0 })
  })
}

export function describeStaleFailures<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-5 C2 a worker whose job was reaped fails nothing', async () => {
    const bench = opened()
    await bench.store.writePolicy(plainPolicy)
    const claimed = await startOne(bench.store)
    await crashOnce(bench, claimed)
    await expectUnchanged(bench.store, claimed.jobId, async () => {
      expect(await fail(bench.store, claimed)).toEqual({ outcome: 'lease-lost', retryInMs: null })
    })
  })

  it('LEASE-5 C2 a worker whose job another worker has now fails nothing', async () => {
    const bench = opened()
    await bench.store.writePolicy(plainPolicy)
    const first = await startOne(bench.store)
    await crashOnce(bench, first)
    await claimOne(bench.store, { workerId: 'worker-2' })
    await expectUnchanged(bench.store, first.jobId, async () => {
      expect((await fail(bench.store, first, { category: 'PERMANENT' })).outcome).toBe('lease-lost')
    })
    expect(await eventsOf(bench.store, first.jobId, 'failed')).toEqual([])
  })

  it('LEASE-5 an expired lease that was not reaped still fails', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(10 * MINUTE)
    expect((await fail(store, claimed)).outcome).toBe('retried')
  })

  it('LEASE-5 a job that does not exist is not found', async () => {
    const { store } = opened()
    expect(await fail(store, forgedLease(MISSING_ID))).toEqual({ outcome: 'not-found', retryInMs: null })
  })

  it('C3 a repeated failure with the same lease is already done and counts nothing', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store)
    await fail(store, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await fail(store, claimed)).toEqual({ outcome: 'already-done', retryInMs: null })
    })
    expect((await readJob(store, claimed.jobId)).failures).toBe(1)
  })

  it('C3 it stays already done while another worker has the job', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await fail(store, first)
    const second = await claimOne(store, { workerId: 'worker-2' })
    await expectUnchanged(store, first.jobId, async () => {
      expect((await fail(store, first)).outcome).toBe('already-done')
    })
    expect((await readJob(store, first.jobId)).leaseId).toBe(second.leaseId)
  })

  it('WORK-7 a batch fails each job by its own lease and returns each outcome', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const [first, second, third] = await startMany(store, 3)
    if (first === undefined || second === undefined || third === undefined) throw new Error('not three jobs')
    const answers = await store.failJobs([
      leaseOf(first),
      { ...leaseOf(second), isRetryable: false },
      forgedLease(third.jobId),
    ])
    expect(outcomeOf(answers, first.jobId)).toBe('retried')
    expect(outcomeOf(answers, second.jobId)).toBe('dead')
    expect(outcomeOf(answers, third.jobId)).toBe('lease-lost')
  })
}

export function describeCancelledFailures<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-6 a job that fails with a pending cancellation ends as cancelled', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await cancel(store, claimed.jobId)
    expect(await fail(store, claimed)).toEqual({ outcome: 'cancelled', retryInMs: null })
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job.status).toBe('cancelled')
    expect(job.error?.code).toBe('cancelled')
    expect(job.finishedAt).not.toBeNull()
    expect(await eventsOf(store, claimed.jobId, 'cancelled')).toHaveLength(1)
    expect(await claimMany(store)).toEqual([])
  })
}
