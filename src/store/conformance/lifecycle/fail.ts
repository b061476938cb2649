import { describe, expect, it } from 'vitest'
import {
  budgets,
  claimOne,
  detailsOf,
  enqueueOne,
  eventsOf,
  expectAbout,
  expectLeaseGone,
  expectUnchanged,
  fail,
  leaseOf,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  SECOND,
  startMany,
  startOne,
} from '../builders.ts'
import { type StoreHarness, transactionsOf } from '../harness.ts'
import { describeCancelledFailures, describeFinalFailures, describeStaleFailures } from './fail-final.ts'

export function describeFail<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('failJobs', () => {
    describeRecord(opened)
    describeRetries(opened)
    describeBackoff(opened)
    describeFinalFailures(opened)
    describeStaleFailures(opened)
    describeCancelledFailures(opened)
    describeFailTransactions(opened)
  })
}

function describeRecord<Tx>(opened: () => StoreHarness<Tx>): void {
  const failure = {
    code: 'GW_5XX',
    reason: 'bad gateway',
    category: 'TRANSIENT',
    stack: 'Error: bad gateway\n    at handler (clip.ts:1:1)',
  } as const

  it('FAIL-1 a retried job remembers code, reason, category, stack and attempt', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store)
    expect((await fail(store, claimed, failure)).outcome).toBe('retried')
    expect((await readJob(store, claimed.jobId)).error).toEqual({ ...failure, attempt: 1 })
  })

  it('FAIL-1 a dead job remembers code, reason, category, stack and the attempt it happened on', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await fail(store, await startOne(store, { maxAttempts: 2 }))
    const second = await claimOne(store)
    expect((await fail(store, second, failure)).outcome).toBe('dead')
    expect((await readJob(store, second.jobId)).error).toEqual({ ...failure, attempt: 2 })
  })

  it.each([budgets.countedAtFailure, budgets.countedAtReap])(
    'FAIL-1 C10 the attempt of the record is the one just counted at $attemptCountedAt',
    async (budget) => {
      const { store } = opened()
      await store.writePolicy({ ...plainPolicy, ...budget })
      const claimed = await startOne(store, { maxAttempts: 3 })
      await fail(store, claimed)
      const job = await readJob(store, claimed.jobId)
      expect(job.attempt).toBe(1)
      expect(job.error?.attempt).toBe(1)
    },
  )

  it('FAIL-1 a failure without details is TRANSIENT and UNKNOWN', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await fail(store, claimed)
    const { error } = await readJob(store, claimed.jobId)
    expect(error).toMatchObject({ code: 'UNKNOWN', category: 'TRANSIENT', reason: null, stack: null })
  })

  it('SEE-3 a retry is an event with its error, its backoff and its next run', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, failureBackoffStepsMs: [10 * MINUTE] })
    const claimed = await startOne(store)
    await fail(store, claimed, failure)
    const details = await detailsOf(store, claimed.jobId, 'retry')
    const { code, reason, category } = failure
    expect(details).toMatchObject({ code, reason, category, attempt: 1, worker_id: 'worker-1' })
    expect(details['backoff_ms']).toBe(10 * MINUTE)
    const { runAt } = await readJob(store, claimed.jobId)
    expect(details['next_run_at']).toBe(runAt?.toISOString())
  })

  it('SEE-3 a final failure is an event with its error, and no retry', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store, { maxAttempts: 1 })
    await fail(store, claimed, failure)
    const { code, reason, category } = failure
    expect(await detailsOf(store, claimed.jobId, 'failed')).toMatchObject({
      code,
      reason,
      category,
      attempt: 1,
      worker_id: 'worker-1',
    })
    expect(await eventsOf(store, claimed.jobId, 'retry')).toEqual([])
  })

  it('SEE-3 a job that dies because its input expired ends as expired, not as failed', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store, { maxAttempts: 2 })
    await fail(store, claimed, { code: 'EXPIRED' })
    expect(await eventsOf(store, claimed.jobId, 'retry')).toHaveLength(1)
    await fail(store, await claimOne(store), { code: 'EXPIRED', reason: 'the upload is gone' })
    expect(await detailsOf(store, claimed.jobId, 'expired')).toMatchObject({
      code: 'EXPIRED',
      reason: 'the upload is gone',
      attempt: 2,
    })
    expect(await eventsOf(store, claimed.jobId, 'failed')).toEqual([])
  })
}

