import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { UnstuckError } from '../../errors/index.ts'
import type { JobStore } from '../../store/job-store.ts'

/** The grace of the bench is 100 ms. */
const OUTAGE_MS = 400

let bench: MemoryWorkerBench
beforeEach(() => {
  bench = new MemoryWorkerBench()
})
afterEach(() => bench.stop())

/** The database refuses the verb until OUTAGE_MS after its first call. */
function refused<Verb extends 'completeJobs' | 'failJobs'>(verb: Verb): JobStore {
  let refusedUntilMs: number | undefined
  return bench.withVerb(
    verb,
    (real) =>
      ((...call: Parameters<typeof real>) => {
        refusedUntilMs ??= performance.now() + OUTAGE_MS
        if (performance.now() < refusedUntilMs)
          return Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'the server does not answer'))
        return (real as (...args: unknown[]) => unknown)(...call)
      }) as typeof real,
  )
}

it('C2 LEASE-8 a result returned after an abort is written once the database answers, however short the grace', async () => {
  const [jobId = ''] = await bench.enqueue()
  const ended = bench.once('job:ended')
  bench.work(
    async (_, { signal }) => {
      await bench.store.cancelJobs([jobId])
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    { over: refused('completeJobs') },
  )
  expect(await ended).toMatchObject({ end: 'completed' })
  expect((await bench.job(jobId))?.status).toBe('succeeded')
})

it('C2 LEASE-8 the failure of a hung handler is written once the database answers', async () => {
  const [jobId = ''] = await bench.enqueue()
  const ended = bench.once('job:ended')
  let isFirst = true
  bench.work(
    async () => {
      if (!isFirst) return
      isFirst = false
      await sleep(5_000, undefined, { ref: false })
    },
    { over: refused('failJobs'), options: { progressLimitMs: 50 } },
  )
  expect(await ended).toMatchObject({ end: 'retried' })
  await bench.untilStatus(jobId, 'succeeded')
})
