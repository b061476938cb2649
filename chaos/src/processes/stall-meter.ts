// How long the machine stalled the run: late timers, slow responses to a trivial query, and CPU waits of our processes. The
// first two widen time limits; starved processes are not judged. All are printed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChaosDatabase } from './database.ts'

export interface Stall {
  from: number
  to: number
  by: 'timer' | 'query' | 'processor'
  /** For a CPU wait: a worker (`w1`), `reaper`, `run` or `database`. */
  who?: string
  /** For a CPU wait: its length, between `from` and `to`. */
  ms?: number
}

const TICK_MS = 50
const PROCESSOR_EVERY_MS = 500
/** Shorter CPU waits are ignored. */
const SHORT_WAIT_MS = 10
const QUERY_EVERY_MS = 250
const NOTED_FROM_MS = 150

export class StallMeter {
  stalls: Stall[] = []
  #isStopping = false
  #lastTick = Date.now()
  #timer
  #looks: NodeJS.Timeout | undefined

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  #tick() {
    const now = Date.now()
    if (now - this.#lastTick - TICK_MS > NOTED_FROM_MS)
      this.stalls.push({ from: this.#lastTick, to: now, by: 'timer' })
    this.#lastTick = now
  }

  /** Ignores queries that are not `isUndisturbed`: an injected fault may have slowed them down. */
  async watchQueries(database: Pick<ChaosDatabase, 'url' | 'withClient'>, isUndisturbed: () => boolean) {
    while (!this.#isStopping) {
      try {
        await database.withClient(async (client) => {
          while (!this.#isStopping) {
            const from = Date.now()
            const wasUndisturbed = isUndisturbed()
            await client.query('select 1')
            const to = Date.now()
            if (to - from > NOTED_FROM_MS && wasUndisturbed && isUndisturbed())
              this.stalls.push({ from, to, by: 'query' })
            await sleep(QUERY_EVERY_MS)
          }
        })
      } catch {
        await sleep(QUERY_EVERY_MS)
      }
    }
  }

  /** Expects the processes by name. */
  watchProcessors(processes: Map<string, { sinceLast: () => number }>) {
    let from = Date.now()
    this.#looks = setInterval(() => {
      const to = Date.now()
      for (const [who, waits] of processes) {
        const ms = Math.round(waits.sinceLast())
        // Linux counts a wait when it ends.
        if (ms >= SHORT_WAIT_MS)
          this.stalls.push({ from: Math.min(from, to - ms), to, by: 'processor', who, ms })
      }
      from = to
    }, PROCESSOR_EVERY_MS)
  }

  stop() {
    this.#isStopping = true
    clearInterval(this.#timer)
    clearInterval(this.#looks)
  }

  longestMs(by: 'timer' | 'query') {
    return this.stalls.reduce(
      (most, stall) => (stall.by === by ? Math.max(most, stall.to - stall.from) : most),
      0,
    )
  }
}
