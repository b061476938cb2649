// Classifies the answer of a service, or the lack of one. The messages reach the owners of jobs, so they contain no address:
// that is in the cause, and thus in the stack that operators see.
import {
  type JobError,
  permanentError,
  releaseError,
  toPublicCode,
  transientError,
} from '../../errors/index.ts'
import { timing } from '../timing/timing.ts'

/** 408 is a timeout. 429, and 503 with Retry-After, are limited: the service answers, and asks for a pause. */
export type GatewayOutcome =
  | 'ok'
  | 'limited'
  | 'client-error'
  | 'server-error'
  | 'timeout'
  | 'unavailable'
  | 'aborted'

export interface Failure {
  outcome: GatewayOutcome
  error: JobError
  /** If limited: length of the pause. */
  limitedMs?: number
}

/** Upper bound of Retry-After. */
const LONGEST_RETRY_AFTER_MS = 3_600_000
/** Pause after a 429 without Retry-After. */
const UNSAID_LIMIT_MS = 1_000

/** One call, for operators. The URL has no user, password, query and fragment. */
export interface CallAddress {
  method: string
  url: string
}

export function timeoutError(timeoutMs: number, address: CallAddress): JobError {
  const cause = addressOf(address)
  return transientError(`the gateway took longer than ${timeoutMs} ms`, { code: 'GW_TIMEOUT', cause })
}

export function judgeError(thrown: unknown, address: CallAddress): Failure {
  const code = causeCode(thrown)
  const suffix = code === undefined ? '' : ` (${code})`
  const cause = addressOf(address, thrown)
  // fetch has its own timeouts, such as 10 s for connecting and 300 s for the headers.
  if (code !== undefined && toPublicCode(code) === 'GW_TIMEOUT') {
    const message = `the gateway took too long${suffix}`
    return { outcome: 'timeout', error: transientError(message, { code: 'GW_TIMEOUT', cause }) }
  }
  const message = `the gateway could not be reached, or broke the connection${suffix}`
  return { outcome: 'unavailable', error: transientError(message, { code: 'GW_UNAVAILABLE', cause }) }
}

/** Null if the handler can use the answer. */
export function judgeAnswer(response: Response, accepts: string, address: CallAddress): Failure | null {
  const { status } = response
  if (status < 400) return isStrayPage(response, accepts, address) ? parseFailure(status, address) : null
  const message = `the gateway answered ${status}`
  const cause = addressOf(address)
  const waitMs = readRetryAfterMs(response.headers)
  const options = { gatewayStatus: status, cause, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) }
  if (status === 408) {
    return { outcome: 'timeout', error: transientError(message, { ...options, code: 'GW_TIMEOUT' }) }
  }
  if (status === 429 || (status === 503 && waitMs !== undefined)) {
    const limitedMs = waitMs ?? UNSAID_LIMIT_MS
    const limit = { release: 'limited', retryAfterMs: limitedMs, code: 'GW_5XX' } as const
    return { outcome: 'limited', limitedMs, error: releaseError(message, { ...options, ...limit }) }
  }
  if (status < 500) {
    const error = permanentError(message, { code: 'GW_4XX', gatewayStatus: status, cause })
    return { outcome: 'client-error', error }
  }
  return { outcome: 'server-error', error: transientError(message, { ...options, code: 'GW_5XX' }) }
}

/** A login or maintenance page that a proxy returns as a success. */
function isStrayPage({ ok, headers }: Response, accepts: string, { method }: CallAddress): boolean {
  return ok && method !== 'HEAD' && isHtml(headers.get('content-type') ?? '') && !isHtml(accepts)
}

function isHtml(types: string): boolean {
  return /\b(?:text\/html|application\/xhtml\+xml)\b/i.test(types)
}

function parseFailure(status: number, address: CallAddress): Failure {
  return { outcome: 'client-error', error: parseError(status, 'an HTML page', addressOf(address)) }
}

/** Document 004 counts parse errors as GW_4XX: the same request would get the same answer. */
function parseError(status: number, got: string, cause: Error): JobError {
  return permanentError(`the gateway answered ${status} with ${got}`, {
    code: 'PARSE_ERROR',
    gatewayStatus: status,
    cause,
  })
}

/** `json()` of an invalid body throws a permanent error, instead of a SyntaxError that would be retried. */
export function withCheckedJson(response: Response, address: CallAddress): Response {
  const { status } = response
  const readJson = response.json.bind(response)
  const clone = response.clone.bind(response)
  const json = async () => {
    try {
      return await readJson()
    } catch (error) {
      throw error instanceof SyntaxError
        ? parseError(status, 'broken JSON', addressOf(address, error))
        : error
    }
  }
  return Object.assign(response, { json, clone: () => withCheckedJson(clone(), address) })
}

function addressOf({ method, url }: CallAddress, cause?: unknown): Error {
  return new Error(`${method} ${url}`, cause === undefined ? undefined : { cause })
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}

/** At most an hour; undefined if no wait is asked for: then the backoff applies. */
function readRetryAfterMs(headers: Headers): number | undefined {
  const waitMs = retryAfterMs(headers.get('retry-after')?.trim() ?? '', headers.get('date') ?? '')
  return waitMs > 0 ? Math.min(waitMs, LONGEST_RETRY_AFTER_MS) : undefined
}

/** Seconds or an HTTP date. */
function retryAfterMs(value: string, answeredAt: string): number {
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  if (!/^[a-z]{3,9},? .+ GMT$/i.test(value)) return 0
  // Both dates are by the gateway's clock: ours may differ by more than the wait.
  const answeredMs = Date.parse(answeredAt)
  return Date.parse(value) - (Number.isNaN(answeredMs) ? timing.wallMs() : answeredMs)
}
