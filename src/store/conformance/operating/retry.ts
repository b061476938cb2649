import { describe, expect, it } from 'vitest'
import type { RetryOptions } from '../../job-store.ts'
import {
  budgets,
  cancel,
  claimMany,
  claimOne,
  complete,
  crashOnce,
  detailsOf,
  enqueueOne,
  expectAbout,
  expectUnchanged,
  fail,
  MINUTE,
  MISSING_ID,
  msBetween,
  outcomeOf,
  plainPolicy,
  readJob,
  startDead,
  startOne,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeRetry(opened: () => TestBench): void {
  describe('retryJobs', () => {
    describeRevival(opened)
    describeBudgetsOfRetry(opened)
    describeRefusedRetries(opened)
  })
}

async function retry(bench: TestBench, jobId: string, options: RetryOptions<never> = {}): Promise<string> {
  return outcomeOf(await bench.store.retryJobs([jobId], options), jobId)
}

function describeRevival(opened: () => TestBench): void {
  it('OPS-1 a dead job waits again, without its error, as a new generation', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await startDead(store)
    await bench.elapse(MINUTE)
    expect(await retry(bench, jobId)).toBe('retried')
    const job = await readJob(store, jobId)
    expect(job).toMatchObject({
      status: 'waiting',
      error: null,
      result: null,
      finishedAt: null,
      runAt: null,
      cancelRequestedAt: null,
      generation: 2,
      attempt: 0,
      failures: 0,
      crashes: 0,
      timeouts: 0,
    })
    expectAbout(msBetween(job.createdAt, job.queuedAt), MINUTE)
    expectAbout(msBetween(job.createdAt, job.updatedAt), MINUTE)
  })

  it('OPS-1 a retried job is claimed at once, with its generation', async () => {
    const bench = opened()
    const jobId = await startDead(bench.store)
    await retry(bench, jobId)
    expect(await claimOne(bench.store)).toMatchObject({ jobId, generation: 2, isRescue: false })
  })

  it('OPS-1 who retried and why is in the event', async () => {
    const bench = opened()
    await bench.store.writePolicy({ events: 'recovery' })
    const jobId = await startDead(bench.store)
    await retry(bench, jobId, { actor: 'ops@example.org', reason: 'fixed upstream' })
    expect(await detailsOf(bench.store, jobId, 'queued')).toMatchObject({
      actor: 'ops@example.org',
      reason: 'fixed upstream',
      generation: 2,
      cause: 'retry',
    })
  })

  it('OPS-1 a cancellation of an earlier generation does not cancel the next', async () => {
    const bench = opened()
    const { store } = bench
    const jobId = await bench.plantJob({
      type: TYPE,
      status: 'dead',
      cancelRequestedAt: (await readJob(store, await enqueueOne(store, { type: 'clock' }))).createdAt,
      error: { code: 'timeout', reason: 'lease_expired', category: null, stack: null, attempt: 1 },
    })
    expect(await retry(bench, jobId)).toBe('retried')
    expect(await complete(store, await claimOne(store))).toBe('completed')
    expect((await readJob(store, jobId)).cancelRequestedAt).toBeNull()
  })
}

function describeBudgetsOfRetry(opened: () => TestBench): void {
  async function failUntilDead(bench: TestBench): Promise<number> {
    for (let nth = 1; nth <= 20; nth += 1)
      if ((await fail(bench.store, await claimOne(bench.store))).outcome === 'dead') return nth
    throw new Error('twenty failures did not end the job')
  }

  it.each(Object.entries(budgets))(
    'OPS-1 a retry gives the whole budget again, with the budget %s',
    async (_name, budget) => {
      const bench = opened()
      await bench.store.writePolicy({ ...plainPolicy, ...budget })
      const jobId = await enqueueOne(bench.store, { maxAttempts: 3 })
      await failUntilDead(bench)
      await retry(bench, jobId)
      expect(await failUntilDead(bench)).toBe(3)
    },
  )

  it.each(Object.entries(budgets))(
    'OPS-1 a retry that keeps the attempts raises the maximum by one attempt, with the budget %s',
    async (_name, budget) => {
      const bench = opened()
      await bench.store.writePolicy({ ...plainPolicy, ...budget })
      const jobId = await enqueueOne(bench.store, { maxAttempts: 3 })
      await failUntilDead(bench)
      expect(await retry(bench, jobId, { keepAttempts: true })).toBe('retried')
      expect(await readJob(bench.store, jobId)).toMatchObject({ attempt: 3, failures: 3, maxAttempts: 4 })
      expect(await failUntilDead(bench)).toBe(1)
    },
  )

  it('OPS-1 a retry that keeps the attempts does not lower a maximum that has room', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const jobId = await startDead(bench.store, { maxAttempts: 9 })
    await retry(bench, jobId, { keepAttempts: true })
    expect(await readJob(bench.store, jobId)).toMatchObject({ failures: 1, maxAttempts: 9 })
  })

  it('OPS-1 a job that died of crashes can be claimed after a retry that keeps the attempts', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, maxCrashes: 1 })
    const claimed = await startOne(store)
    expect((await crashOnce(bench, claimed)).action).toBe('dead')
    await retry(bench, claimed.jobId, { keepAttempts: true })
    expect(await readJob(store, claimed.jobId)).toMatchObject({ attempt: 1, crashes: 0, timeouts: 0 })
    expect((await claimOne(store)).jobId).toBe(claimed.jobId)
  })
}

