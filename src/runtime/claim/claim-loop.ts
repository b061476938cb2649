// When a worker claims, and how many. One claim at a time, until jobs are so short that those of one claim have ended before
// the next is answered: then a second claim is under way beside it, for what is only fetched ahead.

import { Waker } from '../timing/waker.ts'
import { Prefetch } from './prefetch.ts'
import { STALE_MS } from './waiting-jobs.ts'

/** Of one statement: a larger one holds its locks longer. */
const MOST_CLAIMED = 1_000

export interface ClaimLoopOptions {
  slots: number
  /** Slots that have no job. */
  free: () => number
  /** Jobs that were claimed and have no slot yet. */
  waiting: () => number
  isAble: () => boolean
  isStopping: () => boolean
  /** Answers how many it got. */
  claim: (free: number, ahead: number) => Promise<number>
  giveBackStale: () => Promise<void>
  /** After nothing was claimed. */
  pauseMs: () => number
}

export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  readonly #prefetch: Prefetch
  /** Woken by whatever makes another look worthwhile: for the claims of free slots, and for those beside them. */
  readonly #wakers = [new Waker(), new Waker()] as const
  /** With fewer jobs waiting than this it is worth claiming more. */
  #lowWater = 0
  /** Jobs that claims under way may bring, beside those for free slots. */
  #coming = 0

  constructor(options: ClaimLoopOptions) {
    this.#options = options
    this.#prefetch = new Prefetch(options.slots)
  }

  wake(): void {
    for (const waker of this.#wakers) waker.wake()
  }

  /** A handler starts. */
  noteStart(): void {
    this.#prefetch.noteStart()
  }

  /** A handler has returned. */
  noteEnd(): void {
    this.#prefetch.noteEnd()
  }

  /** After a slot was given back, and taken by the next job where one waited. */
  wakeIfLow(): void {
    if (this.#isLow()) this.wake()
  }

  async run(): Promise<void> {
    const [forSlots, beside] = this.#wakers
    await Promise.all([
      this.#claimUntilStopped(forSlots, (ahead) => this.#claimForSlots(ahead)),
      this.#claimUntilStopped(beside, (ahead) => this.#claimBeside(ahead)),
    ])
    await this.#options.giveBackStale()
  }

  async #claimUntilStopped(waker: Waker, claim: (ahead: number) => Promise<number>): Promise<void> {
    const { isStopping, isAble, giveBackStale } = this.#options
    while (!isStopping()) {
      // Before the look, so that nothing that happens during it is forgotten.
      waker.reset()
      const ahead = this.#prefetch.size()
      // Not for each job that ends: up to half of what may wait is claimed at once.
      this.#lowWater = ahead - Math.min(MOST_CLAIMED, Math.ceil(ahead / 2))
      const claimed = isAble() ? await claim(ahead) : 0
      if (claimed === 0) await waker.pause(this.#pauseMs())
      await giveBackStale()
    }
  }

  async #claimForSlots(ahead: number): Promise<number> {
    const free = this.#options.free()
    return free > 0 || this.#isLow() ? this.#claim(free, ahead) : 0
  }

  async #claimBeside(ahead: number): Promise<number> {
    return ahead > MOST_CLAIMED && this.#coming > 0 && this.#isLow() ? this.#claim(0, ahead) : 0
  }

  #isLow(): boolean {
    return this.#options.waiting() + this.#coming <= this.#lowWater
  }

  async #claim(free: number, ahead: number): Promise<number> {
    const room = ahead - this.#options.waiting() - this.#coming
    const most = Math.max(0, Math.min(MOST_CLAIMED, room))
    const beganAtMs = performance.now()
    this.#coming += most
    const claimed = await this.#options.claim(free, most).finally(() => {
      this.#coming -= most
    })
    if (claimed > 0) this.#prefetch.noteClaim(performance.now() - beganAtMs)
    return claimed
  }

  #pauseMs(): number {
    const pauseMs = this.#options.pauseMs()
    return this.#options.waiting() > 0 ? Math.min(pauseMs, STALE_MS) : pauseMs
  }
}
