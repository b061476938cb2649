import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../job/lease.ts'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobStore } from '../../job-store.ts'
import {
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  HOUR,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, StoreHarness } from '../harness.ts'

const idsOf = (claimed: ClaimedJob[]) => claimed.map(({ jobId }) => jobId)

async function groupOf(store: JobStore, { jobId }: ClaimedJob): Promise<string | null> {
  return (await readJob(store, jobId)).group
}

async function limited(store: JobStore, groupConcurrency: number): Promise<void> {
  await store.writePolicy(plainPolicy)
  await store.limitQueue(TYPE, { groupConcurrency })
}

/** Groups of jobs: turns, and how many jobs of each run at once. */
export function describeGroups<Tx>(opened: () => StoreHarness<Tx>, { isSharded }: ConformanceOptions): void {
  describe('groups', () => {
    it('RATE-7 the group of a job is kept in its row', async () => {
      const { store } = opened()
      const grouped = await enqueueOne(store, { group: 'tenant 1' })
      expect((await readJob(store, grouped)).group).toBe('tenant 1')
      expect((await readJob(store, await enqueueOne(store))).group).toBeNull()
    })

    it('RATE-7 as many jobs of each group run as its limit', async () => {
      const { store } = opened()
      await limited(store, 2)
      const [a1, a2, a3] = await enqueueMany(store, 3, { group: 'a' })
      const [b1] = await enqueueMany(store, 1, { group: 'b' })
      const claimed = await claimMany(store)
      expect(new Set(idsOf(claimed))).toEqual(new Set([a1, a2, b1]))
      expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
      const ended = claimed.find(({ jobId }) => jobId === a1)
      await complete(store, ended as ClaimedJob)
      expect(idsOf(await claimMany(store))).toEqual([a3])
    })

    it('RATE-7 a claim of many takes only as many of a group as it has places left', async () => {
      const { store } = opened()
      await limited(store, 3)
      const jobs = await enqueueMany(store, 6, { group: 'a' })
      expect(idsOf(await claimMany(store, { limit: 1 }))).toEqual(jobs.slice(0, 1))
      expect(idsOf(await claimMany(store))).toEqual(jobs.slice(1, 3))
    })

    it('RATE-7 groups with jobs of other types only do not delay the claim of a worker that handles few', async () => {
      const { store } = opened()
      await limited(store, 1)
      for (let nth = 0; nth < 150; nth += 1)
        await enqueueOne(store, { type: 'other', queue: TYPE, group: `other ${nth}` })
      const mine = await enqueueOne(store, { group: 'theirs and mine' })
      expect(idsOf(await claimMany(store, { limit: 1, types: [TYPE] }))).toEqual([mine])
    })

    it('RATE-7 a job without a group has no limit of groups', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueMany(store, 2, { group: 'a' })
      const free = await enqueueMany(store, 3)
      const claimed = idsOf(await claimMany(store))
      expect(claimed).toHaveLength(4)
      expect(claimed).toEqual(expect.arrayContaining(free))
    })

    it('RATE-7 equal names of groups in two queues are two groups', async () => {
      const { store } = opened()
      await limited(store, 1)
      await store.limitQueue('mail', { groupConcurrency: 1 })
      await enqueueMany(store, 2, { group: 'a' })
      await enqueueMany(store, 2, { group: 'a', type: 'mail' })
      const claimed = await claimMany(store, { queues: [TYPE, 'mail'] })
      expect(claimed.map(({ type }) => type).toSorted()).toEqual([TYPE, 'mail'])
    })

    it.skipIf(isSharded === true)(
      'RATE-7 the limit of the queue holds beside that of its groups',
      async () => {
        const { store } = opened()
        await store.limitQueue(TYPE, { concurrency: 3, groupConcurrency: 2 })
        for (const group of ['a', 'b', 'c']) await enqueueMany(store, 3, { group })
        expect(await claimMany(store)).toHaveLength(3)
        expect(await claimMany(store)).toEqual([])
      },
    )

    it.skipIf(isSharded === true)(
      'RATE-7 many jobs of one group delay the first job of another by one turn',
      async () => {
        const { store } = opened()
        await enqueueMany(store, 50, { group: 'a' })
        const [first] = await enqueueMany(store, 1, { group: 'b' })
        expect(idsOf(await claimMany(store, { limit: 2 }))).toContain(first)
      },
    )

    it.skipIf(isSharded === true)('RATE-7 claims of single jobs go from group to group', async () => {
      const { store } = opened()
      for (const group of ['c', 'a', 'd', 'b']) await enqueueMany(store, 5, { group })
      const groups: (string | null)[] = []
      for (let turn = 0; turn < 4; turn += 1) groups.push(await groupOf(store, await claimOne(store)))
      expect(new Set(groups)).toEqual(new Set(['a', 'b', 'c', 'd']))
    })

    it.skipIf(isSharded === true)(
      'RATE-7 groups take turns in each priority, whatever runs before',
      async () => {
        const { store } = opened()
        await limited(store, 1)
        for (const group of ['a', 'b', 'c']) await enqueueMany(store, 5, { group, priority: 5 })
        await enqueueMany(store, 9, { group: 'urgent' })
        const turns: (string | null)[] = []
        for (let turn = 0; turn < 3; turn += 1) {
          // The group of a more urgent priority is full for this claim, and not for the next one.
          const urgent = await claimOne(store)
          const late = await claimOne(store)
          turns.push(await groupOf(store, late))
          await complete(store, urgent)
          await complete(store, late)
        }
        expect(new Set(turns)).toEqual(new Set(['a', 'b', 'c']))
      },
    )

    it('RATE-7 every job of every group is claimed in the end', async () => {
      const { store } = opened()
      await limited(store, 3)
      for (let n = 0; n < 7; n += 1) await enqueueMany(store, 5, { group: `group ${n}`, priority: n % 3 })
      const free = await enqueueMany(store, 5)
      const seen = new Set<string>()
      for (let round = 0; round < 100 && seen.size < 40; round += 1) {
        const claimed = await claimMany(store, { limit: 4 })
        for (const job of claimed) {
          expect(seen.has(job.jobId)).toBe(false)
          seen.add(job.jobId)
          await complete(store, job)
        }
      }
      expect(seen.size).toBe(40)
      expect([...seen]).toEqual(expect.arrayContaining(free))
    })

    it('RATE-7 jobs of a group that are not due do not hold back the others', async () => {
      const { store, elapse } = opened()
      await limited(store, 1)
      const late = await enqueueOne(store, { group: 'a', delayMs: HOUR })
      const due = await enqueueOne(store, { group: 'a' })
      const claimed = await claimMany(store)
      expect(idsOf(claimed)).toEqual([due])
      await complete(store, claimed[0] as ClaimedJob)
      expect(await claimMany(store)).toEqual([])
      await elapse(HOUR + SECOND)
      expect(idsOf(await claimMany(store))).toEqual([late])
    })

    it('RATE-7 urgent jobs of a group come first', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueOne(store, { group: 'a', priority: 3 })
      const urgent = await enqueueOne(store, { group: 'a', priority: -3 })
      expect(idsOf(await claimMany(store))).toEqual([urgent])
    })

    it('RATE-7 a crash frees the place in the group when it is reaped', async () => {
      const { store, elapse } = opened()
      await limited(store, 1)
      await enqueueMany(store, 2, { group: 'a' })
      await claimOne(store)
      await elapse(2 * MINUTE)
      expect(await claimMany(store)).toEqual([])
      await sweep(store)
      expect(await claimMany(store)).toHaveLength(1)
    })

    it('RATE-7 a claim by id keeps to the limit of the group', async () => {
      const { store } = opened()
      await limited(store, 1)
      const [first, second] = await enqueueMany(store, 2, { group: 'a' })
      expect(await store.claimJob(second as string, { workerId: 'w' })).toMatchObject({ jobId: second })
      expect(await store.claimJob(first as string, { workerId: 'v' })).toBe('not-claimable')
    })

    it('RATE-7 a claim of other types leaves the jobs of a group alone', async () => {
      const { store } = opened()
      await limited(store, 1)
      await enqueueOne(store, { group: 'a' })
      const other = await enqueueOne(store, { type: 'mail', queue: TYPE, group: 'a' })
      expect(idsOf(await claimMany(store, { types: ['mail'] }))).toEqual([other])
    })

    it('RATE-7 an expired job takes no place of its group', async () => {
      const { store, elapse } = opened()
      await limited(store, 1)
      const expired = await enqueueOne(store, { group: 'a', ttlMs: MINUTE })
      const next = await enqueueOne(store, { group: 'a' })
      await elapse(2 * MINUTE)
      expect(idsOf(await claimMany(store))).toEqual([next])
      expect((await readJob(store, expired)).status).toBe('dead')
    })

    // Each shard has as many.
    it.skipIf(isSharded === true)(
      'RATE-7 BREAK-3 a half-open breaker lets as many grouped jobs through as it has slots',
      async () => {
        const { store, elapse } = opened()
        await limited(store, 2)
        await store.mapDependency(TYPE, 'gateway')
        await store.writeBreaker('gateway', { cooldownMs: MINUTE, probeSlots: 2 })
        await store.recordCalls(
          'gateway',
          Array.from({ length: 20 }, () => ({ isFailure: true })),
        )
        for (const group of ['a', 'b', 'c']) await enqueueMany(store, 2, { group })
        expect(await claimMany(store)).toEqual([])
        await elapse(MINUTE + SECOND)
        const claimed = await claimMany(store)
        expect(claimed.length + (await claimMany(store)).length).toBe(2)
      },
    )

    it('RATE-7 OPS-5 a job that waits for its group says so', async () => {
      const { store } = opened()
      await limited(store, 1)
      const [, waiting] = await enqueueMany(store, 2, { group: 'a' })
      await claimOne(store)
      const facts = await store.readJobFacts(waiting as string)
      expect(facts?.limit).toMatchObject({ group: 'a', groupConcurrency: 1, groupRunning: 1 })
      expect(facts === null ? null : explainJob(facts).reasons[0]).toMatchObject({
        code: 'GROUP_FULL',
        message: '1 of 1 jobs of its group a run',
      })
    })

    it('RATE-7 a job with a group is due like any other, and counted among the waiting ones', async () => {
      const { store } = opened()
      await enqueueMany(store, 2, { group: 'a' })
      await enqueueOne(store)
      expect(await store.hasDueJobs([TYPE])).toBe(true)
      expect((await store.listQueues()).queues).toMatchObject([{ queue: TYPE, waiting: 3, due: 3 }])
      const { jobs } = await store.listJobs({ status: 'waiting' })
      expect(jobs).toHaveLength(3)
    })

    it('RATE-7 refuses a group that no row can hold', async () => {
      const { store } = opened()
      const refused = { code: 'INVALID_ARGUMENT' }
      await expect(enqueueOne(store, { group: '' })).rejects.toMatchObject(refused)
      await expect(enqueueOne(store, { group: 'x'.repeat(201) })).rejects.toMatchObject(refused)
      expect((await readJob(store, await enqueueOne(store, { group: '日'.repeat(200) }))).group).toHaveLength(
        200,
      )
    })
  })
}
