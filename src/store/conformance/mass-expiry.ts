// Most leases ending at once look like an outage that no reaper saw (C9).
import { describe, expect, it } from 'vitest'
import type { JobStore, ReaperFacts } from '../job-store.ts'
import { factsOf, policy } from './brakes.ts'
import { HOUR, MINUTE, SECOND, startMany, startOne, sweep } from './builders.ts'
import type { TestBench } from './harness.ts'

export const workers = ['worker-1', 'worker-2', 'worker-3']

/** So many jobs for each of these workers. */
async function startOfEach(store: JobStore, workerIds: string[], count: number, request = {}): Promise<void> {
  for (const workerId of workerIds) await startMany(store, count, { workerId, ...request })
}

/** Leases of a minute that ended half a minute ago, so many for each worker, and some that are valid. */
export async function startMass(
  bench: TestBench,
  over: { workers: string[]; each: number },
  valid: { workers: string[]; each: number } = { workers: [], each: 0 },
): Promise<ReaperFacts> {
  await bench.store.writePolicy(policy)
  await startOfEach(bench.store, over.workers, over.each)
  await startOfEach(bench.store, valid.workers, valid.each, { leaseMs: HOUR })
  await bench.elapse(90 * SECOND)
  return factsOf(bench.store, MINUTE, MINUTE)
}

export function describeMassExpiry(opened: () => TestBench): void {
  describe('a mass of leases that end at once', () => {
    it('C9 more than half of at least ten leases ending since the last sweep are held', async () => {
      const bench = opened()
      const facts = await startMass(bench, { workers, each: 2 }, { workers, each: 1 })
      await startMany(bench.store, 1, { workerId: 'worker-4', leaseMs: HOUR })
      expect(await sweep(bench.store, { reaper: facts })).toMatchObject({
        reaped: [],
        held: 6,
        holdReason: 'mass-expiry',
      })
    })

    it('C9 half of the leases are no mass', async () => {
      const bench = opened()
      const facts = await startMass(bench, { workers, each: 2 }, { workers, each: 2 })
      const { reaped, held } = await sweep(bench.store, { reaper: facts })
      expect(reaped).toHaveLength(6)
      expect(held).toBe(0)
    })

    it('C9 nine leases are no mass', async () => {
      const bench = opened()
      const facts = await startMass(bench, { workers, each: 3 })
      expect((await sweep(bench.store, { reaper: facts })).reaped).toHaveLength(9)
    })

    it('C9 leases that had ended before the last sweep make no mass', async () => {
      const bench = opened()
      await bench.store.writePolicy(policy)
      await startOfEach(bench.store, workers, 4, { leaseMs: 20 * SECOND })
      await startOne(bench.store)
      await bench.elapse(90 * SECOND)
      const facts = await factsOf(bench.store, 40 * SECOND, 40 * SECOND)
      const { reaped, held } = await sweep(bench.store, { reaper: facts })
      expect(reaped).toHaveLength(13)
      expect(held).toBe(0)
    })

    it('REAP-6 C9 the first sweep of a reaper is not held by a mass', async () => {
      const bench = opened()
      await startMass(bench, { workers, each: 4 })
      const { reaped, held } = await sweep(bench.store, { reaper: { reaperId: 'reaper-1' } })
      expect(reaped).toHaveLength(12)
      expect(held).toBe(0)
    })

    it('C9 a mass that nobody renews is taken once the hold is over', async () => {
      const bench = opened()
      const facts = await startMass(bench, { workers, each: 4 })
      expect((await sweep(bench.store, { reaper: facts })).held).toBe(12)
      await bench.elapse(61 * SECOND)
      const later = await factsOf(bench.store, 61 * SECOND, 61 * SECOND)
      expect((await sweep(bench.store, { reaper: later })).reaped).toHaveLength(12)
    })
  })
}