function describeRefusedRetries(opened: () => TestBench): void {
  it('OPS-1 what is not dead is not retried: waiting, running, succeeded and cancelled jobs', async () => {
    const bench = opened()
    const { store } = bench
    const waiting = await enqueueOne(store, { queue: 'aside' })
    const running = await startOne(store)
    const succeeded = await startOne(store)
    await complete(store, succeeded)
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    for (const jobId of [waiting, running.jobId, succeeded.jobId, cancelled])
      await expectUnchanged(store, jobId, async () => {
        expect(await retry(bench, jobId)).toBe('not-dead')
      })
  })

  it('C21 the job of another owner looks like a missing one, and does not change', async () => {
    const bench = opened()
    const jobId = await startDead(bench.store, { owner: 'tenant-1' })
    await expectUnchanged(bench.store, jobId, async () => {
      expect(await retry(bench, jobId, { owner: 'tenant-2' })).toBe('not-found')
    })
    expect(await retry(bench, MISSING_ID, { owner: 'tenant-2' })).toBe('not-found')
  })

  it('C21 an owner retries its own job', async () => {
    const bench = opened()
    const jobId = await startDead(bench.store, { owner: 'tenant-1' })
    expect(await retry(bench, jobId, { owner: 'tenant-1' })).toBe('retried')
  })

  it('C21 a retry meant for an earlier generation changes nothing', async () => {
    const bench = opened()
    const { store } = bench
    const jobId = await startDead(store)
    await retry(bench, jobId, { generation: 1 })
    await fail(store, await claimOne(store), { isRetryable: false })
    await expectUnchanged(store, jobId, async () => {
      expect(await retry(bench, jobId, { generation: 1 })).toBe('generation-changed')
    })
    expect(await retry(bench, jobId, { generation: 2 })).toBe('retried')
  })

  it('C21 of many identical retries at once, one succeeds', async () => {
    const bench = opened()
    const jobId = await startDead(bench.store)
    const clicks = Array.from({ length: 5 }, () => retry(bench, jobId, { generation: 1 }))
    const outcomes = await Promise.all(clicks)
    expect(outcomes.filter((outcome) => outcome === 'retried')).toHaveLength(1)
    expect(await readJob(bench.store, jobId)).toMatchObject({ status: 'waiting', generation: 2 })
  })

  it('WORK-7 a dead job whose dedupe key another unfinished job has is not retried', async () => {
    const bench = opened()
    const { store } = bench
    const jobId = await startDead(store, { dedupeKey: 'clip-1' })
    await enqueueOne(store, { dedupeKey: 'clip-1' })
    await expectUnchanged(store, jobId, async () => {
      expect(await retry(bench, jobId)).toBe('duplicate')
    })
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('WORK-7 of two dead jobs with one dedupe key one is retried', async () => {
    const bench = opened()
    const { store } = bench
    const first = await startDead(store, { dedupeKey: 'clip-1' })
    const second = await startDead(store, { dedupeKey: 'clip-1' })
    const answers = await store.retryJobs([first, second])
    expect([outcomeOf(answers, first), outcomeOf(answers, second)].toSorted()).toEqual([
      'duplicate',
      'retried',
    ])
    expect((await store.readHealth()).waiting).toBe(1)
  })

  it('OPS-9 a batch returns the outcome of each', async () => {
    const bench = opened()
    const dead = await startDead(bench.store)
    const waiting = await enqueueOne(bench.store)
    const answers = await bench.store.retryJobs([MISSING_ID, dead, waiting])
    expect(outcomeOf(answers, MISSING_ID)).toBe('not-found')
    expect(outcomeOf(answers, dead)).toBe('retried')
    expect(outcomeOf(answers, waiting)).toBe('not-dead')
  })
}
