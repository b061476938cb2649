import { describe, expect, it } from 'vitest'
import {
  budgets,
  claimOne,
  enqueueOne,
  fail,
  HOUR,
  invalidArgument,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

/** Attempts and waits of a job itself, and of its handler. */
export function describeRetryRules<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('retry per job', () => {
    const policy = { ...plainPolicy, ...budgets.failures, failureBackoffStepsMs: [MINUTE] }

    it("FAIL-8 a job's own steps replace the policy's, and the last one repeats", async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...policy, maxAttempts: 5 })
      const claimed = await startOne(store, { retry: { backoff: [SECOND, HOUR] } })
      const waits: (number | null)[] = [(await fail(store, claimed)).retryInMs]
      for (const waitMs of [SECOND, HOUR]) {
        await elapse(waitMs)
        waits.push((await fail(store, await claimOne(store))).retryInMs)
      }
      expect(waits).toEqual([SECOND, HOUR, HOUR])
    })

    it('FAIL-8 exponential waits double up to their maximum', async () => {
      const { store } = opened()
      await store.writePolicy(policy)
      const jobId = await enqueueOne(store, { retry: { backoff: { baseMs: 100, maxMs: 500 } } })
      expect((await readJob(store, jobId)).backoffStepsMs).toEqual([100, 200, 400, 500])
      const longer = await enqueueOne(store, { retry: { backoff: { baseMs: 2 * HOUR } } })
      expect((await readJob(store, longer)).backoffStepsMs).toEqual([2 * HOUR])
    })

    it('FAIL-8 retry.attempts is the maximum of the job', async () => {
      const { store } = opened()
      await store.writePolicy(policy)
      const claimed = await startOne(store, { retry: { attempts: 1 } })
      expect(await fail(store, claimed)).toEqual({ outcome: 'dead', retryInMs: null })
    })

    it("FAIL-8 a handler's waits apply to a job without its own, and to no other", async () => {
      const { store } = opened()
      await store.writePolicy(policy)
      const handler = { backoffStepsMs: [2 * SECOND] }
      expect((await fail(store, await startOne(store), handler)).retryInMs).toBe(2 * SECOND)
      const own = await startOne(store, { type: 'own', retry: { backoff: [HOUR] } })
      expect((await fail(store, own, handler)).retryInMs).toBe(HOUR)
    })

    it("FAIL-8 the policy's jitter is at most as long as the wait of a job or its handler", async () => {
      const { store } = opened()
      await store.writePolicy({ ...policy, failureBackoffJitterMs: 5_000 })
      const waitsOf = async (name: string, own: number[] | null, handler?: { backoffStepsMs: number[] }) => {
        const waits: number[] = []
        for (let n = 0; n < 10; n++) {
          // A type each: the one before may be due again.
          const fields = { type: `${name} ${n}`, ...(own === null ? {} : { retry: { backoff: own } }) }
          waits.push((await fail(store, await startOne(store, fields), handler)).retryInMs ?? Number.NaN)
        }
        return waits
      }
      for (const waits of [
        await waitsOf('own', [100, HOUR]),
        await waitsOf('handler', null, { backoffStepsMs: [100] }),
      ]) {
        expect(Math.min(...waits)).toBeGreaterThanOrEqual(100)
        expect(Math.max(...waits)).toBeLessThan(200)
        expect(new Set(waits).size).toBeGreaterThan(1)
      }
      expect(new Set(await waitsOf('at once', [0]))).toEqual(new Set([0]))
      expect(Math.max(...(await waitsOf('long', [HOUR])))).toBeLessThan(HOUR + 5_000)
    })

    it('FAIL-8 a wait that the error asked for comes before every other', async () => {
      const { store } = opened()
      await store.writePolicy(policy)
      const claimed = await startOne(store, { retry: { backoff: [HOUR] } })
      const asked = { retryInMs: 3 * SECOND, backoffStepsMs: [SECOND] }
      expect((await fail(store, claimed, asked)).retryInMs).toBe(3 * SECOND)
    })

    it("FAIL-8 a handler's maximum raises or lowers the policy's, and is kept with the job", async () => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...policy, maxAttempts: 2 })
      const lowered = await startOne(store, { type: 'lowered' })
      expect((await fail(store, lowered, { maxAttempts: 1 })).outcome).toBe('dead')
      const raised = await startOne(store)
      for (const outcome of ['retried', 'retried', 'dead']) {
        const { jobId, leaseId } =
          outcome === 'retried' ? await currentLease(raised.jobId) : await claimOne(store)
        expect((await fail(store, { jobId, leaseId }, { maxAttempts: 3 })).outcome).toBe(outcome)
        await elapse(MINUTE)
      }
      expect((await readJob(store, raised.jobId)).maxAttempts).toBe(3)

      async function currentLease(jobId: string) {
        const { leaseId } = await readJob(store, jobId)
        return leaseId === null ? claimOne(store) : { jobId, leaseId }
      }
    })

    it("FAIL-8 a job's own maximum comes before its handler's", async () => {
      const { store } = opened()
      await store.writePolicy(policy)
      const claimed = await startOne(store, { maxAttempts: 1 })
      expect((await fail(store, claimed, { maxAttempts: 10 })).outcome).toBe('dead')
    })

    it('FAIL-8 invalid waits and attempts are refused', async () => {
      const { store } = opened()
      const doubling = { baseMs: 1_000, maxMs: 100 }
      for (const backoff of [[], [-1], [1.5], Array.from({ length: 101 }, () => 1), doubling])
        await expect(store.enqueueJobs([{ type: 'encode', retry: { backoff } }])).rejects.toMatchObject(
          invalidArgument,
        )
      await expect(store.enqueueJobs([{ type: 'encode', retry: { attempts: 0 } }])).rejects.toMatchObject(
        invalidArgument,
      )
    })
  })
}
