import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../job/lease.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import { WaitingJob, WaitingJobs } from './waiting-jobs.ts'

const LEASE_MS = 3_000
const registered: RegisteredHandler = { type: 'asr', handler: async () => {} }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const clockMs = () => performance.timeOrigin + performance.now()

function add(waiting: WaitingJobs<unknown>, jobId: string, runsAlone = false): WaitingJob<unknown> {
  const job = { jobId, leaseMs: LEASE_MS, runsAlone } as ClaimedJob
  const added = new WaitingJob(job, registered, performance.now(), () => {})
  waiting.add(added)
  return added
}

it('LEASE-5 a job whose lease may be over is not started before a beat has kept it', () => {
  const waiting = new WaitingJobs()
  const job = add(waiting, '1')
  vi.advanceTimersByTime(LEASE_MS)
  expect(waiting.take(true)).toBeUndefined()
  job.onAnswer('busy', clockMs())
  expect(waiting.take(true)).toBeUndefined()
  job.onAnswer('kept', clockMs() - LEASE_MS)
  expect(waiting.take(true)).toBeUndefined()
  job.onAnswer('kept', clockMs() - LEASE_MS + 1)
  expect(waiting.take(true)).toBe(job)
  expect(waiting.size).toBe(0)
})

it.each(['lost', 'finished', 'cancel-asked', 'past-deadline'] as const)(
  'WORK-6 LEASE-5 a job whose beat was answered %s is not started, and goes back',
  (answer) => {
    const waiting = new WaitingJobs()
    const job = add(waiting, '1')
    expect(waiting.hasStale).toBe(false)
    job.onAnswer(answer, clockMs())
    expect(waiting.take(true)).toBeUndefined()
    expect(waiting.hasStale).toBe(true)
    expect(waiting.takeStale()).toEqual([job.job])
    expect(waiting.size).toBe(0)
  },
)

it('WORK-10 a job goes back after five seconds without a slot, and none before', () => {
  const waiting = new WaitingJobs()
  const oldest = add(waiting, '1')
  vi.advanceTimersByTime(4_999)
  add(waiting, '2')
  expect(waiting.takeStale()).toEqual([])
  vi.advanceTimersByTime(1)
  expect(waiting.takeStale()).toEqual([oldest.job])
  expect(waiting.size).toBe(1)
})

it('REAP-15 a job that runs alone waits until nothing else runs, and those behind it wait for it', () => {
  const waiting = new WaitingJobs()
  const alone = add(waiting, '1', true)
  const behind = add(waiting, '2')
  expect(waiting.take(false)).toBeUndefined()
  expect(waiting.take(true)).toBe(alone)
  expect(waiting.take(false)).toBe(behind)
})
