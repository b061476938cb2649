// Whatever a handler threw, as the facts that decide what becomes of its job, and as one line that may be shown.
// It never throws: an error about an error would leave the job without an end.
import {
  type CodeSet,
  defaultCodes,
  isJobError,
  type JobError,
  type PublicCode,
  type ReleaseCause,
} from '../../errors/index.ts'
import type { ErrorCategory } from '../../job/job.ts'

/** All but `publicCode`, `gatewayStatus` and `release` are the fields of a `Failure` of the store. */
export interface ClassifiedError<Code extends string = PublicCode> {
  /** As precise as it is known, such as ECONNREFUSED. */
  code: string
  publicCode: Code
  category: ErrorCategory
  /** One line of at most 300 characters, without stack, absolute path or password. */
  reason: string
  /** At most 8 KiB, with the causes; absent where a value without a stack was thrown. For operators only. */
  stack?: string
  isRetryable: boolean
  /** What the error asked for; only where it may be tried again. */
  retryInMs?: number
  gatewayStatus?: number
  /** The job is given back after `retryInMs` instead: no attempt is spent. */
  release?: ReleaseCause
}

export interface ClassifyOptions<Code extends string = PublicCode> {
  /** Instead of the shipped codes. */
  codes?: CodeSet<Code>
  /** This machine is short of memory, disk or handles. */
  isLocalPressure?: boolean
}

// A cycle of causes must end somewhere; nobody reads deeper.
const MAX_CAUSES = 5
const MAX_REASON_LENGTH = 300
const MAX_STACK_BYTES = 8192
// The patterns below look at no more than this: a message of megabytes costs nothing.
const MAX_READ_LENGTH = 4 * MAX_STACK_BYTES
// The database refuses a longer wait.
const MAX_RETRY_MS = 365 * 24 * 3_600_000

export function classifyError<Code extends string = PublicCode>(
  thrown: unknown,
  options: ClassifyOptions<Code> = {},
): ClassifiedError<Code> {
  const codes = (options.codes ?? defaultCodes) as CodeSet<Code>
  const chain = causesOf(thrown)
  // A JobError says on purpose what should happen, so it decides even as the cause of another error.
  const said = chain.find(isJobError)
  const code = said === undefined ? findCode(chain) : (readCode(said) ?? 'UNKNOWN')
  const publicCode = codes.toPublicCode(code, { isLocalPressure: options.isLocalPressure === true })
  const isCausedByUser = chain.some((link) => read(link, 'isCausedByUser') === true)
  const isRetryableCode = codes.isRetryable(publicCode, { isCausedByUser })
  const category = said === undefined ? defaultCategory(isRetryableCode) : readCategory(said)
  const isRetryable = isRetryableCode && category === 'TRANSIENT'
  const stack = stackOf(chain)
  const retryInMs = isRetryable ? firstOf(chain, readRetryInMs) : undefined
  const gatewayStatus = firstOf(chain, readGatewayStatus)
  const release = isRetryable && said !== undefined ? readRelease(said) : undefined
  return {
    code,
    publicCode,
    category,
    reason: reasonOf(chain, code),
    isRetryable,
    ...(stack === '' ? {} : { stack }),
    ...(retryInMs === undefined ? {} : { retryInMs }),
    ...(gatewayStatus === undefined ? {} : { gatewayStatus }),
    ...(release === undefined ? {} : { release }),
  }
}

/** A mistake in the program (TypeError, …) stays TRANSIENT: a deploy may mend it before the attempts are used up. */
function defaultCategory(isRetryableCode: boolean): ErrorCategory {
  return isRetryableCode ? 'TRANSIENT' : 'PERMANENT'
}

/** Reads what may be a revoked proxy or a getter that throws. */
function read(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined
  try {
    return (value as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}

function readText(value: unknown, key: PropertyKey): string {
  const text = read(value, key)
  return typeof text === 'string' ? text : ''
}

function firstOf<T>(chain: unknown[], find: (link: unknown) => T | undefined): T | undefined {
  for (const link of chain) {
    const found = find(link)
    if (found !== undefined) return found
  }
  return undefined
}

/** The error that was thrown, then its causes. Several errors in one are judged by the first of them. */
function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = []
  let link = thrown
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const first = read(link, 'name') === 'AggregateError' ? read(read(link, 'errors'), 0) : undefined
    // The AggregateError of a failed connection has a code of its own and is kept.
    if (first === undefined || readCode(link) !== undefined) chain.push(link)
    const next = first ?? read(link, 'cause')
    if (next === undefined || next === null) break
    link = next
  }
  return chain.length === 0 ? [thrown] : chain
}

/** `AbortError` and `fetch failed` say little: a cause that says more goes first. */
function findCode(chain: unknown[]): string {
  return firstOf(chain, readCode) ?? firstOf(chain, guessCode) ?? 'UNKNOWN'
}

