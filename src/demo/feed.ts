// Enqueues the same jobs in both tables. The seed selects their durations and the victim of each act.
import type { JobStore } from '../store/job-store.ts'
import type { Kind } from './demo-settings.ts'
import type { HandRolledTable } from './processes/hand-rolled-table.ts'
import { writeLedger } from './receipt/ledger.ts'

export interface FeedOptions {
  store: JobStore
  handRolled: HandRolledTable
  ledgerFile: string
  random: Random
}

export type Random = () => number

const FEED_MS = 800
const SHORTEST_MS = 900
const LONGEST_MS = 2_200
const CONVERT_EVERY = 3
/** Stops feeding a demo that was left running. */
const MOST_JOBS = 900
/** Attempts of gateway jobs: a broken gateway is not the job's fault. */
const CONVERT_ATTEMPTS = 20
/** Ahead of the regular jobs. */
const AT_ONCE = -10

export class Feed {
  readonly #options: FeedOptions
  #timer: NodeJS.Timeout | undefined
  #adding: Promise<unknown> = Promise.resolve()
  #n = 0

  constructor(options: FeedOptions) {
    this.#options = options
  }

  start(onError: (error: unknown) => void): void {
    this.#timer ??= setInterval(() => {
      if (this.#n >= MOST_JOBS) return
      this.add((this.#n + 1) % CONVERT_EVERY === 0 ? 'convert' : 'plain').catch(onError)
    }, FEED_MS)
  }

  /** Settles when pending inserts are done. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#adding.catch(() => {})
  }

  /** Returns the number of the job. */
  add(kind: Kind, isUrgent = false): Promise<number> {
    const n = ++this.#n
    const durationMs = Math.round(SHORTEST_MS + this.#options.random() * (LONGEST_MS - SHORTEST_MS))
    const adding = this.#add(n, kind, durationMs, isUrgent)
    this.#adding = Promise.allSettled([this.#adding, adding])
    return adding
  }

  async #add(n: number, kind: Kind, durationMs: number, isUrgent: boolean): Promise<number> {
    const { store, handRolled, ledgerFile } = this.#options
    const [job] = await store.enqueueJobs([
      {
        type: kind,
        payload: { n, durationMs },
        ...(isUrgent ? { priority: AT_ONCE } : {}),
        ...(kind === 'convert' ? { maxAttempts: CONVERT_ATTEMPTS } : {}),
      },
    ])
    if (job !== undefined) writeLedger(ledgerFile, { kind: 'enqueued', jobId: job.jobId, fence: 0 })
    await handRolled.add({ n, kind, durationMs })
    return n
  }
}

/** mulberry32: a small deterministic generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
