// Calls of the outside service that jobs depend on: every one has a timeout (WORK-3), and every failure is a JobError that
// says whether to try again. What a call came to is told to `onCall`, which feeds the breaker and the metrics.
import {
  invalidArgument,
  type JobError,
  permanentError,
  toPublicCode,
  transientError,
  UnstuckError,
} from '../errors/index.ts'

export interface GatewayOptions {
  /** What paths are appended to. User and password in it are sent as a header. */
  baseUrl?: string | null
  timeoutMs: number
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch
  /** Told once per call. What it throws is ignored. */
  onCall?: (call: GatewayCall) => void
}

export interface GatewayInit extends RequestInit {
  /** Instead of the gateway's, for this call. */
  timeoutMs?: number
}

/**
 * Answers a response with a status under 400 and throws a `JobError` for anything else. The timeout runs from the call to the
 * last byte of the body: a body that is still being read by then fails with GW_TIMEOUT. The caller's own `signal` wins; its
 * reason is thrown as it is.
 */
export type Gateway = (pathOrUrl: string | URL, init?: GatewayInit) => Promise<Response>

export interface GatewayCall {
  /** Without user, password, query and fragment. */
  url: string
  /** Null where no answer came. */
  status: number | null
  /** Until the headers, or until it was given up. */
  durationMs: number
  outcome: GatewayOutcome
}

/** 408 is a timeout. 429 is a client-error: it may be tried again, and is no sign of an outage. */
export type GatewayOutcome = 'ok' | 'client-error' | 'server-error' | 'timeout' | 'unavailable' | 'aborted'

interface Failure {
  outcome: GatewayOutcome
  error: JobError
}

// A longer timer of Node fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export function createGateway(options: GatewayOptions): Gateway {
  requireTimeout(options.timeoutMs)
  const baseUrl = options.baseUrl == null ? null : parseUrl('baseUrl', options.baseUrl)

  return async (pathOrUrl, { timeoutMs = options.timeoutMs, ...init } = {}) => {
    requireTimeout(timeoutMs)
    const { url, headers } = withoutCredentials(resolveUrl(baseUrl, pathOrUrl), init.headers)
    const shownUrl = `${url.origin}${url.pathname}`
    const signal = init.signal ?? undefined
    const timeout = startTimeout(timeoutMs, shownUrl)
    const startedMs = performance.now()
    const report = (outcome: GatewayOutcome, status: number | null) =>
      tell(options.onCall, { url: shownUrl, status, durationMs: performance.now() - startedMs, outcome })

    let response: Response
    try {
      const signals = signal === undefined ? [timeout.signal] : [signal, timeout.signal]
      const fetch = options.fetch ?? globalThis.fetch
      response = await fetch(url, { ...init, headers, signal: AbortSignal.any(signals) })
    } catch (error) {
      timeout.stop()
      if (signal?.aborted === true) report('aborted', null)
      signal?.throwIfAborted()
      // A header or body that cannot be sent is a mistake of the caller and tells nothing about the gateway.
      if (isRefusedRequest(error)) throw error
      const failure = judgeError(error, shownUrl, timeout.signal)
      report(failure.outcome, null)
      throw failure.error
    }
    if (response.status < 400) {
      report('ok', response.status)
      return response
    }
    timeout.stop()
    const failure = judgeStatus(response, shownUrl)
    report(failure.outcome, response.status)
    // An unread body would hold its socket until the garbage collector comes by.
    await response.body?.cancel().catch(ignore)
    throw failure.error
  }
}

function requireTimeout(timeoutMs: number): void {
  if (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS) return
  throw invalidArgument('timeoutMs', timeoutMs, `whole milliseconds from 1 to ${MAX_TIMEOUT_MS}`)
}

function parseUrl(name: string, text: string | URL): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : null
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw invalidArgument(name, text, 'an http or https URL', { withhold: true })
}

