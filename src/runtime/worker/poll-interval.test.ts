// How often an idle worker claims, on a clock that the test moves.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import type { Worker } from './worker.ts'

let bench: MemoryWorkerBench
let worker: Worker
let claimsAtMs: number[]

beforeEach(async () => {
  vi.useFakeTimers()
  bench = new MemoryWorkerBench()
  claimsAtMs = []
  const over = bench.withVerb('claimJobs', (claimJobs) => (request) => {
    claimsAtMs.push(performance.now())
    return claimJobs(request)
  })
  worker = bench.work(async () => {}, { over, pollMs: [1_000, 2_000], hintedPollMs: [5_000, 6_000] })
  await vi.advanceTimersByTimeAsync(10_000)
})
afterEach(async () => {
  const stopped = bench.stop()
  await vi.advanceTimersByTimeAsync(1_000)
  await stopped
  vi.useRealTimers()
})

async function pausesOver(ms: number): Promise<number[]> {
  claimsAtMs = []
  await vi.advanceTimersByTimeAsync(ms)
  return claimsAtMs.slice(1).map((atMs, index) => atMs - (claimsAtMs[index] ?? 0))
}

it('WORK-1 a worker polls every 1 to 2 s, and every 5 to 6 s while hints arrive', async () => {
  const before = await pausesOver(60_000)
  expect(Math.min(...before)).toBeGreaterThanOrEqual(1_000)
  expect(Math.max(...before)).toBeLessThanOrEqual(2_010)
  worker.trustHints(true)
  await vi.advanceTimersByTimeAsync(2_000)
  const hinted = await pausesOver(60_000)
  expect(Math.min(...hinted)).toBeGreaterThanOrEqual(5_000)
  expect(Math.max(...hinted)).toBeLessThanOrEqual(6_010)
})

it('WORK-1 a worker that loses its hints claims at once and polls every 1 to 2 s again', async () => {
  worker.trustHints(true)
  await vi.advanceTimersByTimeAsync(2_000)
  claimsAtMs = []
  worker.trustHints(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(claimsAtMs).toHaveLength(1)
  expect(Math.max(...(await pausesOver(60_000)))).toBeLessThanOrEqual(2_010)
})
