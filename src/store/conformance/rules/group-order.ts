import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../job/lease.ts'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobStore } from '../../job-store.ts'
import {
  cancel,
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  fail,
  HOUR,
  MINUTE,
  plainPolicy,
  readJob,
  release,
  SECOND,
  sweep,
  TYPE,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

const idsOf = (claimed: ClaimedJob[]) => claimed.map(({ jobId }) => jobId)

async function ordered(store: JobStore): Promise<void> {
  await store.writePolicy(plainPolicy)
  await store.limitQueue(TYPE, { groupOrder: 'fifo' })
}

/** Groups whose jobs run one at a time, in the order of their ids. */
export function describeGroupOrder<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('groups in order', () => {
    it('RATE-7 the one group that can start is found among hundreds whose first job is not due yet', async () => {
      const { store } = opened()
      await ordered(store)
      for (let nth = 0; nth < 150; nth += 1) {
        await enqueueOne(store, { group: `blocked ${nth}`, delayMs: HOUR })
        await enqueueOne(store, { group: `blocked ${nth}` })
      }
      const free = await enqueueOne(store, { group: 'free' })
      expect(idsOf(await claimMany(store, { limit: 1 }))).toEqual([free])
    })

    it('RATE-7 the jobs of a group run one after the other, whatever their priority', async () => {
      const { store } = opened()
      await ordered(store)
      const ids: string[] = []
      for (const priority of [5, 0, 9, -5])
        ids.push(...(await enqueueMany(store, 2, { group: 'a', priority })))
      const seen: string[] = []
      for (const _ of ids) {
        const claimed = await claimMany(store)
        expect(claimed).toHaveLength(1)
        expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
        seen.push(...idsOf(claimed))
        await complete(store, claimed[0] as ClaimedJob)
      }
      expect(seen).toEqual(ids)
    })

    it('RATE-7 groups in order do not wait for each other', async () => {
      const { store } = opened()
      await ordered(store)
      const [a1] = await enqueueMany(store, 2, { group: 'a', priority: 1 })
      const [b1] = await enqueueMany(store, 2, { group: 'b' })
      expect(new Set(idsOf(await claimMany(store)))).toEqual(new Set([a1, b1]))
    })

    it('RATE-7 a head in backoff blocks its group until it has run', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      const [first, second] = await enqueueMany(store, 2, { group: 'a' })
      await fail(store, await claimOne(store), { retryInMs: HOUR })
      expect(await claimMany(store)).toEqual([])
      const facts = await store.readJobFacts(second as string)
      expect(facts?.limit).toMatchObject({ groupRunning: 0, headId: first })
      expect(facts === null ? null : explainJob(facts).reasons[0]).toMatchObject({ code: 'GROUP_ORDER' })
      await elapse(HOUR + SECOND)
      const again = await claimMany(store)
      expect(idsOf(again)).toEqual([first])
      await complete(store, again[0] as ClaimedJob)
      expect(idsOf(await claimMany(store))).toEqual([second])
    })

    it('RATE-7 FAIL-8 a head whose retry would come after its expiry does not block its group', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      const first = await enqueueOne(store, { group: 'a', ttlMs: 10 * MINUTE })
      const [second, third] = await enqueueMany(store, 2, { group: 'a' })
      await fail(store, await claimOne(store), { retryInMs: HOUR })
      expect(await claimMany(store)).toEqual([])
      await elapse(11 * MINUTE)
      expect((await store.readJobFacts(third as string))?.limit).toMatchObject({ headId: second })
      const next = await claimOne(store)
      expect(next.jobId).toBe(second)
      await complete(store, next)
      await elapse(HOUR)
      expect((await claimOne(store)).jobId).toBe(third)
      expect(await readJob(store, first)).toMatchObject({ status: 'dead', error: { code: 'EXPIRED' } })
    })

    it('RATE-7 a head that starts later blocks its group', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      const first = await enqueueOne(store, { group: 'a', delayMs: HOUR })
      await enqueueOne(store, { group: 'a' })
      expect(await claimMany(store)).toEqual([])
      await elapse(HOUR + SECOND)
      expect(idsOf(await claimMany(store))).toEqual([first])
    })

    it.each(['dead', 'cancelled', 'expired'] as const)('RATE-7 a head that is %s does not', async (end) => {
      const { store, elapse } = opened()
      await ordered(store)
      const head = await enqueueOne(store, { group: 'a', ...(end === 'expired' ? { ttlMs: MINUTE } : {}) })
      const next = await enqueueOne(store, { group: 'a' })
      if (end === 'dead') await fail(store, await claimOne(store), { category: 'PERMANENT' })
      if (end === 'cancelled') await cancel(store, head)
      if (end === 'expired') await elapse(2 * MINUTE)
      expect(idsOf(await claimMany(store))).toEqual([next])
      expect((await readJob(store, head)).status).toBe(end === 'cancelled' ? 'cancelled' : 'dead')
    })

    it('RATE-7 hundreds of expired heads do not block their groups', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      for (const group of ['a', 'b', 'c']) await enqueueMany(store, 400, { group, ttlMs: MINUTE })
      const live = [
        await enqueueOne(store, { group: 'a' }),
        await enqueueOne(store, { group: 'b' }),
        await enqueueOne(store, { group: 'c' }),
      ]
      await elapse(2 * MINUTE)
      expect(idsOf(await claimMany(store)).toSorted()).toEqual(live.toSorted())
    })

    it('RATE-7 an expired job behind one that has not expired is not ended before its turn', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      const expiring = { group: 'a', ttlMs: MINUTE }
      const ids = [
        await enqueueOne(store, expiring),
        await enqueueOne(store, { group: 'a' }),
        await enqueueOne(store, expiring),
      ]
      await elapse(2 * MINUTE)
      expect(idsOf(await claimMany(store, { limit: 1 }))).toEqual([ids[1]])
      const statuses = await Promise.all(ids.map(async (id) => (await readJob(store, id)).status))
      expect(statuses).toEqual(['dead', 'running', 'waiting'])
    })

    it('RATE-7 a job that was released or reaped is the head again', async () => {
      const { store, elapse } = opened()
      await ordered(store)
      const [first] = await enqueueMany(store, 3, { group: 'a' })
      await release(store, await claimOne(store))
      await elapse(MINUTE)
      expect((await claimOne(store)).jobId).toBe(first)
      await elapse(2 * MINUTE)
      expect(await claimMany(store)).toEqual([])
      await sweep(store)
      expect(idsOf(await claimMany(store))).toEqual([first])
    })

    it('RATE-7 a job that was retried by hand takes its place by id', async () => {
      const { store } = opened()
      await ordered(store)
      const [first, second, third] = await enqueueMany(store, 3, { group: 'a' })
      await fail(store, await claimOne(store), { category: 'PERMANENT' })
      const running = await claimOne(store)
      expect(running.jobId).toBe(second)
      await store.retryJobs([first as string])
      expect(await claimMany(store)).toEqual([])
      await complete(store, running)
      const again = await claimOne(store)
      expect(again.jobId).toBe(first)
      await complete(store, again)
      expect((await claimOne(store)).jobId).toBe(third)
    })

    it('RATE-7 SEE-8 the jobs ahead are those with a smaller id, whatever their priority and their due time', async () => {
      const { store } = opened()
      await ordered(store)
      const ids = [
        await enqueueOne(store, { group: 'a', delayMs: HOUR, priority: 5 }),
        await enqueueOne(store, { group: 'a' }),
        await enqueueOne(store, { group: 'a', priority: -5 }),
      ]
      await enqueueOne(store, { group: 'b' })
      const facts = await Promise.all(ids.map((id) => store.readJobFacts(id)))
      expect(facts.map((of) => of?.ahead)).toEqual([0, 1, 2])
    })

    it('RATE-7 a claim by id starts the head alone', async () => {
      const { store } = opened()
      await ordered(store)
      const [first, second] = await enqueueMany(store, 2, { group: 'a' })
      const claim = (jobId: string | undefined) => store.claimJob(jobId as string, { workerId: 'w' })
      expect(await claim(second)).toBe('not-claimable')
      expect(await claim(first)).toMatchObject({ jobId: first })
      expect(await claim(second)).toBe('not-claimable')
    })

    it('RATE-7 a head of another type blocks its group for a worker without that type', async () => {
      const { store } = opened()
      await ordered(store)
      const head = await enqueueOne(store, { type: 'mail', queue: TYPE, group: 'a' })
      await enqueueOne(store, { group: 'a' })
      expect(await claimMany(store, { types: [TYPE] })).toEqual([])
      expect(idsOf(await claimMany(store, { types: [TYPE, 'mail'] }))).toEqual([head])
    })

    it('RATE-7 a job made due by hand does not overtake the head', async () => {
      const { store } = opened()
      await ordered(store)
      await enqueueOne(store, { group: 'a', delayMs: HOUR })
      const second = await enqueueOne(store, { group: 'a', delayMs: HOUR })
      await store.runJobsNow([second])
      expect(await claimMany(store)).toEqual([])
    })
  })
}
