// Waits beside the ends of jobs: whoever waits learns of exactly one end, and nobody waits for a waiting process.
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { cancel, complete, enqueueOne, MINUTE, startOne } from '../../../src/store/conformance/builders.ts'
import { type Race, raceBench } from '../race-bench.ts'

const CHANNEL = 4711
const opened = raceBench({ cleanUp: (pool) => pool.query('truncate unstuck.waits') })

/** Payloads that have arrived by now: notifications arrive in the order of their commits. */
async function listen({ connect, pool }: Race): Promise<() => Promise<(string | undefined)[]>> {
  const { client } = await connect()
  const payloads: (string | undefined)[] = []
  client.on('notification', ({ payload }: pg.Notification) => payloads.push(payload))
  await client.query(`select unstuck.listen_to_waits('native')`)
  return async () => {
    const last = `last ${payloads.length}`
    await pool.query(`select pg_notify('unstuck.native.waits', $1)`, [last])
    await expect.poll(() => payloads.at(-1), { timeout: 30_000 }).toBe(last)
    return payloads.filter((payload) => payload?.startsWith('last') !== true)
  }
}

describe('a wait and the end of its job', () => {
  it('WORK-9 a notification comes with the commit of the end, not before', async () => {
    const race = opened()
    const heard = await listen(race)
    const worker = await race.connect()
    const lease = await startOne(race.store)
    await race.store.beginWaits?.([lease.jobId], CHANNEL, MINUTE)

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    expect(await heard()).toEqual([])
    expect(await race.store.readEnds([lease.jobId])).toEqual([])
    await worker.commit()

    expect(await heard()).toEqual([String(CHANNEL)])
    expect(await race.store.readEnds([lease.jobId])).toMatchObject([{ status: 'succeeded' }])
  })

  it('WORK-9 an end that was written before the wait and commits after its poll is found by the next poll', async () => {
    const { store, connect } = opened()
    const worker = await connect()
    const lease = await startOne(store)

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    await store.beginWaits?.([lease.jobId], CHANNEL, MINUTE)
    expect(await store.readEnds([lease.jobId])).toEqual([])
    await worker.commit()

    expect(await store.readEnds([lease.jobId])).toMatchObject([{ status: 'succeeded' }])
  })

  it.each(['commit', 'rollback'] as const)(
    'WORK-9 an end does not wait for a wait that is about to %s, nor the wait for the end',
    async (conclude) => {
      const { store, connect } = opened()
      const [waiter, worker] = [await connect(), await connect()]
      const lease = await startOne(store)
      await worker.query(`set lock_timeout = '10s'`)

      await waiter.begin()
      await waiter.store.beginWaits?.([lease.jobId], CHANNEL, MINUTE)
      expect(await complete(worker.store, lease)).toBe('completed')
      await waiter[conclude]()

      expect(await store.readEnds([lease.jobId])).toMatchObject([{ status: 'succeeded' }])
    },
  )

  it('WORK-9 a cancel that waited for the completion sends nothing: the job ended once', async () => {
    const race = opened()
    const heard = await listen(race)
    const [worker, operator] = [await race.connect(), await race.connect()]
    const lease = await startOne(race.store)
    await race.store.beginWaits?.([lease.jobId], CHANNEL, MINUTE)

    await worker.begin()
    expect(await complete(worker.store, lease)).toBe('completed')
    const late = await race.startBlocked(operator, worker, () => cancel(operator.store, lease.jobId))
    await worker.commit()

    expect(await late.answer).toBe('already-ended')
    expect(await heard()).toEqual([String(CHANNEL)])
  })

  it('WORK-9 processes that wait for one job at the same time do not wait for each other', async () => {
    const { store, connect } = opened()
    const [first, second] = [await connect(), await connect()]
    const jobId = await enqueueOne(store)
    await second.query(`set lock_timeout = '10s'`)

    await first.begin()
    await first.store.beginWaits?.([jobId], CHANNEL, MINUTE)
    await second.store.beginWaits?.([jobId], CHANNEL + 1, MINUTE)
    await second.store.endWaits?.([jobId], CHANNEL + 1)
    await first.rollback()

    expect(await store.readEnds([jobId])).toEqual([])
  })
})
