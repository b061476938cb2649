// How long the machine itself held the run up: the pauses of a timer, and the slowest answers to a trivial query. Limits that
// depend on time are widened by what is measured here, and what was measured is printed.
import { setTimeout as sleep } from 'node:timers/promises'

/** @import { ChaosDatabase } from './database.mjs' */
/** @typedef {{ from: number, to: number, by: 'timer' | 'query' }} Stall */

const TICK_MS = 50
const QUERY_EVERY_MS = 250
const NOTED_FROM_MS = 150

export class StallMeter {
  /** @type {Stall[]} */
  stalls = []
  #isStopping = false
  #lastTick = Date.now()
  #timer

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  #tick() {
    const now = Date.now()
    if (now - this.#lastTick - TICK_MS > NOTED_FROM_MS)
      this.stalls.push({ from: this.#lastTick, to: now, by: 'timer' })
    this.#lastTick = now
  }

  /**
   * @param {Pick<ChaosDatabase, 'url' | 'withClient'>} database
   * @param {() => boolean} isUndisturbed a query that a fault of ours slows down says nothing of the machine
   */
  async watchQueries(database, isUndisturbed) {
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

  stop() {
    this.#isStopping = true
    clearInterval(this.#timer)
  }

  /** @param {'timer' | 'query'} by */
  longestMs(by) {
    return this.stalls.reduce(
      (most, stall) => (stall.by === by ? Math.max(most, stall.to - stall.from) : most),
      0,
    )
  }
}