function readCode(link: unknown): string | undefined {
  const code = readText(link, 'code')
  if (code === 'ERR_WORKER_OUT_OF_MEMORY' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'MEMORY_ERROR'
  // A DOMException has a number here, and so has a child process that failed.
  // `cancelled` is the engine's own word for jobs that were cancelled.
  if (/^[\w.:-]{1,64}$/.test(code) && code !== 'ABORT_ERR' && code !== 'cancelled') return code
  const name = read(link, 'name')
  if (name === 'TimeoutError') return 'TIMEOUT'
  if (name === 'RangeError' && /memory|allocat/i.test(readText(link, 'message'))) return 'MEMORY_ERROR'
  return undefined
}

function guessCode(link: unknown): string | undefined {
  const name = read(link, 'name')
  if (name === 'AbortError') return 'ABORTED'
  if (name === 'TypeError' && read(link, 'message') === 'fetch failed') return 'NETWORK_ERROR'
  return undefined
}

function readCategory(said: JobError): ErrorCategory {
  const category = read(said, 'category')
  return category === 'PERMANENT' || category === 'CRITICAL' ? category : 'TRANSIENT'
}

function readRelease(said: JobError): ReleaseCause | undefined {
  const release = read(said, 'release')
  return release === 'asked' || release === 'limited' ? release : undefined
}

function readRetryInMs(link: unknown): number | undefined {
  const afterMs = read(link, 'retryAfterMs')
  const afterSec = read(link, 'retryAfter')
  // A date would need a clock, and this is pure: whoever reads the header turns it into a duration.
  const waitMs = typeof afterMs === 'number' ? afterMs : typeof afterSec === 'number' ? afterSec * 1000 : -1
  return waitMs >= 0 ? Math.ceil(Math.min(waitMs, MAX_RETRY_MS)) : undefined
}

function readGatewayStatus(link: unknown): number | undefined {
  const status = read(link, 'gatewayStatus')
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599
    ? status
    : undefined
}

function reasonOf(chain: unknown[], code: string): string {
  const [thrown] = chain
  const said =
    toOneLine(sayThrown(thrown)) || toOneLine(readText(thrown, 'name')) || 'an error without a message'
  // `fetch failed` alone helps nobody.
  const isCodeOfCause = chain.length > 1 && readCode(thrown) !== code && code !== 'UNKNOWN'
  const suffix = isCodeOfCause && !said.includes(code) ? ` (${code})` : ''
  return `${shorten(said, MAX_REASON_LENGTH - suffix.length)}${suffix}`
}

function sayThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  if (typeof thrown === 'symbol' || typeof thrown === 'function') return `a ${typeof thrown} was thrown`
  if (typeof thrown !== 'object' || thrown === null) return `${String(thrown)} was thrown`
  // The object itself may be a payload or hold a secret.
  return readText(thrown, 'message') || (readText(thrown, 'name') === '' ? 'an object was thrown' : '')
}

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]+/
const STACK_FRAME = /^\s*at\s.+(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))$/
const TERMINAL_COLOUR = /\p{Cc}\[[0-9;]*m/gu
// Control characters, halves of surrogate pairs, and the marks that reverse the reading direction.
const UNSAFE = /[\p{Cc}\p{Cs}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

function toOneLine(message: string): string {
  const lines = readable(message)
    .split(LINE_BREAK)
    .filter((line) => !STACK_FRAME.test(line))
  const line = lines.join(' ').replace(TERMINAL_COLOUR, '').replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()
  return hidePaths(maskSecrets(line))
}

/** Half a word at the end could be half a password, which no pattern would know. */
function readable(text: string): string {
  if (text.length <= MAX_READ_LENGTH) return text
  const start = text.slice(0, MAX_READ_LENGTH)
  return start.slice(0, Math.max(start.lastIndexOf(' '), start.lastIndexOf('\n'), 0)) || start
}

const URL_USER = /:\/\/(?:[^\s/:@]{0,200}:\S{0,500}|[^\s/@]{1,500})@/g
const SECRET_VALUE = /\b([\w-]{0,40}(?:token|secret|passw(?:or)?d|signature|api[_-]?key))=[^\s&#;,]+/gi
const BEARER = /\b(bearer|basic) [\w.~+/=-]{8,}/gi

function maskSecrets(text: string): string {
  return text.replace(URL_USER, '://***@').replace(SECRET_VALUE, '$1=***').replace(BEARER, '$1 ***')
}

const FILE_URL = /\bfile:\/\/[^\s'"`<>|)]+/gi
// Between quotes a path may have spaces, as in the messages of Node's file system calls.
const QUOTED_PATH = /(['"`])(?:\/|[a-z]:[\\/]|\\\\)[^'"`]{0,1000}\1/gi
// After a letter or a second slash it is the path of a URL, or "and/or".
const BARE_PATH =
  /(?:(?<=^|[\s'"`([{<=,;:|>])\/(?!\/)|(?<!\w)[a-z]:[\\/]|(?<![\w\\])\\\\(?=\w))[^\s'"`<>|]*[^\s'"`<>|,;:.)\]}]/gi

function hidePaths(line: string): string {
  return line.replace(FILE_URL, '<path>').replace(QUOTED_PATH, '$1<path>$1').replace(BARE_PATH, '<path>')
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

function stackOf(chain: unknown[]): string {
  const stacks = chain.map((link) => readText(link, 'stack')).filter((stack) => stack !== '')
  const text = maskSecrets(readable(stacks.join('\ncaused by ')))
    // PostgreSQL stores no NUL and no half of a surrogate pair.
    .replaceAll('\0', '')
    .toWellFormed()
  const { read: fitting } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_STACK_BYTES))
  return text.slice(0, fitting)
}
