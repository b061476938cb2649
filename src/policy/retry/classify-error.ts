// Classifies a thrown value: facts that decide what happens to the job, and one line that may be shown. Never throws: an
// error about an error would leave the job without an outcome.
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
  /** As precise as possible, such as ECONNREFUSED. */
  code: string
  publicCode: Code
  category: ErrorCategory
  /** One line of at most 300 characters, without stack, absolute path or password. */
  reason: string
  /** At most 8 KiB, with the causes; absent for a thrown value without a stack. For operators only. */
  stack?: string
  isRetryable: boolean
  /** Delay that the error asked for, if it may be retried. */
  retryInMs?: number
  gatewayStatus?: number
  /** The job is released for `retryInMs` instead, without an attempt spent. */
  release?: ReleaseCause
}

export interface ClassifyOptions<Code extends string = PublicCode> {
  /** Default: the shipped codes. */
  codes?: CodeSet<Code>
  /** This machine is short of memory, disk or handles. */
  isLocalPressure?: boolean
}

// A cycle of causes has to end somewhere, and nothing reads deeper.
const MAX_CAUSES = 5
const MAX_REASON_LENGTH = 300
const MAX_STACK_BYTES = 8192
// Upper bound of the text that the patterns below read, however long a message is.
const MAX_READ_LENGTH = 4 * MAX_STACK_BYTES
// The database refuses a longer wait.
const MAX_RETRY_MS = 365 * 24 * 3_600_000

export function classifyError<Code extends string = PublicCode>(
  thrown: unknown,
  options: ClassifyOptions<Code> = {},
): ClassifiedError<Code> {
  const codes = (options.codes ?? defaultCodes) as CodeSet<Code>
  const chain = causesOf(thrown)
  // A JobError is explicit, so it decides even as the cause of another error.
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

/** A programming error (TypeError, …) stays TRANSIENT: a deploy may fix it before the attempts are used up. */
function defaultCategory(isRetryableCode: boolean): ErrorCategory {
  return isRetryableCode ? 'TRANSIENT' : 'PERMANENT'
}

/** Tolerates a revoked proxy and a getter that throws. */
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

/** The thrown error, then its causes. An AggregateError is represented by its first error. */
function causesOf(thrown: unknown): unknown[] {
  const chain: unknown[] = []
  let link = thrown
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const first = read(link, 'name') === 'AggregateError' ? read(read(link, 'errors'), 0) : undefined
    // The AggregateError of a failed connection has its own code and is kept.
    if (first === undefined || readCode(link) !== undefined) chain.push(link)
    const next = first ?? read(link, 'cause')
    if (next === undefined || next === null) break
    link = next
  }
  return chain.length === 0 ? [thrown] : chain
}

/** `AbortError` and `fetch failed` say little: a more precise cause goes first. */
function findCode(chain: unknown[]): string {
  return firstOf(chain, readCode) ?? firstOf(chain, guessCode) ?? 'UNKNOWN'
}

function readCode(link: unknown): string | undefined {
  const code = readText(link, 'code')
  if (code === 'ERR_WORKER_OUT_OF_MEMORY' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'MEMORY_ERROR'
  // A DOMException and a failed child process have a number here. `cancelled` is reserved for cancelled jobs.
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
  // No dates, since this module is pure: the caller turns the header into a duration.
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
  // `fetch failed` alone does not help.
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
// Control characters, lone surrogates, and marks that reverse the reading direction.
const UNSAFE = /[\p{Cc}\p{Cs}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

function toOneLine(message: string): string {
  const lines = readable(message)
    .split(LINE_BREAK)
    .filter((line) => !STACK_FRAME.test(line))
  const line = lines.join(' ').replace(TERMINAL_COLOUR, '').replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()
  return hidePaths(maskSecrets(line))
}

/** A truncated last word could be half a password, which no pattern would match. */
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
// A quoted path may contain spaces, as in messages of Node's file system calls.
const QUOTED_PATH = /(['"`])(?:\/|[a-z]:[\\/]|\\\\)[^'"`]{0,1000}\1/gi
// After a letter or a second slash, it is the path of a URL, or "and/or".
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
    // PostgreSQL stores no NUL and no lone surrogate.
    .replaceAll('\0', '')
    .toWellFormed()
  const { read: fitting } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_STACK_BYTES))
  return text.slice(0, fitting)
}
