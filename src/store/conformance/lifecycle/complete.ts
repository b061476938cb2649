import { describe, expect, it } from 'vitest'
import {
  beat,
  cancel,
  claimMany,
  claimOne,
  complete,
  crashOnce,
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
  release,
  SECOND,
  startMany,
  startOne,
  TYPE,
} from '../builders.ts'
import { type StoreHarness, transactionsOf } from '../harness.ts'

export function describeComplete<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('completeJobs', () => {
    describeEnd(opened)
    describeForeignLeases(opened)
    describeRepeats(opened)
    describeCompleteTransactions(opened)
  })
}

function describeEnd<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-5 the holder of the lease ends its job as succeeded, with its result', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, defaultLeaseMs: 10 * MINUTE })
    const claimed = await startOne(store)
    await elapse(5 * MINUTE)
    const result = { frames: 250, note: ['ü', null] }
    const answers = await store.completeJobs([{ ...leaseOf(claimed), result }])
    expect(answers).toEqual([{ jobId: claimed.jobId, outcome: 'completed' }])
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'succeeded', result, error: null, finishedLeaseId: claimed.leaseId })
    expectAbout(msBetween(job.startedAt, job.finishedAt), 5 * MINUTE)
    expectAbout(msBetween(job.startedAt, job.updatedAt), 5 * MINUTE)
  })

  it('LEASE-5 a succeeded job has no lease, and its last heartbeat stays as evidence', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    const { heartbeatAt } = await readJob(store, claimed.jobId)
    await complete(store, claimed)
    await expectLeaseGone(store, claimed.jobId)
    expect((await readJob(store, claimed.jobId)).heartbeatAt).toEqual(heartbeatAt)
    expect(heartbeatAt).not.toBeNull()
  })

  it('LEASE-5 an expired lease that was not reaped still completes', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await elapse(10 * MINUTE)
    expect(await complete(store, claimed)).toBe('completed')
  })

  it('FAIL-1 success clears the error of an earlier attempt', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    await fail(store, await startOne(store), { code: 'GW_5XX', reason: 'bad gateway' })
    const second = await claimOne(store)
    expect((await readJob(store, second.jobId)).error?.code).toBe('GW_5XX')
    await complete(store, second)
    expect((await readJob(store, second.jobId)).error).toBeNull()
  })

  it('WORK-6 completion wins over a requested cancel, and the request stays as evidence', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    await cancel(store, claimed.jobId)
    expect(await complete(store, claimed)).toBe('completed')
    const job = await readJob(store, claimed.jobId)
    expect(job).toMatchObject({ status: 'succeeded', error: null })
    expect(job.cancelRequestedAt).not.toBeNull()
  })

  it('WORK-7 a batch ends each job by its own lease and returns each outcome', async () => {
    const { store } = opened()
    const [first, second, third] = await startMany(store, 3)
    if (first === undefined || second === undefined || third === undefined) throw new Error('not three jobs')
    await complete(store, third)
    const missing = forgedLease(MISSING_ID)
    const answers = await store.completeJobs([
      { ...leaseOf(first), result: 'first' },
      forgedLease(second.jobId),
      leaseOf(third),
      missing,
    ])
    expect(outcomeOf(answers, first.jobId)).toBe('completed')
    expect(outcomeOf(answers, second.jobId)).toBe('lease-lost')
    expect(outcomeOf(answers, third.jobId)).toBe('already-done')
    expect(outcomeOf(answers, missing.jobId)).toBe('not-found')
    expect(await readJob(store, first.jobId)).toMatchObject({ status: 'succeeded', result: 'first' })
    expect((await readJob(store, second.jobId)).status).toBe('running')
  })

  it('SEE-3 success has the event complete only with all events enabled', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    const quiet = await startOne(store)
    await complete(store, quiet)
    expect(await store.listEvents(quiet.jobId)).toEqual([])
    await store.writePolicy({ events: 'all' })
    const told = await startOne(store)
    await complete(store, told)
    expect(await eventsOf(store, told.jobId, 'complete')).toHaveLength(1)
  })
}

