// A fleet that starts at once may find no free connection slot, a server that is still starting, or one too busy to answer. All
// pass: a worker then tries again, at random times, until its start has taken too long.
import { setTimeout as sleep } from 'node:timers/promises'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'

/** too_many_connections, cannot_connect_now */
const passing = new Set(['53300', '57P03'])
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5_000
const DEFAULT_START_TIMEOUT_MS = 60_000

/** A server that refuses connections, or is not there, fails at once: that is a mistake in the address more often than not. */
function isPassing({ code, message, details }: UnstuckError): boolean {
  const isSlow = code === 'DATABASE_UNREACHABLE' && message.includes('timeout')
  return isSlow || passing.has(String(details['sqlState']))
}

export class StartLimit {
  readonly #timeoutMs: number
  readonly #endsAtMs: number

  constructor(timeoutMs = DEFAULT_START_TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs
    this.#endsAtMs = performance.now() + timeoutMs
  }

  /** Repeats a call that found no slot. */
  async retry<T>(call: () => Promise<T>): Promise<T> {
    for (let longestMs = FIRST_WAIT_MS; ; longestMs = Math.min(2 * longestMs, LONGEST_WAIT_MS)) {
      try {
        return await call()
      } catch (error) {
        if (!isUnstuckError(error) || !isPassing(error)) throw error
        const leftMs = this.#endsAtMs - performance.now()
        if (leftMs <= 0) throw this.#tooLate(error)
        await sleep(Math.min(leftMs, Math.random() * longestMs))
      }
    }
  }

  /** For a part of the start that repeats itself. */
  async within<T>(part: Promise<T>): Promise<T> {
    const ended = new AbortController()
    const leftMs = Math.max(0, this.#endsAtMs - performance.now())
    const late = sleep(leftMs, undefined, { signal: ended.signal }).then(() =>
      Promise.reject(this.#tooLate()),
    )
    late.catch(() => {})
    try {
      return await Promise.race([part, late])
    } finally {
      ended.abort()
    }
  }

  #tooLate(cause?: UnstuckError): UnstuckError {
    const why = cause === undefined ? 'heartbeats got no connection' : cause.message
    return new UnstuckError(
      'DATABASE_UNREACHABLE',
      `the worker did not start within startTimeoutMs (${this.#timeoutMs}): ${why}`,
      {
        ...(cause === undefined ? {} : { cause }),
        details: cause?.details ?? {},
        hint: 'Raise max_connections, lower UNSTUCK_CONNECTIONS, or run fewer workers: unstuck doctor counts them.',
      },
    )
  }
}
