// Dedupe keys of an attached table, which has no unique index on them: enqueues and retries meet in rows of ours.
import { describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { complete, readJob, startDead, startOne } from '../../../src/store/conformance/builders.ts'
import type { EnqueuedJob, JobStore } from '../../../src/store/job-store.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { raceBench } from '../race-bench.ts'

const [table] = clipProfile.tables
const opened = raceBench({ bench: { profile: clipProfile, table, applicationSql: clipTables } })

function enqueue(store: JobStore, ...keys: string[]): Promise<EnqueuedJob[]> {
  return store.enqueueJobs(keys.map((dedupeKey) => ({ type: 'encode', dedupeKey })))
}

describe('enqueues with one dedupe key', () => {
  it("WORK-7 the second waits for the first, then answers duplicate with the first's id", async () => {
    const { connect, startBlocked, pool } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const [created] = await enqueue(first.store, 'invoice-1')
    const late = await startBlocked(second, first, () => enqueue(second.store, 'invoice-1'))
    await first.commit()

    expect(created?.outcome).toBe('created')
    expect(await late.answer).toEqual([{ jobId: created?.jobId, outcome: 'duplicate' }])
    expect((await pool.query('select id from jobs')).rows).toEqual([{ id: created?.jobId }])
  })

  it('WORK-7 where the first is rolled back, the second creates', async () => {
    const { connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    await enqueue(first.store, 'invoice-1')
    const late = await startBlocked(second, first, () => enqueue(second.store, 'invoice-1'))
    await first.rollback()

    expect(await late.answer).toMatchObject([{ outcome: 'created' }])
  })

  it('WORK-7 nobody waits for an enqueue without a key, or with another one', async () => {
    const { connect, pool } = opened()
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    await enqueue(first.store, 'invoice-1')
    expect(await enqueue(second.store, 'invoice-2')).toMatchObject([{ outcome: 'created' }])
    expect(await second.store.enqueueJobs([{ type: 'encode' }])).toMatchObject([{ outcome: 'created' }])
    await first.commit()

    expect((await pool.query('select from jobs')).rowCount).toBe(3)
  })

  it('WORK-7 a complete that is not committed yet has not freed the key', async () => {
    const { store, connect } = opened()
    const worker = await connect()
    const lease = await startOne(store, { dedupeKey: 'invoice-1', type: 'encode' })

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    expect(await enqueue(store, 'invoice-1')).toEqual([{ jobId: lease.jobId, outcome: 'duplicate' }])
    await worker.commit()
    expect(await enqueue(store, 'invoice-1')).toMatchObject([{ outcome: 'created' }])
  })

  it('WORK-7 a transaction with an older snapshot fails, and does not write a second job', async () => {
    const { connect, pool, store } = opened()
    const user = await connect()

    await user.begin('repeatable read')
    await user.query('select from jobs')
    await enqueue(store, 'invoice-1')
    await expect(enqueue(user.store, 'invoice-1')).rejects.toMatchObject({ code: 'DATABASE_CONFLICT' })
    await user.rollback()

    expect((await pool.query('select from jobs')).rowCount).toBe(1)
  })

  it('WORK-7 batches in opposite orders do not deadlock, and create each job once', async () => {
    const { connect, pool } = opened()
    const [up, down] = [await connect(), await connect()]
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 40 }, (_, index) => `${round}-${index}`)
      const answers = await Promise.all([
        enqueue(up.store, ...keys),
        enqueue(down.store, ...keys.toReversed()),
      ])
      expect(answers[1].map(({ jobId }) => jobId)).toEqual(answers[0].map(({ jobId }) => jobId).toReversed())
    }
    expect((await pool.query('select from jobs')).rowCount).toBe(800)
  })
})

describe('retries of jobs that share a dedupe key', () => {
  it('OPS-1, WORK-7 of two jobs with one key, retried at once, one comes back and the other answers duplicate', async () => {
    const { store, connect, startBlocked } = opened()
    const [first, second] = [await connect(), await connect()]
    const one = await startDead(store, { dedupeKey: 'invoice-1' })
    const other = await startDead(store, { dedupeKey: 'invoice-1' })

    await first.begin()
    expect(await first.store.retryJobs([one])).toMatchObject([{ outcome: 'retried' }])
    const late = await startBlocked(second, first, () => second.store.retryJobs([other]))
    await first.commit()

    expect(await late.answer).toMatchObject([{ outcome: 'duplicate' }])
    expect(await readJob(store, other)).toMatchObject({ status: 'dead', generation: 1 })
  })

  it('OPS-1, WORK-7 a retry that waited for an enqueue with its key answers duplicate', async () => {
    const { store, connect, startBlocked } = opened()
    const [user, operator] = [await connect(), await connect()]
    const dead = await startDead(store, { dedupeKey: 'invoice-1', type: 'encode' })

    await user.begin()
    expect(await enqueue(user.store, 'invoice-1')).toMatchObject([{ outcome: 'created' }])
    const late = await startBlocked(operator, user, () => operator.store.retryJobs([dead]))
    await user.commit()

    expect(await late.answer).toMatchObject([{ outcome: 'duplicate' }])
  })
})
