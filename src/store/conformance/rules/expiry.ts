import { describe, expect, it } from 'vitest'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobStore } from '../../job-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  complete,
  detailsOf,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  fail,
  HOUR,
  MINUTE,
  plainPolicy,
  readJob,
  startOne,
  storeNow,
  TYPE,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

/** Jobs that are not started after a time. */
export function describeExpiry<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('expiry', () => {
    it('FAIL-8 a job is started until it expires, and never after', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const [early, late] = [
        await enqueueOne(store, { ttlMs: HOUR }),
        await enqueueOne(store, { ttlMs: HOUR }),
      ]
      await elapse(HOUR - MINUTE)
      expect(await claimOne(store)).toMatchObject({ jobId: early })
      await elapse(2 * MINUTE)
      expect(await claimMany(store)).toEqual([])
      const error = {
        code: 'EXPIRED',
        reason: 'not_started_in_time',
        category: null,
        stack: null,
        attempt: 0,
      }
      expect(await readJob(store, late)).toMatchObject({ status: 'dead', error, attempt: 0, runAt: null })
    })

    it('FAIL-8 an expired job has the event expired, and is found among the dead', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const jobId = await enqueueOne(store, { ttlMs: MINUTE })
      await elapse(2 * MINUTE)
      await claimMany(store)
      expect(await detailsOf(store, jobId, 'expired')).toMatchObject({ code: 'EXPIRED', attempt: 0 })
      expect(await eventsOf(store, jobId, 'failed')).toEqual([])
      const { groups } = await store.groupDeadJobs()
      expect(groups).toMatchObject([{ code: 'EXPIRED', jobs: 1 }])
    })

    it('FAIL-8 expired jobs do not count against the limit of the claim that ends them', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      await enqueueMany(store, 3, { ttlMs: MINUTE })
      const live = await enqueueMany(store, 2)
      await elapse(2 * MINUTE)
      const claimed = await claimMany(store, { limit: 2 })
      expect(claimed.map(({ jobId }) => jobId)).toEqual(live)
    })

    it('FAIL-8 a claim by id ends an expired job too', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const jobId = await enqueueOne(store, { ttlMs: MINUTE })
      await elapse(2 * MINUTE)
      expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
      expect((await readJob(store, jobId)).status).toBe('dead')
    })

    it('FAIL-8 a running job is not ended by its expiry, and its retry does not start after it', async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures })
      const done = await startOne(store, { type: 'done', ttlMs: MINUTE }, { leaseMs: HOUR })
      const failed = await startOne(store, { ttlMs: MINUTE }, { leaseMs: HOUR })
      await elapse(2 * MINUTE)
      expect(await complete(store, done)).toBe('completed')
      expect((await fail(store, failed)).outcome).toBe('retried')
      expect(await claimMany(store)).toEqual([])
      expect(await readJob(store, failed.jobId)).toMatchObject({ status: 'dead', error: { code: 'EXPIRED' } })
    })

    it('FAIL-8 a time is taken as it is given, and counts as now if it has passed', async () => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const expiresAt = new Date('2100-01-31T10:00:00Z')
      expect((await readJob(store, await enqueueOne(store, { expiresAt }))).expiresAt).toEqual(expiresAt)
      const past = await enqueueOne(store, { type: 'past', expiresAt: new Date(0) })
      expectAbout((await readJob(store, past)).expiresAt?.getTime(), await storeNow(store))
      expect(await claimMany(store, { queues: ['past'] })).toEqual([])
    })

    it('FAIL-8 why says that a job expires at its next claim, and that it did', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const jobId = await enqueueOne(store, { ttlMs: MINUTE })
      expect(await codesOf(store, jobId)).not.toContain('EXPIRED')
      await elapse(2 * MINUTE)
      expect(await codesOf(store, jobId)).toContain('EXPIRED')
      await claimMany(store)
      expect(await codesOf(store, jobId)).toEqual(['DEAD_EXPIRED'])
    })

    it('FAIL-8 an expired job that is retried manually has no expiry any more', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const jobId = await enqueueOne(store, { ttlMs: MINUTE })
      await elapse(2 * MINUTE)
      await claimMany(store)
      await store.retryJobs([jobId])
      expect(await claimOne(store)).toMatchObject({ jobId })
    })

    it.each([
      { ttlMs: MINUTE, delayMs: HOUR },
      { ttlMs: HOUR, delayMs: HOUR },
      { expiresAt: new Date('2100-01-01'), runAt: new Date('2100-01-02') },
    ])('FAIL-8 a job that would expire before it is due is refused: %j', async (fields) => {
      const { store } = opened()
      await expect(enqueueOne(store, fields)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
      await expect(enqueueMany(store, 2, fields)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    })

    it('FAIL-8 a paused queue ends none of its jobs', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(plainPolicy)
      const jobId = await enqueueOne(store, { ttlMs: MINUTE })
      await store.pauseQueue(TYPE)
      await elapse(2 * MINUTE)
      await claimMany(store)
      expect((await readJob(store, jobId)).status).toBe('waiting')
    })
  })
}

async function codesOf(store: JobStore, jobId: string): Promise<string[]> {
  const facts = await store.readJobFacts(jobId)
  if (facts === null) throw new Error(`there is no job ${jobId}`)
  return explainJob(facts).reasons.map(({ code }) => code)
}