/** A path is appended to the base, whose own path stays: `/convert` under `https://gw/v2` is `https://gw/v2/convert`. */
function resolveUrl(baseUrl: URL | null, pathOrUrl: string | URL): URL {
  const text = String(pathOrUrl)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseUrl('pathOrUrl', text)
  if (baseUrl === null) {
    throw new UnstuckError('INVALID_CONFIG', 'a gateway without a base URL was called with a path', {
      hint: 'Set GATEWAY_URL, or call it with a whole URL.',
    })
  }
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(text) ?? []
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
  // The base may have a query of its own, such as an API version; one in the path replaces it.
  return rest === '' ? url : new URL(rest, url)
}

/** fetch refuses a URL with a password in it. */
function withoutCredentials(url: URL, given: RequestInit['headers']): { url: URL; headers: Headers } {
  const headers = new Headers(given)
  if (url.username === '' && url.password === '') return { url, headers }
  const user = `${decoded(url.username)}:${decoded(url.password)}`
  if (!headers.has('authorization')) {
    headers.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`)
  }
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return { url: bare, headers }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A bare % in a password is valid in a URL, and stands for itself.
    return text
  }
}

/** Not `AbortSignal.timeout`: a body that is cut off later then fails with an error that names the call. */
function startTimeout(timeoutMs: number, shownUrl: string): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const error = () => transientError(`${shownUrl} took longer than ${timeoutMs} ms`, { code: 'GW_TIMEOUT' })
  const timer = setTimeout(() => controller.abort(error()), timeoutMs)
  // The socket keeps the process alive while there is something to wait for.
  timer.unref()
  return { signal: controller.signal, stop: () => clearTimeout(timer) }
}

/** The TypeError of a request that was never sent has no cause; that of a broken connection has. */
function isRefusedRequest(error: unknown): boolean {
  return error instanceof TypeError && error.cause === undefined && error.message !== 'fetch failed'
}

function judgeError(error: unknown, shownUrl: string, timeout: AbortSignal): Failure {
  if (timeout.aborted) return { outcome: 'timeout', error: timeout.reason as JobError }
  const code = causeCode(error)
  const shown = code === undefined ? shownUrl : `${shownUrl} (${code})`
  // fetch has timeouts of its own, such as 10 s for connecting and 300 s for the headers.
  if (code !== undefined && toPublicCode(code) === 'GW_TIMEOUT') {
    const message = `${shown} took too long`
    return { outcome: 'timeout', error: transientError(message, { code: 'GW_TIMEOUT', cause: error }) }
  }
  const message = `${shown} could not be reached, or broke the connection`
  return { outcome: 'unavailable', error: transientError(message, { code: 'GW_UNAVAILABLE', cause: error }) }
}

function causeCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}

function judgeStatus(response: Response, shownUrl: string): Failure {
  const { status } = response
  const message = `${shownUrl} answered ${status}`
  const retryAfterMs = readRetryAfterMs(response.headers)
  const options = { gatewayStatus: status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  if (status === 408) {
    return { outcome: 'timeout', error: transientError(message, { ...options, code: 'GW_TIMEOUT' }) }
  }
  if (status === 429) {
    return { outcome: 'client-error', error: transientError(message, { ...options, code: 'GW_5XX' }) }
  }
  if (status < 500) {
    const error = permanentError(message, { code: 'GW_4XX', gatewayStatus: status })
    return { outcome: 'client-error', error }
  }
  return { outcome: 'server-error', error: transientError(message, { ...options, code: 'GW_5XX' }) }
}

/** Seconds or an HTTP date. Nothing where it asks for no wait: the backoff is the better answer then. */
function readRetryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) > 0 ? Number(value) * 1000 : undefined
  if (!/^[a-z]{3,9},? .+ GMT$/i.test(value)) return undefined
  // Both dates by the gateway's clock: ours may differ from it by more than the wait.
  const answeredMs = Date.parse(headers.get('date') ?? '')
  const waitMs = Date.parse(value) - (Number.isNaN(answeredMs) ? Date.now() : answeredMs)
  return waitMs > 0 ? waitMs : undefined
}

function tell(onCall: GatewayOptions['onCall'], call: GatewayCall): void {
  try {
    onCall?.(call)
  } catch {
    // Whoever counts calls must not change what they come to.
  }
}

function ignore(): void {}
