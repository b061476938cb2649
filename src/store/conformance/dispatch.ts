import { describe, expect, it } from 'vitest'
import type { JobStore } from '../job-store.ts'
import type { TakenDispatch } from '../ports/dispatch-store.ts'
import {
  claimOne,
  complete,
  crashOnce,
  DAY,
  enqueueOne,
  expectAbout,
  fail,
  invalidArgument,
  MINUTE,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startDead,
  startMany,
  startOne,
  sweep,
  TYPE,
} from './builders.ts'
import type { TestBench } from './harness.ts'

const idsOf = (taken: TakenDispatch[]) => taken.map(({ jobId }) => jobId)

async function takeOne(store: JobStore, leaseMs = MINUTE): Promise<TakenDispatch> {
  const [taken, ...others] = await store.takeDispatches({ leaseMs })
  if (taken === undefined || others.length > 0) throw new Error('not one job is to be published')
  return taken
}

export function describeDispatch(opened: () => TestBench): void {
  /** Publishes jobs that return to waiting. */
  async function dispatching(): Promise<TestBench> {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, dispatch: 'requeued' })
    return bench
  }

  describe('dispatches', () => {
    describeNotes(dispatching, opened)
    describeTaking(dispatching)
    describeEnds(dispatching)
  })
}

function describeNotes(dispatching: () => Promise<TestBench>, opened: () => TestBench): void {
  it('REAP-12 a job that a sweep requeues is published, with everything the outside queue needs', async () => {
    const bench = await dispatching()
    const { store } = bench
    await store.writePolicy({ reapBackoffStepsMs: [10 * MINUTE] })
    const job = await startOne(store, { queue: 'night' }, { queues: ['night'] })
    await crashOnce(bench, job)
    const taken = await takeOne(store)
    const { attempt } = await readJob(store, job.jobId)
    expect(taken).toMatchObject({ jobId: job.jobId, type: TYPE, queue: 'night', attempt, tries: 1 })
    expect(taken.dispatchId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expectAbout(taken.runInMs, 10 * MINUTE)
  })

  it('REAP-12 so is a job that failed with attempts left, was released, or was retried manually', async () => {
    const { store } = await dispatching()
    const failed = await startOne(store)
    await fail(store, failed)
    const released = await startOne(store, { type: 'mail' })
    await release(store, released)
    const retried = await startDead(store, { type: 'dead' })
    await store.retryJobs([retried])
    const taken = await store.takeDispatches()
    expect(idsOf(taken).toSorted()).toEqual([failed.jobId, released.jobId, retried].toSorted())
    expect(taken.map(({ runInMs }) => runInMs)).toEqual([0, 0, 0])
  })

  it('REAP-12 nothing else is: neither enqueued, completed, dead nor cancelled jobs', async () => {
    const bench = await dispatching()
    const { store } = bench
    await enqueueOne(store, { type: 'new' })
    await complete(store, await startOne(store))
    await startDead(store)
    const job = await startOne(store)
    await store.cancelJobs([job.jobId])
    await release(store, job)
    const crashed = await startOne(store)
    await store.cancelJobs([crashed.jobId])
    await crashOnce(bench, crashed)
    expect(await store.countDispatches()).toBe(0)
    expect(await store.takeDispatches()).toEqual([])
  })

  it('REAP-12 nothing is unless the policy enables it', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, dispatch: 'off' })
    await crashOnce(bench, await startOne(store))
    await fail(store, await claimOne(store))
    await release(store, await claimOne(store))
    await store.retryJobs([await startDead(store, { type: 'dead' })])
    expect(await store.countDispatches()).toBe(0)
  })

  it('REAP-12 a sweep records dispatches of all its jobs, and a policy override applies to the call', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, dispatch: 'off' })
    await startMany(store, 25)
    await elapse(2 * MINUTE)
    await sweep(store, { limit: 10, policy: { dispatch: 'requeued' } })
    expect(await store.countDispatches()).toBe(25)
  })

  it('REAP-12 a job has one dispatch however often it returns, each time with a new id', async () => {
    const { store } = await dispatching()
    await fail(store, await startOne(store))
    const first = await takeOne(store)
    await release(store, await claimOne(store))
    expect(await store.countDispatches()).toBe(1)
    const second = await takeOne(store)
    expect(second.jobId).toBe(first.jobId)
    expect(second.dispatchId).not.toBe(first.dispatchId)
  })

  it('REAP-12 the dispatch of a pruned job is deleted', async () => {
    const { store, elapse } = await dispatching()
    const job = await startOne(store)
    await release(store, job)
    await complete(store, await claimOne(store))
    await elapse(30 * DAY)
    await store.pruneJobs()
    expect(await store.countDispatches()).toBe(0)
  })
}

