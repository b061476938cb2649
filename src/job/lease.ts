// A lease is the right to run a job until a given time of the database's clock.
import type { JsonValue } from './job.ts'

/** The credential of one claim. Every write of a worker carries it; a stale one changes nothing. */
export interface Lease {
  /** Id of the job. */
  jobId: string
  /** Id of this claim of it. */
  leaseId: string
}

/** Map key of a lease. Not the job id alone: a worker may hold a stale and a current lease of one job. */
export function leaseKey({ jobId, leaseId }: Lease): string {
  return `${jobId} ${leaseId}`
}

/** A claimed job. Durations count from the claim. */
export interface ClaimedJob<Payload = JsonValue, Type extends string = string> extends Lease {
  /** Names the handler. */
  type: Type
  /** Queue that it was claimed from. */
  queue: string
  /** As it is stored, or what the schema of the declared job makes of it. */
  payload: Payload
  /** Lower numbers run first. */
  priority: number
  /** The phase of the job, which decides its lease and deadline. */
  stage: string
  /** The user or tenant it belongs to. */
  owner: string | null
  /** Grows with every claim of the job. */
  fence: number
  /** Which attempt this is, from 1. Releases do not count. */
  attempt: number
  /** Earlier attempts that threw. */
  failures: number
  /** Earlier attempts whose worker died. */
  crashes: number
  /** Earlier attempts past a deadline or without progress. */
  timeouts: number
  /** The job is dead after this many failures. */
  maxAttempts: number
  /** 1, and one more after each manual retry. */
  generation: number
  /** When it was enqueued. */
  createdAt: Date
  /** Time of its first claim. */
  startedAt: Date
  /** As given at enqueue. */
  expectedDurationMs: number | null
  /** Length of the lease, which heartbeats extend. */
  leaseMs: number
  /** Time until the hard deadline of its stage; null without a deadline. */
  deadlineMs: number | null
  /** W3C trace context of whoever enqueued it. */
  traceparent: string | null
  /** From due to claimed. */
  waitedMs: number
  /** The first claim after a reap. */
  isRescue: boolean
  /** Its next crash would end it: it runs while nothing else runs in the process. */
  runsAlone: boolean
}

/**
 * - `kept`: extended
 * - `busy`: the row is locked; the lease still stands
 * - `cancel-asked`: extended; the handler should stop
 * - `past-deadline`: no longer extended
 * - `finished`: the job was ended under this lease
 * - `lost`: another worker holds the job, or none does
 */
export type HeartbeatAnswer = 'kept' | 'busy' | 'cancel-asked' | 'past-deadline' | 'finished' | 'lost'
