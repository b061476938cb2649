// Claims that meet in one group, or in one limited queue.
import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import {
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  fail,
  HOUR,
  TYPE,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { QueueLimits } from '../../../src/store/ports/dependency-store.ts'
import { buildGates, closeGate } from '../gate.ts'
import { type Connection, isolationLevels, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench({ setUp: buildGates })

async function connectTwo(race: Race): Promise<[Connection, Connection]> {
  const [one, two] = await race.connectMany(2)
  if (!one || !two) throw new Error('there are not two connections')
  return [one, two]
}

async function claimRepeatedly(store: JobStore, times: number): Promise<ClaimedJob[]> {
  const claimed: ClaimedJob[] = []
  for (let nth = 0; nth < times; nth += 1) claimed.push(...(await claimMany(store, { limit: 3 })))
  return claimed
}

async function mostRunning(race: Race): Promise<number> {
  const { rows } = await race.pool.query<{ most: number }>(
    `select coalesce(max(jobs), 0)::int as most
       from (select count(*) as jobs from unstuck.jobs where status = 'running' group by queue, group_key) running`,
  )
  return rows[0]?.most ?? 0
}

describe('one group', () => {
  it('RATE-7 claims at once never start more of its jobs than its limit', async () => {
    const race = opened()
    await race.store.limitQueue(TYPE, { groupConcurrency: 2 })
    for (const group of ['a', 'b', 'c']) await enqueueMany(race.store, 20, { group })
    const connections = await race.connectMany(6)
    for (let round = 0; round < 5; round += 1) {
      const claims = await Promise.all(connections.map(({ store }) => claimRepeatedly(store, 4)))
      expect(await mostRunning(race)).toBeLessThanOrEqual(2)
      await Promise.all(claims.flat().map((job) => complete(race.store, job)))
    }
  })

  it('RATE-7 a claim counts what another has granted and committed after it began', async () => {
    const race = opened()
    const [first, second] = await connectTwo(race)
    await race.store.limitQueue(TYPE, { groupConcurrency: 1 })
    await enqueueMany(race.store, 2, { group: 'a' })
    // Read committed, but with a snapshot for each statement: the second transaction began before the first claim.
    await second.begin()
    await second.query('select count(*) from unstuck.jobs')
    expect(await claimMany(first.store)).toHaveLength(1)
    expect(await claimMany(second.store)).toEqual([])
    await second.commit()
  })

  it('RATE-7 a claim does not wait for another that is in the group, and takes other groups', async () => {
    const race = opened()
    const [holder, claimer] = await connectTwo(race)
    await race.store.limitQueue(TYPE, { groupConcurrency: 2 })
    await enqueueMany(race.store, 2, { group: 'a' })
    await holder.begin()
    expect(await claimMany(holder.store, { limit: 1 })).toHaveLength(1)
    expect(await claimMany(claimer.store)).toEqual([])
    const other = await enqueueOne(race.store, { group: 'b' })
    expect((await claimMany(claimer.store)).map(({ jobId }) => jobId)).toEqual([other])
    await holder.rollback()
    expect(await claimMany(claimer.store)).toHaveLength(2)
  })

  it.each(isolationLevels)(
    'RATE-7 at %s an older snapshot starts no job past the limit',
    async (isolation) => {
      const race = opened()
      const [early, late] = await connectTwo(race)
      await race.store.limitQueue(TYPE, { groupConcurrency: 1 })
      await enqueueMany(race.store, 2, { group: 'a' })
      await early.begin(isolation)
      await early.query('select count(*) from unstuck.jobs')
      expect(await claimMany(late.store)).toHaveLength(1)
      const claimed = await claimMany(early.store).catch((error: unknown) => error)
      if (Array.isArray(claimed)) expect(claimed).toEqual([])
      else expect(claimed).toMatchObject({ code: 'DATABASE_CONFLICT' })
      await early.rollback()
      expect(await mostRunning(race)).toBe(1)
    },
  )
})

describe('a group in order', () => {
  it('RATE-7 a head that comes back while a claim is in flight is not overtaken', async () => {
    const race = opened()
    const [claimer, worker] = await connectTwo(race)
    await race.store.limitQueue(TYPE, { groupOrder: 'fifo' })
    const [first] = await enqueueMany(race.store, 2, { group: 'a' })
    const running = await claimOne(race.store)
    await claimer.begin()
    // The claimer has seen the head running; then it fails, and waits for an hour.
    expect(await claimMany(claimer.store)).toEqual([])
    await fail(worker.store, running, { retryInMs: HOUR })
    expect(await claimMany(claimer.store)).toEqual([])
    await claimer.commit()
    expect((await race.store.getJob(first as string))?.status).toBe('waiting')
  })

  it('RATE-7 a head whose row somebody else has locked is not overtaken', async () => {
    const race = opened()
    const [operator, claimer] = await connectTwo(race)
    await race.store.limitQueue(TYPE, { groupOrder: 'fifo' })
    const [first, second] = await enqueueMany(race.store, 2, { group: 'a' })
    await operator.begin()
    await operator.query('select from unstuck.jobs where id = $1 for update', [first])
    expect(await claimMany(claimer.store)).toEqual([])
    await operator.rollback()
    const claimed = await claimMany(claimer.store)
    expect(claimed.map(({ jobId }) => jobId)).toEqual([first])
    expect(await claimer.store.claimJob(second as string, { workerId: 'w' })).toBe('not-claimable')
  })

  it('RATE-7 many workers run the jobs of every group in the order of their ids', async () => {
    const race = opened()
    await race.store.limitQueue(TYPE, { groupOrder: 'fifo' })
    const groups = ['a', 'b', 'c', 'd']
    const enqueued = await race.store.enqueueJobs(
      Array.from({ length: 80 }, (_, n) => ({ type: TYPE, group: groups[n % 4], priority: n % 3 })),
    )
    const order: string[] = []
    const connections = await race.connectMany(4)
    await Promise.all(
      connections.map(async ({ store }) => {
        while (order.length < 80) {
          for (const job of await claimMany(store, { limit: 2 })) {
            order.push(job.jobId)
            await complete(store, job)
          }
        }
      }),
    )
    for (const [n] of groups.entries()) {
      const ids = enqueued.filter((_, place) => place % 4 === n).map(({ jobId }) => jobId)
      expect(order.filter((jobId) => ids.includes(jobId))).toEqual(ids)
    }
  })
})

describe('a limited queue', () => {
  it('RATE-7 claims at once never start more of its jobs than its limit', async () => {
    const race = opened()
    await race.store.limitQueue(TYPE, { concurrency: 5 })
    await enqueueMany(race.store, 40)
    await enqueueMany(race.store, 40, { group: 'a' })
    const connections = await race.connectMany(6)
    for (let round = 0; round < 5; round += 1) {
      const claims = await Promise.all(connections.map(({ store }) => claimRepeatedly(store, 3)))
      const { rows } = await race.pool.query(
        `select count(*)::int as jobs from unstuck.jobs where status = 'running'`,
      )
      expect(rows[0].jobs).toBeLessThanOrEqual(5)
      expect(claims.flat().length).toBeGreaterThan(0)
      await Promise.all(claims.flat().map((job) => complete(race.store, job)))
    }
  })

  it.each(isolationLevels)(
    'RATE-7 at %s an older snapshot starts no job past its limit',
    async (isolation) => {
      const race = opened()
      const [early, late] = await connectTwo(race)
      await race.store.limitQueue(TYPE, { concurrency: 1 })
      await enqueueMany(race.store, 2)
      await early.begin(isolation)
      await early.query('select count(*) from unstuck.jobs')
      expect(await claimMany(late.store)).toHaveLength(1)
      const claimed = await claimMany(early.store).catch((error: unknown) => error)
      if (Array.isArray(claimed)) expect(claimed).toEqual([])
      else expect(claimed).toMatchObject({ code: 'DATABASE_CONFLICT' })
      await early.rollback()
    },
  )
})

describe('a claim that has counted what runs and has not picked its job yet', () => {
  const limits: [name: string, limits: QueueLimits][] = [
    ['a group', { groupConcurrency: 1 }],
    ['a group in order', { groupOrder: 'fifo' }],
    ['a queue', { concurrency: 1 }],
  ]

  it.each(limits)(
    'RATE-7 keeps others from the last place of %s, without letting them wait',
    async (_, limit) => {
      const race = opened()
      const [slow, quick, keeper] = [await race.connect(), await race.connect(), await race.connect()]
      await race.store.limitQueue(TYPE, limit)
      const [first] = await enqueueMany(race.store, 3, { group: 'a' })
      // The budget of a job is looked at only if the job has run before.
      await race.pool.query('update unstuck.jobs set failures = 1')

      const gate = await closeGate(race.pool, keeper, slow, 'has_budget')
      const late = await gate.arrive(() => claimMany(slow.store))
      expect(await claimMany(quick.store)).toEqual([])
      await gate.open()

      expect((await late.answer).map(({ jobId }) => jobId)).toEqual([first])
      expect(await claimMany(quick.store)).toEqual([])
      expect(await mostRunning(race)).toBe(1)
    },
  )
})

it('RATE-7 a claim that saw a full group says so, also if a job of the group ends before it answers', async () => {
  const race = opened()
  const [claimer, worker, keeper] = [await race.connect(), await race.connect(), await race.connect()]
  await race.store.limitQueue(TYPE, { groupConcurrency: 1 })
  await enqueueMany(race.store, 2, { group: 'a' })
  const running = await claimOne(race.store)

  const heldBack: string[] = []
  const gate = await closeGate(race.pool, keeper, claimer, 'groups_from')
  const late = await gate.arrive(() =>
    claimMany(claimer.store, { onHeldBack: (queues) => void heldBack.push(...queues) }),
  )
  await complete(worker.store, running)
  await gate.open()

  expect(await late.answer).toEqual([])
  expect(heldBack).toEqual([TYPE])
})
