// The network between processes and the server: it delays, loses and cuts.
import type { Loop, VirtualTime } from '../world/virtual-time.ts'

export class Network {
  /** By process, the share of answers that are lost, before or after the commit. */
  readonly lossy = new Map<string, number>()
  /** Multiplies every latency. */
  slowness = 1
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

  latencyMs(): number {
    const random = this.#random()
    // Mostly half a millisecond, sometimes twenty.
    return (0.3 + 2 * random ** 2 + (this.#random() < 0.01 ? 20 * random : 0)) * this.slowness
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