function describeRetries<Tx>(opened: () => StoreHarness<Tx>): void {
  it('FAIL-4 a retry waits, without a lease, with an earliest run time and a new update time', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, failureBackoffStepsMs: [10 * MINUTE] })
    const claimed = await startOne(store)
    await elapse(30 * SECOND)
    expect(await fail(store, claimed)).toEqual({ outcome: 'retried', retryInMs: 10 * MINUTE })
    await expectLeaseGone(store, claimed.jobId)
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'waiting', finishedAt: null, finishedLeaseId: claimed.leaseId })
    expectAbout(msBetween(job.startedAt, job.updatedAt), 30 * SECOND)
    expectAbout(msBetween(job.updatedAt, job.runAt), 10 * MINUTE)
  })

  it('FAIL-4 the caller may say when to retry', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    expect(await fail(store, claimed, { retryInMs: 42 * MINUTE })).toMatchObject({ retryInMs: 42 * MINUTE })
    const job = await readJob(store, claimed.jobId)
    expectAbout(msBetween(job.updatedAt, job.runAt), 42 * MINUTE)
  })

  it('FAIL-6 a retry at once is claimed at once', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await fail(store, claimed, { retryInMs: 0 })
    expect((await claimOne(store)).jobId).toBe(claimed.jobId)
  })

  it('FAIL-5 the policy of one call decides that call and is not stored', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store, { maxAttempts: 3 })
    const policy = { failureBackoffStepsMs: [7 * MINUTE] }
    const [answer] = await store.failJobs([leaseOf(claimed)], { policy })
    expect(answer).toMatchObject({ outcome: 'retried', retryInMs: 7 * MINUTE })
    expect((await store.readPolicy()).failureBackoffStepsMs).toEqual([0])
  })
}

function describeBackoff<Tx>(opened: () => StoreHarness<Tx>): void {
  const exponential = {
    ...plainPolicy,
    ...budgets.failures,
    failureBackoffStepsMs: [],
    failureBackoffBaseMs: 5_000,
    failureBackoffMaxMs: 30_000,
  }

  async function failInTurn(harness: StoreHarness<Tx>, times: number): Promise<(number | null)[]> {
    const { store, elapse } = harness
    await enqueueOne(store, { maxAttempts: times + 1 })
    const waits: (number | null)[] = []
    for (let nth = 0; nth < times; nth += 1) {
      const { retryInMs } = await fail(store, await claimOne(store))
      waits.push(retryInMs)
      await elapse((retryInMs ?? 0) + SECOND)
    }
    return waits
  }

  it('FAIL-4 the delay starts at the base, doubles with every failure and stops at its maximum', async () => {
    const harness = opened()
    await harness.store.writePolicy(exponential)
    expect(await failInTurn(harness, 5)).toEqual([5_000, 10_000, 20_000, 30_000, 30_000])
  })

  it('FAIL-4 the jitter comes on top, between nothing and its maximum', async () => {
    const { store } = opened()
    await store.writePolicy({ ...exponential, failureBackoffJitterMs: 5_000 })
    const claimed = await startMany(store, 20)
    const answers = await store.failJobs(claimed.map(leaseOf))
    const waits = answers.map(({ retryInMs }) => retryInMs ?? 0)
    expect(waits).toHaveLength(20)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(5_000)
    expect(Math.max(...waits)).toBeLessThan(10_000)
    expect(new Set(waits).size).toBeGreaterThan(1)
  })

  it('FAIL-4 steps go before base and maximum, and the last step stays', async () => {
    const harness = opened()
    const steps = { failureBackoffStepsMs: [30_000, 120_000, 600_000] }
    await harness.store.writePolicy({ ...plainPolicy, ...budgets.attempts, ...steps })
    expect(await failInTurn(harness, 4)).toEqual([30_000, 120_000, 600_000, 600_000])
  })
}

function describeFailTransactions<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-5 a failure in a transaction that rolls back leaves the job with its holder', async ({ skip }) => {
    const harness = opened()
    const { store } = harness
    const inTransaction = transactionsOf(harness, skip)
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await expectUnchanged(store, claimed.jobId, async () => {
      const attempt = inTransaction(async (tx) => {
        await store.failJobs([leaseOf(claimed)], { tx })
        throw new Error('the caller changed its mind')
      })
      await expect(attempt).rejects.toThrow('the caller changed its mind')
    })
    expect(await eventsOf(store, claimed.jobId, 'retry')).toEqual([])
  })
}
