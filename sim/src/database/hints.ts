// Hints of a commit: send_job_hint.sql, send_hint.sql and send_cancel_hint.sql in TypeScript.
import type { Job, NewJob } from '../../../src/job/job.ts'
import { leaseNumber } from '../../../src/runtime/heartbeat/lease-number.ts'
import type { ScheduleRun, SweepStep } from '../../../src/store/job-store.ts'
import { dueMs } from '../../../src/store/memory/state/job-table.ts'
import { leasesOf } from './leases-of.ts'

/** Later jobs are left to polling. */
const FARTHEST_MS = 600_000
/** Delays are rounded up to it, or to this share of the time that they span. */
const SLOT_MS = 100
const SLOT_SHARE = 100

export interface Commit {
  verb: string
  args: unknown[]
  answer: unknown
}

export interface AfterCommit {
  jobOf: (jobId: string) => Job | undefined
  nowMs: number
  /** Another one for each transaction. */
  seed: number
}

interface Announced {
  queue: string
  delayMs: number
}

/** The payload of the notification; null if the verb sends none. */
export function hintOf({ verb, args, answer }: Commit, after: AfterCommit): string | null {
  if (verb === 'enqueueJobs')
    return jobHint(
      (args[0] as NewJob[]).map(({ type, queue = type }) => ({ queue, delayMs: 0 })),
      after.seed,
    )
  if (verb === 'runSchedule') {
    const run = answer as ScheduleRun
    return run.outcome === 'enqueued' ? requeuedHint([run.jobId], after) : null
  }
  if (verb === 'failJobs' || verb === 'releaseJobs')
    return requeuedHint(
      leasesOf(verb, args).map(({ jobId }) => jobId),
      after,
    )
  if (verb === 'sweepJobs')
    return requeuedHint(
      (answer as SweepStep).reaped.map(({ jobId }) => jobId),
      after,
    )
  if (verb === 'cancelJobs') return cancelHint(args[0] as string[], after)
  // A hint for everybody.
  if (verb === 'retryJobs') return ''
  return null
}

function requeuedHint(jobIds: string[], { jobOf, nowMs, seed }: AfterCommit): string | null {
  const requeued: Announced[] = []
  for (const jobId of jobIds) {
    const job = jobOf(jobId)
    if (job?.status === 'waiting') requeued.push({ queue: job.queue, delayMs: dueMs(job) - nowMs })
  }
  return jobHint(requeued, seed)
}

function jobHint(announced: Announced[], seed: number): string | null {
  const soon = announced.filter(({ delayMs }) => delayMs <= FARTHEST_MS)
  if (soon.length === 0) return null
  const delaysMs = soon.map(({ delayMs }) => Math.max(0, delayMs))
  const spanMs = Math.max(...delaysMs) - Math.min(...delaysMs)
  const slotMs = Math.max(SLOT_MS, Math.ceil(spanMs / SLOT_SHARE))
  const byQueue = new Map<string, { count: number; times: Set<number> }>()
  for (const { queue, delayMs } of soon) {
    const entry = byQueue.get(queue) ?? { count: 0, times: new Set() }
    byQueue.set(queue, entry)
    entry.count++
    entry.times.add(Math.ceil(Math.max(0, delayMs) / slotMs) * slotMs)
  }
  const jobs = Array.from(byQueue, ([queue, { count, times }]) => {
    const delays = [...times].toSorted((a, b) => a - b)
    return delays.length === 1 && delays[0] === 0 ? [queue, count] : [queue, count, ...delays]
  })
  return JSON.stringify({ seed, jobs })
}

function cancelHint(jobIds: string[], { jobOf }: AfterCommit): string | null {
  const cancels = jobIds.flatMap((jobId) => {
    const job = jobOf(jobId)
    const isAsked = job?.status === 'running' && job.cancelRequestedAt !== null
    return isAsked ? [leaseNumber(job.leaseId ?? '')] : []
  })
  return cancels.length === 0 ? null : JSON.stringify({ cancels })
}
