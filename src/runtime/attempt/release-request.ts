// A handler, or the service it calls, releases its job: that spends no attempt, however often (RATE-5, RATE-6).
import { invalidArgument, isUnstuckError, releaseError } from '../../errors/index.ts'
import { classifyError } from '../../policy/retry/classify-error.ts'
import type { ReleasedJob } from '../../store/job-store.ts'
import { timing } from '../timing/timing.ts'
import type { AbortCause, ReleaseRequest } from './handler.ts'
import type { AttemptOutcome } from './outcome.ts'

/** The release to write, and the pause to report to the breaker. */
export interface AskedRelease {
  delayMs: number
  reason: string
  code?: string
  limitedMs?: number
}

const DEFAULT_AFTER_MS = 1_000
const YEAR_MS = 31_536_000_000
/** Random within this range: jobs that waited for one pool do not come back together. */
const NO_CONNECTION_PAUSE_MS = { least: 1_000, most: 5_000 }

/** Ends the attempt by throwing an error that the handler must not catch. */
export function releaseJob(request?: ReleaseRequest): never {
  throw releaseErrorOf(request)
}

export function releaseErrorOf({ afterMs, reason, isLimited = false }: ReleaseRequest = {}): Error {
  if (afterMs !== undefined && !(afterMs >= 0 && afterMs <= YEAR_MS))
    throw invalidArgument('afterMs', afterMs, `milliseconds from 0 to ${YEAR_MS}`)
  return releaseError(reason ?? 'released by its handler', {
    release: isLimited ? 'limited' : 'asked',
    retryAfterMs: afterMs ?? DEFAULT_AFTER_MS,
  })
}

/** Null if the attempt failed. An error thrown after a timeout does not count: the job was too slow. */
export function releaseOf(thrown: unknown, abortCause: AbortCause | null): AskedRelease | null {
  // A busy connection pool is not the job's failure (C27).
  if (isUnstuckError(thrown, 'POOL_EXHAUSTED')) {
    const { least, most } = NO_CONNECTION_PAUSE_MS
    const delayMs = Math.round(least + timing.random() * (most - least))
    return { delayMs, reason: thrown.message, code: thrown.code }
  }
  const { release, reason, retryInMs = DEFAULT_AFTER_MS } = classifyError(thrown)
  if (release === undefined || abortCause === 'deadline' || abortCause === 'no-progress') return null
  return { delayMs: retryInMs, reason, ...(release === 'limited' ? { limitedMs: retryInMs } : {}) }
}

export function releaseOutcome(
  released: ReleasedJob | undefined,
  asked: AskedRelease | undefined,
): AttemptOutcome {
  const { outcome, retryInMs } = released ?? { outcome: 'not-found', retryInMs: null }
  const isLost = outcome === 'lease-lost' || outcome === 'not-found'
  const end = isLost ? 'lost' : outcome === 'cancelled' ? 'cancelled' : 'released'
  if (asked === undefined) return { end }
  const { delayMs: _, ...reported } = asked
  return { end, retryInMs, ...reported }
}
