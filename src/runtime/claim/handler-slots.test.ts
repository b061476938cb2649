// Handlers that run few jobs at a time, in a worker over the memory store.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { withResolvers } from '../timing/with-resolvers.ts'

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

const enqueue = (count: number) =>
  bench.store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'asr' })))

async function statuses(): Promise<Record<string, number>> {
  const { jobs } = await bench.store.listJobs()
  const counts: Record<string, number> = {}
  for (const { status } of jobs) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

it('RATE-7 no more jobs of a handler are claimed than it may run, although slots are free', async () => {
  const gate = withResolvers<void>()
  let running = 0
  const seen: number[] = []
  bench.work(
    async () => {
      seen.push(++running)
      await gate.promise
      running--
    },
    { concurrency: 4, options: { concurrency: 2 } },
  )
  await enqueue(7)
  await expect.poll(statuses).toEqual({ running: 2, waiting: 5 })
  expect(running).toBe(2)
  gate.resolve()
  await expect.poll(statuses).toEqual({ succeeded: 7 })
  expect(Math.max(...seen)).toBe(2)
  const { jobs } = await bench.store.listJobs()
  expect(jobs.map(({ releases }) => releases)).toEqual(Array.from({ length: 7 }, () => 0))
})

it('RATE-7 the end of a job makes room for the next one at once, however rarely the worker polls', async () => {
  const worker = bench.work(async () => {}, {
    options: { concurrency: 1 },
    pollMs: [600_000, 600_000],
    hintedPollMs: [600_000, 600_000],
  })
  worker.trustHints(true)
  await enqueue(5)
  worker.wake()
  await expect.poll(statuses).toEqual({ succeeded: 5 })
})

it('RATE-7 a job that fails gives its place back', async () => {
  bench.work(
    async ({ failures }) => {
      if (failures === 0) throw new Error('once')
    },
    { options: { concurrency: 1 } },
  )
  await enqueue(3)
  await expect.poll(statuses).toEqual({ succeeded: 3 })
})
