// A job, and a job to enqueue. No I/O.

/** The five roles of a status. A profile maps each to a word of its table. */
export type JobStatus = 'waiting' | 'running' | 'succeeded' | 'dead' | 'cancelled'

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

/** Values that a payload may be declared with. `object` admits interfaces; what JSON would lose is refused at enqueue. */
export type PayloadValue = JsonValue | object

/** A job to enqueue. Times are durations, except `runAt`, which the caller chooses. */
export interface NewJob extends NewJobFields {
  /** Names the handler. */
  type: string
  /** JSON. Default: `{}`. */
  payload?: PayloadValue | undefined
}

/** The fields of a new job that do not depend on its type. */
export interface NewJobFields {
  /** Queue that the job is claimed from. Default: the type. */
  queue?: string | undefined
  /** Lower numbers run first. */
  priority?: number | undefined
  /** Delay of the earliest run, by the database's clock. Excludes `runAt`. */
  delayMs?: number | undefined
  /** Earliest run. A past time means now. */
  runAt?: Date | undefined
  /** Stage that the job starts in, which decides its lease and deadline. Default: the type. */
  stage?: string | undefined
  /** How long it should take. Times the factor of its stage, if that has one, it is the shortest lease. */
  expectedDurationMs?: number | undefined
  /** The job is dead after this many failures. Default: the policy's. */
  maxAttempts?: number | undefined
  /** Attempts and the waits between them. Default: those of the handler, else of the policy. */
  retry?: RetryRule | undefined
  /** The job is not started after this time: it ends dead, with the code `EXPIRED`. Excludes `ttlMs`. */
  expiresAt?: Date | undefined
  /** The same as a duration from the enqueue, by the database's clock. */
  ttlMs?: number | undefined
  /** The user or tenant the job belongs to. */
  owner?: string | undefined
  /** Jobs of one group share the limits and the order that their queue sets for groups, and groups take turns. */
  group?: string | undefined
  /** At most one unfinished job per type has this key. */
  dedupeKey?: string | undefined
  /** `dedupeKey` with a window, or with a replacement of the waiting job. */
  dedupe?: DedupeRule | undefined
  /** W3C trace context of the caller. Default: the active span of OpenTelemetry, if there is one. */
  traceparent?: string | undefined
}

/** Waits in milliseconds, of which the last repeats; or `baseMs`, doubled after each failure up to `maxMs` (one hour, or `baseMs` if that is longer). */
export type RetryBackoff = number[] | { baseMs: number; maxMs?: number | undefined }

export interface RetryRule {
  /** Failures until the job is dead. */
  attempts?: number | undefined
  backoff?: RetryBackoff | undefined
}

/** At most one unfinished job per type has a key. */
export interface DedupeRule {
  key: string
  /** The key stays taken for this long after the enqueue, even if the job ends earlier. */
  forMs?: number | undefined
  /** A waiting job with the key gets the fields of the new one, and its time. A running one gives the key away. */
  replace?: boolean | undefined
}

/** A row of the job table. */
export interface Job {
  id: string
  type: string
  queue: string
  payload: JsonValue
  priority: number
  status: JobStatus
  owner: string | null
  group: string | null
  dedupeKey: string | null
  stage: string | null
  expectedDurationMs: number | null
  createdAt: Date
  updatedAt: Date | null
  queuedAt: Date | null
  runAt: Date | null
  startedAt: Date | null
  finishedAt: Date | null
  /** Time of the last claim. */
  lastAttemptAt: Date | null
  /** The process that runs it. Set only while it runs, as are `leaseId` and `leaseExpiresAt`. */
  workerId: string | null
  leaseId: string | null
  leaseExpiresAt: Date | null
  /** Kept as evidence after the job ends. */
  heartbeatAt: Date | null
  deadlineAt: Date | null
  /** Grows with every claim. For people and external systems, never a credential. */
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
  /** Its own waits between attempts; null for those of its handler or policy. */
  backoffStepsMs: number[] | null
  expiresAt: Date | null
  /** As its last attempt has reported it. A claim clears it. */
  progress: JobProgress | null
}

export interface JobProgress {
  /** From 0 to 1. */
  value: number
  text: string | null
}

export type ErrorCategory = 'TRANSIENT' | 'PERMANENT' | 'CRITICAL'

/** The last error of a dead or retried job. */
export interface JobErrorRecord {
  code: string | null
  reason: string | null
  category: ErrorCategory | null
  /** For operators only, never part of a public answer. */
  stack: string | null
  attempt: number | null
}
