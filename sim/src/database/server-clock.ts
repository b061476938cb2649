// The clock of the server, which steps when somebody sets it. Everything else in the world measures time with clocks that do not:
// the judge translates what the server wrote into the time of the world.
import { EPOCH_MS, type VirtualTime } from '../world/virtual-time.ts'

/** The time between two steps. */
interface Span {
  /** World time. */
  fromMs: number
  /** How far the clock is ahead of the world. */
  aheadMs: number
  /** Events up to this one were recorded before. */
  afterEvent: number
}

export class ServerClock {
  readonly #time: VirtualTime
  readonly #spans: Span[] = [{ fromMs: Number.NEGATIVE_INFINITY, aheadMs: 0, afterEvent: 0 }]
  #aheadMs = 0

  constructor(time: VirtualTime) {
    this.#time = time
  }

  nowMs(): number {
    return EPOCH_MS + this.#time.nowMs + this.#aheadMs
  }

  /** `afterEvent`: the id of the last event so far. */
  step(ms: number, afterEvent: number): void {
    this.#aheadMs += ms
    this.#spans.push({ fromMs: EPOCH_MS + this.#time.nowMs, aheadMs: this.#aheadMs, afterEvent })
  }

  get hasStepped(): boolean {
    return this.#spans.length > 1
  }

  /** When an event was recorded that the server dated so, in whole milliseconds: it is not from before the step. */
  recordedMs(eventId: number, serverMs: number): number {
    const nth = this.#spans.findLastIndex(({ afterEvent }) => eventId > afterEvent)
    return Math.max(serverMs - this.#ahead(nth), this.#fromMs(nth))
  }

  /** The first moment from `fromMs` on at which the clock shows this time or a later one. */
  firstMs(serverMs: number, fromMs: number): number {
    for (const [nth, { aheadMs }] of this.#spans.entries()) {
      const reachedMs = Math.max(serverMs - aheadMs, this.#fromMs(nth), fromMs)
      if (reachedMs < this.#toMs(nth)) return reachedMs
    }
    return serverMs - this.#aheadMs
  }

  /** The first moment from `fromMs` to `toMs` at which the clock showed just this time, to the millisecond. */
  shownMs(serverMs: number, fromMs: number, toMs: number): number {
    for (const [nth, { aheadMs }] of this.#spans.entries()) {
      const shownMs = serverMs - aheadMs
      const isShown = shownMs > this.#fromMs(nth) - 1 && shownMs < this.#toMs(nth)
      if (isShown && shownMs > fromMs - 1 && shownMs <= toMs) return shownMs
    }
    return this.sinceMs(serverMs, toMs)
  }

  /** Since when the clock has shown this time or later ones, at `atMs`; if it does not yet, when it would. */
  sinceMs(serverMs: number, atMs: number): number {
    let nth = this.#spans.findLastIndex(({ fromMs }) => fromMs <= atMs)
    let sinceMs = serverMs - this.#ahead(nth)
    // Before a step forward the clock may have shown an earlier time, and the step is what made it later.
    while (nth > 0 && sinceMs < this.#fromMs(nth)) {
      const stepMs = this.#fromMs(nth)
      nth--
      sinceMs = serverMs - this.#ahead(nth)
      if (sinceMs > stepMs) return stepMs
    }
    return sinceMs
  }

  #fromMs(nth: number): number {
    return this.#spans[nth]?.fromMs ?? Number.POSITIVE_INFINITY
  }

  #toMs(nth: number): number {
    return this.#fromMs(nth + 1)
  }

  #ahead(nth: number): number {
    return this.#spans[nth]?.aheadMs ?? 0
  }
}
