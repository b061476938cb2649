// The vocabulary of a job: what it is, how it is asked for, what a worker is given. No I/O.

/** The five roles a status plays. A profile says which word of its table plays which role. */
export type JobStatus = 'waiting' | 'running' | 'succeeded' | 'dead' | 'cancelled'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/** A job as it is asked for. Times are durations, but for `runAt`, which is the caller's own wish. */
export interface NewJob {
  type: string
  payload?: JsonValue
  /** What the job is claimed from; the type where absent. */
  queue?: string
  /** Lower runs first. */
  priority?: number
  /** Earliest run, counted from now on the database's clock. Excludes `runAt`. */
  delayMs?: number
  runAt?: Date
  stage?: string
  expectedDurationMs?: number
  maxAttempts?: number
  /** The user or tenant the job belongs to. */
  owner?: string
  /** At most one unfinished job per type has this key. */
  dedupeKey?: string
  traceparent?: string
}

/** One row of work, as an operator or a test sees it. */
export interface Job {
  id: string
  type: string
  queue: string
  payload: JsonValue
  priority: number
  status: JobStatus
  owner: string | null
  dedupeKey: string | null
  stage: string | null
  expectedDurationMs: number | null
  createdAt: Date
  updatedAt: Date | null
  queuedAt: Date | null
  runAt: Date | null
  startedAt: Date | null
  finishedAt: Date | null
  /** The last claim: when the newest attempt began. */
  lastAttemptAt: Date | null
  /** The process that runs it; set exactly while it runs, as are `leaseId` and `leaseExpiresAt`. */
  workerId: string | null
  leaseId: string | null
  leaseExpiresAt: Date | null
  /** Kept after the end, as evidence. */
  heartbeatAt: Date | null
  deadlineAt: Date | null
  /** Grows with every claim: for people and outside systems, never a credential. */
  fence: number
  finishedLeaseId: string | null
  attempt: number
  failures: number
  crashes: number
  timeouts: number
  releases: number
  interruptions: number
  maxAttempts: number | null
  generation: number
  cancelRequestedAt: Date | null
  reapedAt: Date | null
  error: JobErrorRecord | null
  result: JsonValue
  traceparent: string | null
}

export type ErrorCategory = 'TRANSIENT' | 'PERMANENT' | 'CRITICAL'

/** What a dead or retried job remembers of its last error. */
export interface JobErrorRecord {
  code: string | null
  reason: string | null
  category: ErrorCategory | null
  /** For operators only: never part of a public answer. */
  stack: string | null
  attempt: number | null
}
