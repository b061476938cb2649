// Enqueues with the same dedupe keys from several transactions.
import { describe, expect, it } from 'vitest'
import { claimOne, complete, readJob, startOne } from '../../../src/store/conformance/builders.ts'
import type { EnqueuedJob, JobStore } from '../../../src/store/job-store.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench()

function enqueue(store: JobStore, ...keys: string[]): Promise<EnqueuedJob[]> {
  return store.enqueueJobs(keys.map((dedupeKey) => ({ type: 'encode', dedupeKey })))
}

describe('two enqueues with one dedupe key', () => {
  it("WORK-7 the second waits for the first, then answers duplicate with the first's id", async () => {
    const { connect, startBlocked, pool } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const [created] = await enqueue(first.store, 'invoice-1')
    const late = await startBlocked(second, first, () => enqueue(second.store, 'invoice-1'))
    await first.commit()

    expect(created?.outcome).toBe('created')
    expect(await late.answer).toEqual([{ jobId: created?.jobId, outcome: 'duplicate' }])
    const { rows } = await pool.query('select id from unstuck.jobs')
    expect(rows).toEqual([{ id: created?.jobId }])
  })

  it('WORK-7 where the first is rolled back, the second creates', async () => {
    const { connect, startBlocked, pool } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const [undone] = await enqueue(first.store, 'invoice-1')
    const late = await startBlocked(second, first, () => enqueue(second.store, 'invoice-1'))
    await first.rollback()

    const [created] = await late.answer
    expect(created?.outcome).toBe('created')
    expect(created?.jobId).not.toBe(undone?.jobId)
    const { rows } = await pool.query('select id from unstuck.jobs')
    expect(rows).toEqual([{ id: created?.jobId }])
  })

  it('WORK-7 the second waits for an uncommitted complete of the job that has the key, and creates after it', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, user] = [await connect(), await connect()]
    const lease = await startOne(store, { dedupeKey: 'invoice-1' })

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    const late = await startBlocked(user, worker, () => enqueue(user.store, 'invoice-1'))
    await worker.commit()

    const [created] = await late.answer
    expect(created?.outcome).toBe('created')
    expect(await readJob(store, String(created?.jobId))).toMatchObject({ status: 'waiting' })
  })

  it('WORK-7 a claim of the job that has the key does not open it', async () => {
    const { store, connect, startBlocked } = opened()
    const [worker, user] = [await connect(), await connect()]
    const [first] = await enqueue(store, 'invoice-1')

    await worker.begin()
    await claimOne(worker.store)
    const late = await startBlocked(user, worker, () => enqueue(user.store, 'invoice-1'))
    await worker.commit()

    expect(await late.answer).toEqual([{ jobId: first?.jobId, outcome: 'duplicate' }])
  })

  it('WORK-7 twenty at once create one job, and all answer its id', async () => {
    const { connectMany, pool } = opened()
    const users = await connectMany(20)

    const answers = (await Promise.all(users.map(({ store }) => enqueue(store, 'invoice-1')))).flat()

    const { rows } = await pool.query<{ id: string }>('select id from unstuck.jobs')
    expect(rows).toHaveLength(1)
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(answers.every(({ jobId }) => jobId === rows[0]?.id)).toBe(true)
  })
})

describe('batches with the same dedupe keys', () => {
  it('WORK-7 a batch takes its keys in one order, however they come: it holds none while it waits for the lowest', async () => {
    const { connect, startBlocked } = opened()
    const [first, second, third] = [await connect(), await connect(), await connect()]

    await first.begin()
    await enqueue(first.store, 'a')
    const late = await startBlocked(second, first, () => enqueue(second.store, 'c', 'b', 'a'))
    const [inBetween] = await enqueue(third.store, 'b')
    expect(inBetween?.outcome).toBe('created')
    await first.commit()

    expect((await late.answer).map(({ outcome }) => outcome)).toEqual(['created', 'duplicate', 'duplicate'])
  })

  it('WORK-7 batches in opposite orders do not deadlock in 40 rounds', async () => {
    const { connect, pool } = opened()
    const [up, down] = [await connect(), await connect()]
    for (let round = 0; round < 40; round++) {
      const keys = Array.from({ length: 40 }, (_, index) => `${round}-${index}`)
      const answers = await Promise.all([
        enqueue(up.store, ...keys),
        enqueue(down.store, ...keys.toReversed()),
      ])

      const created = answers.flat().filter(({ outcome }) => outcome === 'created')
      expect(created).toHaveLength(40)
      expect(answers[1].map(({ jobId }) => jobId)).toEqual(answers[0].map(({ jobId }) => jobId).toReversed())
    }
    const { rows } = await pool.query('select count(*)::int as count from unstuck.jobs')
    expect(rows).toEqual([{ count: 1600 }])
  })
})
