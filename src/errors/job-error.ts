// Errors by which a handler decides what happens to its job. Any other error works too and counts as TRANSIENT.

export type JobErrorCategory = 'TRANSIENT' | 'PERMANENT' | 'CRITICAL'

export interface JobErrorOptions {
  /** A public code, or an internal one that is mapped: letters, digits and `_ . : -`, at most 64. Default: UNKNOWN. */
  code?: string
  /** Delay of the retry. Default: the backoff. */
  retryAfterMs?: number
  /** Caused by the user's input or action: not retried, whatever the code. */
  isCausedByUser?: boolean
  /** HTTP status of the gateway's answer. */
  gatewayStatus?: number
  cause?: unknown
}

/** Who asked to release the job without an attempt spent: the handler, or the service it calls (RATE-6). */
export type ReleaseCause = 'asked' | 'limited'

const NAME = 'JobError'
const CATEGORIES: readonly unknown[] = ['TRANSIENT', 'PERMANENT', 'CRITICAL'] satisfies JobErrorCategory[]

export class JobError extends Error {
  readonly code: string
  readonly category: JobErrorCategory
  readonly isCausedByUser: boolean
  declare readonly retryAfterMs?: number
  declare readonly gatewayStatus?: number
  /** The job is released for `retryAfterMs`, without an attempt spent. */
  declare readonly release?: ReleaseCause

  constructor(
    message: string,
    {
      category = 'TRANSIENT',
      ...options
    }: JobErrorOptions & { category?: JobErrorCategory; release?: ReleaseCause } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = NAME
    this.code = options.code ?? 'UNKNOWN'
    this.category = category
    this.isCausedByUser = options.isCausedByUser ?? false
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.gatewayStatus !== undefined) this.gatewayStatus = options.gatewayStatus
    if (options.release !== undefined) this.release = options.release
  }
}

/** May work later: retried while the budget lasts, if its code is retryable. */
export function transientError(message: string, options: JobErrorOptions = {}): JobError {
  return new JobError(message, { ...options, category: 'TRANSIENT' })
}

/** Cannot run now: the job is released without an attempt spent. */
export function releaseError(
  message: string,
  options: JobErrorOptions & { release: ReleaseCause; retryAfterMs: number },
): JobError {
  return new JobError(message, { ...options, category: 'TRANSIENT' })
}

/** Will never work: the job ends at once. */
export function permanentError(
  message: string,
  options: Omit<JobErrorOptions, 'retryAfterMs'> = {},
): JobError {
  return new JobError(message, { ...options, category: 'PERMANENT' })
}

/** Nothing works on this worker: the job ends at once, and the worker stops claiming. */
export function criticalError(
  message: string,
  options: Omit<JobErrorOptions, 'retryAfterMs'> = {},
): JobError {
  return new JobError(message, { ...options, category: 'CRITICAL' })
}

/** By class, or by name and shape: an application may load two copies of this package. Never throws. */
export function isJobError(value: unknown): value is JobError {
  try {
    if (value instanceof JobError) return true
    if (typeof value !== 'object' || value === null) return false
    const { name, code, category } = value as { name?: unknown; code?: unknown; category?: unknown }
    return name === NAME && typeof code === 'string' && CATEGORIES.includes(category)
  } catch {
    // A revoked proxy, or a getter that throws.
    return false
  }
}
