// Enqueues with windows and replacements from several transactions.
import { describe, expect, it } from 'vitest'
import {
  cancel,
  claimOne,
  complete,
  enqueueOne,
  fail,
  readJob,
  startOne,
} from '../../../src/store/conformance/builders.ts'
import type { EnqueuedJob, JobStore } from '../../../src/store/job-store.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench()

function enqueue(store: JobStore, payload: string, rule: { forMs?: number; replace?: boolean }) {
  return store.enqueueJobs([{ type: 'encode', payload, dedupe: { key: 'k', ...rule } }])
}

const replace = (store: JobStore, payload: string): Promise<EnqueuedJob[]> =>
  enqueue(store, payload, { replace: true })
const throttle = (store: JobStore, payload: string): Promise<EnqueuedJob[]> =>
  enqueue(store, payload, { forMs: 60_000 })

describe('two enqueues with one window', () => {
  it('FAIL-8 the second waits for the first, also if its job has ended meanwhile', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const [created] = await throttle(first.store, 'first')
    const late = await startBlocked(second, first, () => throttle(second.store, 'second'))
    await first.commit()
    expect(await late.answer).toEqual([{ jobId: created?.jobId, outcome: 'duplicate' }])

    await complete(store, await claimOne(store))
    expect(await throttle(store, 'third')).toEqual([{ jobId: created?.jobId, outcome: 'duplicate' }])
  })

  it('FAIL-8 a window that is rolled back is free', async () => {
    const { connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    await throttle(first.store, 'first')
    const late = await startBlocked(second, first, () => throttle(second.store, 'second'))
    await first.rollback()
    expect(await late.answer).toMatchObject([{ outcome: 'created' }])
  })

  it('FAIL-8 twenty at once create one job', async () => {
    const { connectMany, pool } = opened()
    const users = await connectMany(20)
    const answers = (await Promise.all(users.map(({ store }) => throttle(store, 'x')))).flat()
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1)
    expect((await pool.query('select id from unstuck.jobs')).rows).toHaveLength(1)
  })
})

describe('replacements', () => {
  it('FAIL-8 the second of two replacements waits, and its fields stay', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    await first.begin()
    const [created] = await replace(first.store, 'first')
    const late = await startBlocked(second, first, () => replace(second.store, 'second'))
    await first.commit()
    expect(await late.answer).toEqual([{ jobId: created?.jobId, outcome: 'replaced' }])
    expect((await readJob(store, String(created?.jobId))).payload).toBe('second')
  })

  it('FAIL-8 a job that a claim takes first keeps its payload, and a new one has the replacement', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, user] = [await connect(), await connect()]
    const jobId = await enqueueOne(store, { dedupeKey: 'k', payload: 'old' })

    await worker.begin()
    expect((await claimOne(worker.store)).payload).toBe('old')
    const late = await startBlocked(user, worker, () => replace(user.store, 'new'))
    await worker.commit()

    const [created] = await late.answer
    expect(created?.outcome).toBe('created')
    expect(created?.jobId).not.toBe(jobId)
    expect(await readJob(store, jobId)).toMatchObject({ status: 'running', payload: 'old' })
    expect((await claimOne(store)).payload).toBe('new')
  })

  it('FAIL-8 a job that fails while it is to give its key away is replaced', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, user] = [await connect(), await connect()]
    const lease = await startOne(store, { dedupeKey: 'k', payload: 'old' })

    await worker.begin()
    expect(await fail(worker.store, lease)).toMatchObject({ outcome: 'retried' })
    const late = await startBlocked(user, worker, () => replace(user.store, 'new'))
    await worker.commit()

    expect(await late.answer).toEqual([{ jobId: lease.jobId, outcome: 'replaced' }])
    expect(await readJob(store, lease.jobId)).toMatchObject({
      status: 'waiting',
      payload: 'new',
      failures: 0,
    })
  })

  it('FAIL-8 a job that is enqueued with the key at the same moment is replaced', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const jobId = await enqueueOne(first.store, { dedupeKey: 'k', payload: 'old' })
    const late = await startBlocked(second, first, () => replace(second.store, 'new'))
    await first.commit()

    expect(await late.answer).toEqual([{ jobId, outcome: 'replaced' }])
    expect(await readJob(store, jobId)).toMatchObject({ status: 'waiting', payload: 'new' })
  })

  it('FAIL-8 a replacement of a running job leaves its completion valid', async () => {
    const { store, connect, startBlocked } = opened()
    const [user, worker] = [await connect(), await connect()]
    const lease = await startOne(store, { dedupeKey: 'k', payload: 'old' })

    await user.begin()
    expect(await replace(user.store, 'new')).toMatchObject([{ outcome: 'created' }])
    const late = await startBlocked(worker, user, () => complete(worker.store, lease))
    await user.commit()
    expect(await late.answer).toBe('completed')
  })

  it.each([false, true])(
    'FAIL-8 C12 jobs are locked in the order of their ids, whatever the order of their keys (running: %s)',
    async (isRunning) => {
      const { store, connect, startBlocked } = opened()
      const [operator, user] = [await connect(), await connect()]
      const first = await enqueueOne(store, { dedupeKey: 'a' })
      if (isRunning) await claimOne(store)
      const second = await enqueueOne(store, { dedupeKey: 'b' })

      await operator.begin()
      await cancel(operator.store, first)
      const late = await startBlocked(user, operator, () =>
        user.store.enqueueJobs(
          ['b', 'a'].map((key) => ({ type: 'encode', payload: 'new', dedupe: { key, replace: true } })),
        ),
      )
      // With the row of the second job locked already, each would wait for the other.
      expect(await cancel(operator.store, second)).toBe('cancelled')
      await operator.commit()

      expect((await late.answer).map(({ outcome }) => outcome)).toEqual(['created', 'created'])
    },
  )

  it('FAIL-8 twenty at once leave one waiting job', async () => {
    const { connectMany, pool } = opened()
    const users = await connectMany(20)
    const answers = (await Promise.all(users.map(({ store }, index) => replace(store, String(index))))).flat()
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect((await pool.query('select id from unstuck.jobs')).rows).toHaveLength(1)
  })
})
