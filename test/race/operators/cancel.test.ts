// A cancel against every other verb: an ended job stays as it ended, and a running one is asked to stop.
import { describe, expect, it } from 'vitest'
import {
  beat,
  cancel,
  claimMany,
  claimOne,
  complete,
  enqueueOne,
  eventsOf,
  fail,
  MINUTE,
  readJob,
  release,
  startOne,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench()

describe('cancel and complete of one job', () => {
  it('WORK-6 a cancel that waited for the complete answers already-ended and changes nothing', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const lease = await startOne(store)

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    const late = await startBlocked(operator, worker, () => cancel(operator.store, lease.jobId))
    await worker.commit()

    expect(await late.answer).toBe('already-ended')
    expect(await readJob(store, lease.jobId)).toMatchObject({
      status: 'succeeded',
      finishedLeaseId: lease.leaseId,
      cancelRequestedAt: null,
      error: null,
    })
    expect(await eventsOf(store, lease.jobId, 'cancel-requested')).toEqual([])
  })

  it('WORK-6 a complete that waited for the cancel wins: the flag was only a request', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const lease = await startOne(store)

    await operator.begin()
    expect(await cancel(operator.store, lease.jobId)).toBe('cancel-requested')
    const late = await startBlocked(worker, operator, () => complete(worker.store, lease))
    await operator.commit()

    expect(await late.answer).toBe('completed')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded', error: null })
    expect(await cancel(store, lease.jobId)).toBe('already-ended')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded', error: null })
  })

  it('WORK-6 a beat that meets an uncommitted cancel answers busy, then cancel-asked, and the complete still counts', async () => {
    const { store, connect } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const lease = await startOne(store)

    await operator.begin()
    expect(await cancel(operator.store, lease.jobId)).toBe('cancel-requested')
    expect(await beat(worker.store, lease)).toBe('busy')
    await operator.commit()

    expect(await beat(worker.store, lease)).toBe('cancel-asked')
    expect(await complete(worker.store, lease)).toBe('completed')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'succeeded', error: null })
  })
})

describe('cancel and another end of one job', () => {
  it.each([
    {
      verb: 'fail',
      finish: async (...[store, lease]: Parameters<typeof fail>) => (await fail(store, lease)).outcome,
    },
    { verb: 'release', finish: release },
  ])('WORK-6 a $verb that waited for the cancel ends the job as cancelled', async ({ finish }) => {
    const { store, connect, startBlocked } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const lease = await startOne(store)

    await operator.begin()
    expect(await cancel(operator.store, lease.jobId)).toBe('cancel-requested')
    const late = await startBlocked(worker, operator, () => finish(worker.store, lease))
    await operator.commit()

    expect(await late.answer).toBe('cancelled')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'cancelled', leaseId: null })
    expect(await claimMany(store)).toEqual([])
  })

  it('WORK-6, REAP-4 a reaper skips a job that is being cancelled, and ends it as cancelled after that', async () => {
    const { store, elapse, connect } = opened()
    const [reaper, operator] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await operator.begin()
    expect(await cancel(operator.store, lease.jobId)).toBe('cancel-requested')
    expect((await sweep(reaper.store)).reaped).toEqual([])
    await operator.commit()

    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'cancelled' }])
  })

  it('WORK-6 a cancel that waited for a reap ends the requeued job at once', async () => {
    const { store, elapse, connect, startBlocked } = opened()
    const [reaper, operator] = [await connect(), await connect()]
    const lease = await startOne(store)
    await elapse(2 * MINUTE)

    await reaper.begin()
    expect((await sweep(reaper.store)).reaped).toMatchObject([{ action: 'requeued' }])
    const late = await startBlocked(operator, reaper, () => cancel(operator.store, lease.jobId))
    await reaper.commit()

    expect(await late.answer).toBe('cancelled')
    expect(await readJob(store, lease.jobId)).toMatchObject({ status: 'cancelled', runAt: null })
    expect(await claimMany(store)).toEqual([])
  })
})

describe('cancel and claim of one job', () => {
  it('WORK-6, LEASE-1 a claim skips a job that is being cancelled, and never gets it', async () => {
    const { store, connect } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)

    await operator.begin()
    expect(await cancel(operator.store, jobId)).toBe('cancelled')
    expect(await claimMany(worker.store)).toEqual([])
    await operator.commit()

    expect(await claimMany(worker.store)).toEqual([])
    expect(await readJob(store, jobId)).toMatchObject({ status: 'cancelled', attempt: 0 })
  })

  it('WORK-6 a cancel that waited for the claim becomes a request to the new holder', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, operator] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)

    await worker.begin()
    const lease = await claimOne(worker.store)
    const late = await startBlocked(operator, worker, () => cancel(operator.store, jobId))
    await worker.commit()

    expect(await late.answer).toBe('cancel-requested')
    expect(await readJob(store, jobId)).toMatchObject({ status: 'running', leaseId: lease.leaseId })
    expect(await beat(worker.store, lease)).toBe('cancel-asked')
  })
})
