import { expect, it } from 'vitest'
import { createMemoryStore } from '../../store/memory/index.ts'
import { createEnqueuer } from './enqueuer.ts'

function bench() {
  const store = createMemoryStore()
  const calls: number[] = []
  const enqueue = createEnqueuer((jobs) => {
    calls.push(jobs.length)
    return store.enqueueJobs(jobs)
  })
  return { store, calls, enqueue }
}

it('WORK-7 enqueue calls of one moment become one statement, and each answers with its own job', async () => {
  const { store, calls, enqueue } = bench()
  const enqueued = await Promise.all(Array.from({ length: 100 }, (_, n) => enqueue({ type: `type-${n}` })))
  expect(calls).toEqual([100])
  for (const [n, { jobId }] of enqueued.entries()) {
    expect((await store.getJob(jobId))?.type).toBe(`type-${n}`)
  }
})

it('WORK-7 a job that is refused spoils no other of the same moment', async () => {
  const { store, enqueue } = bench()
  const answers = await Promise.allSettled([
    enqueue({ type: 'asr' }),
    enqueue({ type: '' }),
    enqueue({ type: 'clip' }),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(answers[1]).toMatchObject({ reason: { code: 'INVALID_ARGUMENT' } })
  expect((await store.readHealth()).waiting).toBe(2)
})

it('WORK-7 jobs with dedupe keys go in a lane of their own, and one of two alike is the duplicate', async () => {
  const { calls, enqueue } = bench()
  const keyed = { type: 'asr', dedupeKey: 'file-1' }
  const [plain, first, second] = await Promise.all([enqueue({ type: 'asr' }), enqueue(keyed), enqueue(keyed)])
  expect(calls.toSorted((a, b) => a - b)).toEqual([1, 2])
  expect([plain.outcome, first.outcome, second.outcome]).toEqual(['created', 'created', 'duplicate'])
  expect(second.jobId).toBe(first.jobId)
})
