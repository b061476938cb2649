// The network between processes and the server: it delays, loses and cuts.
import type { Delay } from '../../../chaos/src/judge/history.ts'
import { EPOCH_MS, type Loop, type VirtualTime } from '../world/virtual-time.ts'

const LEAST_MS = 0.3
const SPREAD_MS = 2

export class Network {
  /** By process, the share of answers that are lost, before or after the commit. */
  readonly lossy = new Map<string, number>()
  /** Multiplies every latency. */
  #slowness = 1
  /** Times of a slow network; the last one may still go on. */
  readonly delays: Delay[] = []
  /** By process: how many faults cut it off, in both directions. */
  readonly #cuts = new Map<string, number>()
  /** By process that is cut off, packets that TCP sends again until they get through. */
  readonly #unsent = new Map<string, (() => void)[]>()
  readonly #time: VirtualTime
  readonly #random: () => number

  constructor(time: VirtualTime, random: () => number) {
    this.#time = time
    this.#random = random
  }

  isCutOff(owner: string): boolean {
    return this.#cuts.has(owner)
  }

  cutOff(owner: string): void {
    this.#cuts.set(owner, (this.#cuts.get(owner) ?? 0) + 1)
  }

  reconnect(owner: string): void {
    const left = (this.#cuts.get(owner) ?? 0) - 1
    if (left > 0) return void this.#cuts.set(owner, left)
    this.#cuts.delete(owner)
    const unsent = this.#unsent.get(owner) ?? []
    this.#unsent.delete(owner)
    for (const send of unsent) this.#time.after(50 + 150 * this.#random(), null, send)
  }

  loses(owner: string, times = 1): boolean {
    return this.#random() < times * (this.lossy.get(owner) ?? 0)
  }

  slowDown(slowness: number): void {
    const from = EPOCH_MS + this.#time.nowMs
    this.speedUp()
    this.#slowness = slowness
    this.delays.push({ from, to: Number.POSITIVE_INFINITY, packetMs: (LEAST_MS + SPREAD_MS) * slowness })
  }

  speedUp(): void {
    this.#slowness = 1
    const last = this.delays.at(-1)
    if (last !== undefined) last.to = Math.min(last.to, EPOCH_MS + this.#time.nowMs)
  }

  latencyMs(): number {
    const random = this.#random()
    // Mostly half a millisecond, sometimes twenty.
    return (LEAST_MS + SPREAD_MS * random ** 2 + (this.#random() < 0.01 ? 20 * random : 0)) * this.#slowness
  }

  /** Carries a packet of a process, in either direction. `arrive` runs on the loop, or on the server. */
  deliver(owner: string, loop: Loop | null, arrive: () => void): void {
    this.#time.after(this.latencyMs(), loop, () => {
      if (!this.isCutOff(owner)) return arrive()
      const again = () => this.deliver(owner, loop, arrive)
      const unsent = this.#unsent.get(owner)
      if (unsent === undefined) this.#unsent.set(owner, [again])
      else unsent.push(again)
    })
  }
}
