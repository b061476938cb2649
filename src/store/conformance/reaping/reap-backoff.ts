import { describe, expect, it } from 'vitest'
import {
  budgets,
  claimMany,
  claimOne,
  crashOnce,
  enqueueMany,
  enqueueOne,
  expectAbout,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeReapBackoff(opened: () => TestBench): void {
  describe('backoff of a sweep', () => {
    const limitsOfFive = { maxAttempts: 5, maxCrashes: 5 }

    async function crashInTurn(bench: TestBench, times: number): Promise<(number | null)[]> {
      await enqueueOne(bench.store, { maxAttempts: 5 })
      const waits: (number | null)[] = []
      for (let nth = 0; nth < times; nth += 1) {
        const { retryInMs } = await crashOnce(bench, await claimOne(bench.store))
        waits.push(retryInMs)
        await bench.elapse((retryInMs ?? 0) + SECOND)
      }
      return waits
    }

    it.each(['failures', 'attempts', 'countedAtReap'] as const)(
      'REAP-5 the backoff grows per reap by 30 s, 2 min, 10 min, with the budget %s',
      async (name) => {
        const bench = opened()
        const steps = { reapBackoffStepsMs: [30_000, 120_000, 600_000] }
        await bench.store.writePolicy({ ...plainPolicy, ...budgets[name], ...limitsOfFive, ...steps })
        expect(await crashInTurn(bench, 4)).toEqual([30_000, 120_000, 600_000, 600_000])
      },
    )

    it('REAP-5 without steps it doubles from the base up to the maximum', async () => {
      const bench = opened()
      const shape = { reapBackoffStepsMs: [], reapBackoffBaseMs: 20_000, reapBackoffMaxMs: 70_000 }
      await bench.store.writePolicy({ ...plainPolicy, ...budgets.attempts, ...limitsOfFive, ...shape })
      expect(await crashInTurn(bench, 4)).toEqual([20_000, 40_000, 70_000, 70_000])
    })

    it('REAP-5 FAIL-6 a job in backoff is not dispatched before its time, and is after it', async () => {
      const bench = opened()
      const { store } = bench
      await store.writePolicy({ ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [10 * MINUTE] })
      const { jobId } = await crashOnce(bench, await startOne(store))
      await bench.elapse(9 * MINUTE)
      expect(await claimMany(store)).toEqual([])
      await bench.elapse(MINUTE + SECOND)
      expect((await claimOne(store)).jobId).toBe(jobId)
    })

    /** One worker per job: jobs that crashed in one process are spread differently (REAP-15). */
    async function massOf(bench: TestBench, count: number, limit: number): Promise<number[]> {
      await enqueueMany(bench.store, count)
      for (let nth = 1; nth <= count; nth += 1) await claimOne(bench.store, { workerId: `worker-${nth}` })
      await bench.elapse(2 * MINUTE)
      const { reaped } = await sweep(bench.store, { limit })
      expect(reaped).toHaveLength(count)
      return reaped.map(({ retryInMs }) => retryInMs ?? 0)
    }

    it('REAP-14 many jobs return spread out at about the given rate, never before their backoff', async () => {
      const bench = opened()
      const rate = { reapBackoffStepsMs: [60_000], requeueRatePerS: 1 }
      await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures, ...rate })
      const waits = await massOf(bench, 40, 1000)
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(60_000)
      expect(Math.max(...waits)).toBeLessThan(60_000 + 40_000)
      expect(new Set(waits).size).toBeGreaterThan(10)
    })

    it('REAP-14 the spread is over the whole sweep, not over each of its steps', async () => {
      const bench = opened()
      const rate = { reapBackoffStepsMs: [30_000], requeueRatePerS: 1 }
      await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures, ...rate })
      expect(Math.max(...(await massOf(bench, 60, 5)))).toBeGreaterThan(30_000 + 5_000)
    })

    it('REAP-14 a rate of 0 spreads nothing', async () => {
      const bench = opened()
      const rate = { reapBackoffStepsMs: [30_000], requeueRatePerS: 0 }
      await bench.store.writePolicy({ ...plainPolicy, ...budgets.failures, ...rate })
      expect(new Set(await massOf(bench, 20, 1000))).toEqual(new Set([30_000]))
    })

    it('REAP-14 the earliest run time includes the spread', async () => {
      const bench = opened()
      const { store } = bench
      await store.writePolicy({ ...plainPolicy, ...budgets.failures, requeueRatePerS: 0.01 })
      const claimed = await startOne(store)
      const { retryInMs } = await crashOnce(bench, claimed)
      const job = await readJob(store, claimed.jobId)
      expectAbout(msBetween(job.reapedAt, job.runAt), retryInMs ?? 0)
    })
  })
}