function describeForeignLeases<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-5 C2 a worker whose job was reaped completes nothing', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await crashOnce(bench, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await complete(store, claimed)).toBe('lease-lost')
    })
  })

  it('LEASE-5 C2 a worker whose job another worker has now completes nothing', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await crashOnce(bench, first)
    const second = await claimOne(store, { workerId: 'worker-2' })
    await expectUnchanged(store, first.jobId, async () => {
      expect(await complete(store, first)).toBe('lease-lost')
    })
    expect(await complete(store, second)).toBe('completed')
  })

  it('LEASE-5 C2 a worker whose job another worker has completed changes nothing of it', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const first = await startOne(store)
    await crashOnce(bench, first)
    const second = await claimOne(store, { workerId: 'worker-2' })
    await store.completeJobs([{ ...leaseOf(second), result: 'by the second' }])
    await expectUnchanged(store, first.jobId, async () => {
      const answers = await store.completeJobs([{ ...leaseOf(first), result: 'by the first' }])
      expect(outcomeOf(answers, first.jobId)).toBe('lease-lost')
    })
  })

  it('LEASE-5 C2 a stale lease completes nothing, also if a lease of the same batch holds its job', async () => {
    const { store } = opened()
    const [stale, released] = [await startOne(store), await startOne(store)]
    await store.releaseJobs([leaseOf(stale), leaseOf(released)])
    // One claim, so that the lease of one job is that of the other.
    const current = (await claimMany(store)).filter(({ jobId }) => jobId === released.jobId)
    expect(await store.completeJobs([stale, ...current].map(leaseOf))).toEqual([
      { jobId: stale.jobId, outcome: 'lease-lost' },
      { jobId: released.jobId, outcome: 'completed' },
    ])
    expect((await readJob(store, stale.jobId)).status).toBe('running')
  })

  it('LEASE-5 C2 beside a stale lease of the same job, the current one completes it with its own result', async () => {
    const { store } = opened()
    const stale = await startOne(store)
    await store.releaseJobs([leaseOf(stale)])
    const current = await claimOne(store)
    const answers = await store.completeJobs([
      { ...leaseOf(stale), result: 'stale' },
      { ...leaseOf(current), result: 'current' },
    ])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['lease-lost', 'completed'])
    expect((await readJob(store, current.jobId)).result).toBe('current')
  })

  it('LEASE-5 C1 the lease of one job does not complete another', async () => {
    const { store } = opened()
    const [first, second] = [await startOne(store), await startOne(store)]
    await expectUnchanged(store, first.jobId, async () => {
      expect(await complete(store, { jobId: first.jobId, leaseId: second.leaseId })).toBe('lease-lost')
    })
  })

  it('LEASE-5 C1 a forged lease completes nothing, neither of a running nor of a waiting job', async () => {
    const { store } = opened()
    const running = await startOne(store)
    const [waiting] = await store.enqueueJobs([{ type: TYPE }])
    for (const jobId of [running.jobId, waiting?.jobId ?? ''])
      await expectUnchanged(store, jobId, async () => {
        expect(await complete(store, forgedLease(jobId))).toBe('lease-lost')
      })
  })

  it('LEASE-5 a job that does not exist is not found', async () => {
    const { store } = opened()
    expect(await complete(store, forgedLease(MISSING_ID))).toBe('not-found')
  })
}

function describeRepeats<Tx>(opened: () => StoreHarness<Tx>): void {
  it('C3 a repeated completion with the same lease is already done and changes nothing', async () => {
    const { store, elapse } = opened()
    const claimed = await startOne(store)
    await store.completeJobs([{ ...leaseOf(claimed), result: 'first' }])
    await elapse(SECOND)
    await expectUnchanged(store, claimed.jobId, async () => {
      const answers = await store.completeJobs([{ ...leaseOf(claimed), result: 'second' }])
      expect(outcomeOf(answers, claimed.jobId)).toBe('already-done')
    })
  })

  it('C3 of many completions with one lease at once one completes and the others are already done', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => complete(store, claimed)))
    expect(outcomes.toSorted()).toEqual([...Array<string>(5).fill('already-done'), 'completed'])
  })

  it('C3 a completion after the same lease failed or released the job changes nothing', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await fail(store, claimed)
    await expectUnchanged(store, claimed.jobId, async () => {
      expect(await complete(store, claimed)).toBe('lease-lost')
    })
    const released = await startOne(store)
    await release(store, released)
    expect(await complete(store, released)).toBe('lease-lost')
  })
}

function describeCompleteTransactions<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-5 a completion in a transaction that rolls back leaves the job with its holder', async ({
    skip,
  }) => {
    const harness = opened()
    const { store } = harness
    const inTransaction = transactionsOf(harness, skip)
    const claimed = await startOne(store)
    await expectUnchanged(store, claimed.jobId, async () => {
      const attempt = inTransaction(async (tx) => {
        await store.completeJobs([leaseOf(claimed)], { tx })
        throw new Error('the caller changed its mind')
      })
      await expect(attempt).rejects.toThrow('the caller changed its mind')
    })
    expect(await beat(store, claimed)).toBe('kept')
    expect(await complete(store, claimed)).toBe('completed')
  })

  it('WORK-5 a completion and another write of one transaction become visible together', async ({ skip }) => {
    const harness = opened()
    const { store } = harness
    const inTransaction = transactionsOf(harness, skip)
    const claimed = await startOne(store)
    const seenFromOutside = await inTransaction(async (tx) => {
      await store.enqueueJobs([{ type: 'next-stage' }], { tx })
      const answers = await store.completeJobs([leaseOf(claimed)], { tx })
      expect(outcomeOf(answers, claimed.jobId)).toBe('completed')
      expect((await store.getJob(claimed.jobId, { tx }))?.status).toBe('succeeded')
      return store.getJob(claimed.jobId)
    })
    expect(seenFromOutside?.status).toBe('running')
    expect((await readJob(store, claimed.jobId)).status).toBe('succeeded')
    expect((await store.readHealth()).waiting).toBe(1)
  })

  it('WORK-5 C4 a lost lease says so inside the transaction, so that the caller can roll back', async ({
    skip,
  }) => {
    const harness = opened()
    const { store } = harness
    const inTransaction = transactionsOf(harness, skip)
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store)
    await crashOnce(harness, claimed)
    const outcome = await inTransaction(async (tx) =>
      outcomeOf(await store.completeJobs([leaseOf(claimed)], { tx }), claimed.jobId),
    )
    expect(outcome).toBe('lease-lost')
  })
}
