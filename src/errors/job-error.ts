// What a handler throws to say what should become of its job. Any other error works too and counts as TRANSIENT.

export type JobErrorCategory = 'TRANSIENT' | 'PERMANENT' | 'CRITICAL'

export interface JobErrorOptions {
  /** Public, or an internal one that is mapped: letters, digits and `_ . : -`, at most 64. UNKNOWN where absent. */
  code?: string
  /** Try again after this long, instead of the backoff. */
  retryAfterMs?: number
  /** What the user sent or did is the reason: not tried again, whatever the code. */
  isCausedByUser?: boolean
  /** The HTTP status that the gateway answered. */
  gatewayStatus?: number
  cause?: unknown
}

/** Why a job is given back without an attempt spent: the handler asked for it, or the service it calls did (RATE-6). */
export type ReleaseCause = 'asked' | 'limited'

const NAME = 'JobError'
const CATEGORIES: readonly unknown[] = ['TRANSIENT', 'PERMANENT', 'CRITICAL'] satisfies JobErrorCategory[]

export class JobError extends Error {
  readonly code: string
  readonly category: JobErrorCategory
  readonly isCausedByUser: boolean
  declare readonly retryAfterMs?: number
  declare readonly gatewayStatus?: number
  /** The job is given back after `retryAfterMs`, and no attempt is spent. */
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

/** It may work later: tried again while the budget lasts, if its code is a retryable one. */
export function transientError(message: string, options: JobErrorOptions = {}): JobError {
  return new JobError(message, { ...options, category: 'TRANSIENT' })
}

/** Not now, and nobody's fault: the job is given back without an attempt spent. */
export function releaseError(
  message: string,
  options: JobErrorOptions & { release: ReleaseCause; retryAfterMs: number },
): JobError {
  return new JobError(message, { ...options, category: 'TRANSIENT' })
}

/** It will never work: the job ends at once. */
export function permanentError(
  message: string,
  options: Omit<JobErrorOptions, 'retryAfterMs'> = {},
): JobError {
  return new JobError(message, { ...options, category: 'PERMANENT' })
}

/** Nothing will work here: the job ends at once, and its worker claims no more. */
export function criticalError(
  message: string,
  options: Omit<JobErrorOptions, 'retryAfterMs'> = {},
): JobError {
  return new JobError(message, { ...options, category: 'CRITICAL' })
}

/** By class, or by name and shape: an application may hold two copies of this package. Never throws. */
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