function describeTaking(dispatching: () => Promise<TestBench>): void {
  it('REAP-12 a taken dispatch is not given out again until its lease expires', async () => {
    const { store, elapse } = await dispatching()
    await fail(store, await startOne(store))
    const first = await takeOne(store, MINUTE)
    expect(await store.takeDispatches()).toEqual([])
    await elapse(MINUTE + SECOND)
    const second = await takeOne(store, MINUTE)
    expect(second).toMatchObject({ dispatchId: first.dispatchId, tries: 2 })
  })

  it('REAP-12 takes no more than the limit, and the rest with the next call', async () => {
    const { store } = await dispatching()
    const jobs = await startMany(store, 5)
    await store.releaseJobs(jobs)
    const first = await store.takeDispatches({ limit: 3 })
    const second = await store.takeDispatches({ limit: 3 })
    expect([first.length, second.length]).toEqual([3, 2])
    expect(idsOf([...first, ...second]).toSorted()).toEqual(jobs.map(({ jobId }) => jobId).toSorted())
  })

  it('REAP-12 a job that no longer waits is not published, and does not block others', async () => {
    const { store, elapse } = await dispatching()
    const jobs = await startMany(store, 4)
    await store.releaseJobs(jobs)
    const running = await claimOne(store)
    await complete(store, await claimOne(store))
    await store.cancelJobs([(await claimOne(store)).jobId])
    await elapse(SECOND)
    const taken = await store.takeDispatches({ limit: 1 })
    expect(idsOf(taken)).toEqual([jobs.at(-1)?.jobId])
    expect(idsOf(taken)).not.toContain(running.jobId)
    expect(await store.takeDispatches()).toEqual([])
    expect(await store.countDispatches()).toBe(1)
  })

  it('REAP-12 a dispatch is kept until somebody takes it', async () => {
    const { store, elapse } = await dispatching()
    await fail(store, await startOne(store))
    await elapse(DAY)
    expect(await store.takeDispatches()).toHaveLength(1)
  })

  it('OPS-8 a bad limit and a bad lease are refused', async () => {
    const { store } = await dispatching()
    await fail(store, await startOne(store))
    for (const request of [{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { leaseMs: 0 }, { leaseMs: -1 }])
      await expect(store.takeDispatches(request)).rejects.toMatchObject(invalidArgument)
    expect(await takeOne(store)).toMatchObject({ tries: 1 })
  })
}

function describeEnds(dispatching: () => Promise<TestBench>): void {
  it('REAP-12 a finished dispatch is deleted', async () => {
    const { store, elapse } = await dispatching()
    const jobs = await startMany(store, 2)
    await store.releaseJobs(jobs)
    const [published, other] = await store.takeDispatches({ leaseMs: MINUTE })
    if (published === undefined) throw new Error('nothing was taken')
    expect(await store.finishDispatches([published])).toBe(1)
    expect(await store.finishDispatches([published])).toBe(0)
    await elapse(2 * MINUTE)
    expect((await store.takeDispatches()).map(({ dispatchId }) => dispatchId)).toEqual([other?.dispatchId])
  })

  it('REAP-12 a job that was requeued while being published is published again', async () => {
    const { store } = await dispatching()
    await release(store, await startOne(store))
    const early = await takeOne(store)
    await release(store, await claimOne(store))
    expect(await store.finishDispatches([early])).toBe(0)
    expect(await store.failDispatches([early], 'too late')).toBe(0)
    expect((await takeOne(store)).dispatchId).not.toBe(early.dispatchId)
  })

  it('REAP-12 a failed dispatch is retried after a delay that doubles up to 5 minutes', async () => {
    const { store, elapse } = await dispatching()
    await release(store, await startOne(store))
    for (const waitMs of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * SECOND)) {
      const taken = await takeOne(store)
      expect(await store.failDispatches([taken], 'queue is down')).toBe(1)
      // Slightly less than the delay, to allow for the time of the calls.
      await elapse(waitMs - 500)
      expect(await store.takeDispatches()).toEqual([])
      await elapse(500)
    }
    expect(await takeOne(store)).toMatchObject({ tries: 12 })
  })

  it('REAP-12 a failure after the lease expired does not affect the current holder', async () => {
    const { store, elapse } = await dispatching()
    await release(store, await startOne(store))
    const early = await takeOne(store, SECOND)
    await elapse(2 * SECOND)
    await takeOne(store, DAY)
    expect(await store.failDispatches([early], 'slow')).toBe(0)
    await elapse(MINUTE)
    expect(await store.takeDispatches()).toEqual([])
    // Whoever published it, it was published.
    expect(await store.finishDispatches([early])).toBe(1)
  })

  it('REAP-12 an empty call does nothing', async () => {
    const { store } = await dispatching()
    expect(await store.finishDispatches([])).toBe(0)
    expect(await store.failDispatches([], 'nothing')).toBe(0)
  })
}
