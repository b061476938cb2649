import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import type { JobEnd } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { JobWaiter } from './job-waiter.ts'

let store: MemoryJobStore
let asked: string[][]
let waiter: JobWaiter
let registered: string[][]
let unregistered: string[][]

beforeEach(() => {
  vi.useFakeTimers()
  store = createMemoryStore()
  asked = []
  registered = []
  unregistered = []
  waiter = open((jobIds) => store.readEnds(jobIds))
})
afterEach(async () => {
  await waiter.stop()
  vi.useRealTimers()
})

function open(readEnds: (jobIds: string[]) => Promise<JobEnd[]>): JobWaiter {
  return new JobWaiter({
    store: {
      readProgress: (jobIds) => store.readProgress(jobIds),
      readEnds(jobIds) {
        asked.push(jobIds)
        return readEnds(jobIds)
      },
    },
    register: async (jobIds) => registered.push(jobIds),
    unregister: async (jobIds) => unregistered.push(jobIds),
  })
}

async function enqueue(count = 1): Promise<string[]> {
  const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'a' })))
  return jobs.map(({ jobId }) => jobId)
}

async function completeAll(): Promise<void> {
  const jobs = await store.claimJobs({ workerId: 'w', queues: ['a'], limit: 1_000 })
  await store.completeJobs(jobs.map((job) => ({ ...job, result: job.jobId })))
}

/** The error that a wait ends with, taken up at once: it may come before it is looked at. */
const errorOf = (wait: Promise<unknown>) =>
  wait.then(
    () => undefined,
    (error: unknown) => error as Error,
  )

it('WORK-9 a thousand waits are asked for by one call a poll, and each gets its own result', async () => {
  const jobIds = await enqueue(1_000)
  const ends = Promise.all(jobIds.map((jobId) => waiter.wait(jobId, 60_000)))
  await vi.advanceTimersByTimeAsync(1)
  expect(asked.map((ids) => ids.length)).toEqual([1_000])
  await vi.advanceTimersByTimeAsync(10_000)
  const polls = asked.length
  expect(polls).toBeGreaterThanOrEqual(10)
  expect(polls).toBeLessThanOrEqual(20)
  await completeAll()
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await ends).map(({ result }) => result)).toEqual(jobIds)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked.length).toBeLessThanOrEqual(polls + 2)
})

it('WORK-9 several waits for one job are one question, and all are answered', async () => {
  const [jobId = ''] = await enqueue()
  const ends = Promise.all([waiter.wait(jobId, 9_000), waiter.wait(jobId, 9_000)])
  await vi.advanceTimersByTimeAsync(1)
  expect(asked).toEqual([[jobId]])
  await completeAll()
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await ends).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
})

it('WORK-9 a wait that times out says so, and nothing is asked for afterwards', async () => {
  const [jobId = ''] = await enqueue()
  const refused = errorOf(waiter.wait(jobId, 5_000))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await refused).toMatchObject({
    code: 'WAIT_TIMEOUT',
    message: `job ${jobId} has not ended within 5000 ms`,
    isRetryable: true,
  })
  const polls = asked.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toHaveLength(polls)
})

it('WORK-9 a poll that fails is repeated until the wait times out with its error as the cause', async () => {
  const down = new UnstuckError('DATABASE_UNREACHABLE', 'gone')
  let isDown = true
  waiter = open((jobIds) => (isDown ? Promise.reject(down) : store.readEnds(jobIds)))
  const [first = '', second = ''] = await enqueue(2)
  const late = errorOf(waiter.wait(first, 2_000))
  const ended = waiter.wait(second, 60_000)
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await late).toMatchObject({ code: 'WAIT_TIMEOUT', cause: down })
  isDown = false
  await completeAll()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await ended).toMatchObject({ status: 'succeeded' })
})

it('WORK-9 a job that the store refuses fails its own wait, not the others', async () => {
  const refusal = new UnstuckError('INVALID_ARGUMENT', 'no id')
  waiter = open((jobIds) => (jobIds.includes('bad') ? Promise.reject(refusal) : store.readEnds(jobIds)))
  const [jobId = ''] = await enqueue()
  await completeAll()
  const refused = errorOf(waiter.wait('bad', 60_000))
  const ended = waiter.wait(jobId, 60_000)
  await vi.advanceTimersByTimeAsync(10)
  expect(await refused).toBe(refusal)
  expect(await ended).toMatchObject({ status: 'succeeded' })
})

it('WORK-9 jobs are registered for notifications once, and a notification asks at once', async () => {
  waiter.hear(true)
  const [jobId = ''] = await enqueue()
  const ended = waiter.wait(jobId, 60_000)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(registered).toEqual([[jobId]])
  await completeAll()
  const polls = asked.length
  waiter.poll()
  waiter.poll()
  await vi.advanceTimersByTimeAsync(5)
  expect(asked).toHaveLength(polls + 1)
  expect(await ended).toMatchObject({ status: 'succeeded' })
  expect(unregistered).toEqual([[jobId]])
})

it('WORK-9 notifications that were interrupted are asked for again', async () => {
  const [jobId = ''] = await enqueue()
  const ended = waiter.wait(jobId, 60_000)
  await vi.advanceTimersByTimeAsync(100)
  expect(registered).toEqual([])
  waiter.hear(true)
  await vi.advanceTimersByTimeAsync(100)
  waiter.hear(false)
  waiter.hear(true)
  await vi.advanceTimersByTimeAsync(100)
  expect(registered).toEqual([[jobId], [jobId]])
  await completeAll()
  await vi.advanceTimersByTimeAsync(2_000)
  await ended
})

it('WORK-9 stop ends the waits', async () => {
  const [jobId = ''] = await enqueue()
  const refused = errorOf(waiter.wait(jobId, 60_000))
  await waiter.stop()
  expect(await refused).toMatchObject({
    message: expect.stringContaining(`the wait for job ${jobId} was ended by stop`),
  })
})
