// HTTP calls to a service that jobs depend on. Each has a timeout (WORK-3), and each failure is a JobError that says whether to
// retry. `onCall` gets the result of every call, for the breaker and the metrics.
import { invalidArgument, type JobError, UnstuckError } from '../../errors/index.ts'
import { timing } from '../timing/timing.ts'
import {
  type CallAddress,
  type GatewayOutcome,
  judgeAnswer,
  judgeError,
  timeoutError,
  withCheckedJson,
} from './gateway-answer.ts'

export type { GatewayOutcome } from './gateway-answer.ts'

export interface GatewayOptions {
  /** Base that paths are appended to. User and password in it are sent as a header. */
  baseUrl?: string | null
  timeoutMs: number
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Called once per call. Its errors are ignored. */
  onCall?: (call: GatewayCall) => void
}

export interface GatewayInit extends RequestInit {
  /** Default: that of the gateway. */
  timeoutMs?: number
}

/**
 * Returns a response with a status below 400 and throws a `JobError` for anything else. An HTML page that the caller did not
 * accept and a `json()` of an invalid body are permanent failures too. The timeout runs from the call to the last byte of the
 * body: a body that is still being read by then fails with GW_TIMEOUT. The caller's own `signal` wins; its reason is rethrown.
 */
export type Gateway = (pathOrUrl: string | URL, init?: GatewayInit) => Promise<Response>

export interface GatewayCall {
  /** Without user, password, query and fragment. */
  url: string
  /** Null if there was no answer. */
  status: number | null
  /** Time until the headers arrived or the call was aborted. */
  durationMs: number
  outcome: GatewayOutcome
  /** If limited: the pause that the service asked for. */
  limitedMs?: number
}

// A longer timer of Node fires at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export function createGateway(options: GatewayOptions): Gateway {
  requireTimeout(options.timeoutMs)
  const baseUrl = options.baseUrl == null ? null : parseUrl('baseUrl', options.baseUrl)

  return async (pathOrUrl, { timeoutMs = options.timeoutMs, ...init } = {}) => {
    requireTimeout(timeoutMs)
    const { url, headers } = withoutCredentials(resolveUrl(baseUrl, pathOrUrl), init.headers)
    const address = { method: (init.method ?? 'GET').toUpperCase(), url: `${url.origin}${url.pathname}` }
    const signal = init.signal ?? undefined
    const timeout = startTimeout(timeoutMs, address)
    const startedMs = timing.nowMs()
    const report = (outcome: GatewayOutcome, status: number | null, limitedMs?: number) => {
      const call = { url: address.url, status, durationMs: timing.nowMs() - startedMs, outcome }
      notify(options.onCall, limitedMs === undefined ? call : { ...call, limitedMs })
    }

    let response: Response
    try {
      const signals = signal === undefined ? [timeout.signal] : [signal, timeout.signal]
      const fetch = options.fetch ?? globalThis.fetch
      response = await fetch(url, { ...init, headers, signal: AbortSignal.any(signals) })
    } catch (error) {
      timeout.stop()
      if (signal?.aborted === true) report('aborted', null)
      signal?.throwIfAborted()
      // A header or body that cannot be sent is the caller's mistake and says nothing about the gateway.
      if (isRefusedRequest(error)) throw error
      const failure = timeout.signal.aborted
        ? { outcome: 'timeout' as const, error: timeout.signal.reason as JobError }
        : judgeError(error, address)
      report(failure.outcome, null)
      throw failure.error
    }
    const failure = judgeAnswer(response, headers.get('accept') ?? '', address)
    report(failure?.outcome ?? 'ok', response.status, failure?.limitedMs)
    if (failure === null) return withCheckedJson(response, address)
    timeout.stop()
    // An unread body would hold its socket until it is garbage-collected.
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

/** fetch refuses URLs with credentials. */
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
    // A bare % in a password is valid in a URL.
    return text
  }
}

/** Not `AbortSignal.timeout`: a body that is cut off later fails with an error that names the call. */
function startTimeout(timeoutMs: number, address: CallAddress): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const timer = timing.setTimeout(() => controller.abort(timeoutError(timeoutMs, address)), timeoutMs)
  // The socket keeps the process alive while an answer is pending.
  timer.unref()
  return { signal: controller.signal, stop: () => timing.clearTimeout(timer) }
}

/** The TypeError of a request that was never sent has no cause; that of a broken connection has one. */
function isRefusedRequest(error: unknown): boolean {
  return error instanceof TypeError && error.cause === undefined && error.message !== 'fetch failed'
}

function notify(onCall: GatewayOptions['onCall'], call: GatewayCall): void {
  try {
    onCall?.(call)
  } catch {
    // Observing calls must not change their outcome.
  }
}

function ignore(): void {}
