// Virtual time: it jumps to the next event. One event runs at a time, and every promise it settled is followed to its end before
// the next one, so the order of everything is decided by the queue alone.
import type { Timer, Timing } from '../../../src/runtime/timing/timing.ts'

/** One event loop: a process has one for its main thread and one for its heartbeat thread. */
export class Loop {
  readonly name: string
  isDead = false
  /** Nothing of this loop runs before. */
  blockedUntilMs = 0
  /** Offset of its wall clock. */
  skewMs = 0
  /** Start of its monotonic clock. */
  readonly originMs: number

  constructor(name: string, originMs = 0) {
    this.name = name
    this.originMs = originMs
  }
}

export class Entry implements Timer {
  atMs: number
  order = 0
  readonly loop: Loop | null
  run: () => void
  /** Null for one that fires once. */
  readonly everyMs: number | null
  isCancelled = false

  constructor(atMs: number, loop: Loop | null, run: () => void, everyMs: number | null) {
    this.atMs = atMs
    this.loop = loop
    this.run = run
    this.everyMs = everyMs
  }

  /** Lets go of what it would have run: timeouts of answered calls stay in the queue for long. */
  cancel(): void {
    this.isCancelled = true
    this.run = runNothing
  }

  unref(): this {
    return this
  }
}

const runNothing = () => {}

/** Virtual times start here, so that a date is readable. */
export const EPOCH_MS = Date.parse('2026-01-01T00:00:00Z')
/** Immediates that are prepared at once: between two of them Node runs all microtasks. */
const BATCH = 64

export class VirtualTime {
  readonly #random: () => number
  readonly #queue: Entry[] = []
  #order = 0
  #nowMs = 0
  #current: Loop | null = null
  events = 0

  constructor(random: () => number) {
    this.#random = random
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** The loop whose code runs now. */
  get loop(): Loop | null {
    return this.#current
  }

  /** The time as the code that runs now sees it: code after a synchronous block runs later than its event began. */
  get localMs(): number {
    return Math.max(this.#nowMs, this.#current?.blockedUntilMs ?? 0)
  }

  /** Runs `run` on a loop, `ms` from the local time on. */
  after(ms: number, loop: Loop | null, run: () => void): Entry {
    return this.#add(new Entry(this.localMs + Math.max(0, ms), loop, run, null))
  }

  /** Runs the queue until it is empty, `hasEnough`, or the limit is reached. */
  runUntil(limitMs: number, hasEnough: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let hasEnded = false
      const step = () => {
        if (hasEnded) return
        try {
          if (hasEnough() || !this.#runNext(limitMs)) {
            hasEnded = true
            resolve()
          }
        } catch (error) {
          hasEnded = true
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      const prepare = () => {
        if (hasEnded) return
        for (let n = 0; n < BATCH; n++) setImmediate(step)
        setImmediate(prepare)
      }
      prepare()
    })
  }

  #runNext(limitMs: number): boolean {
    const entry = this.#takeNext(limitMs)
    if (entry === undefined) return false
    this.#current = entry.loop
    this.events++
    if (entry.everyMs !== null) {
      entry.atMs = this.#nowMs + entry.everyMs
      this.#add(entry)
    }
    entry.run()
    return true
  }

  /** The next entry that can run, and its time. */
  #takeNext(limitMs: number): Entry | undefined {
    for (;;) {
      const entry = this.#take()
      if (entry === undefined || entry.atMs > limitMs) return undefined
      const { loop } = entry
      if (entry.isCancelled || loop?.isDead === true) continue
      this.#nowMs = Math.max(this.#nowMs, entry.atMs)
      if (loop === null || loop.blockedUntilMs <= this.#nowMs) return entry
      entry.atMs = loop.blockedUntilMs
      this.#push(entry)
    }
  }

  /** Replaces Node's clocks, timers and chance in the runtime. */
  timing(createUuid: () => string): Timing {
    const set = (run: () => void, ms: number, everyMs: number | null): Timer => {
      // Node's timers are late by up to a millisecond, and never early.
      const atMs = this.localMs + Math.max(1, ms) + this.#random()
      return this.#add(new Entry(atMs, this.#current, run, everyMs))
    }
    const clear = (timer: Timer | undefined) => {
      ;(timer as Entry | undefined)?.cancel()
    }
    return {
      nowMs: () => this.localMs - (this.#current?.originMs ?? 0),
      epochMs: () => EPOCH_MS + this.localMs,
      wallMs: () => EPOCH_MS + this.localMs + (this.#current?.skewMs ?? 0),
      setTimeout: (run, ms) => set(run, ms, null),
      setInterval: (run, ms) => set(run, ms, Math.max(1, ms)),
      setImmediate: (run) => void this.after(0, this.#current, run),
      clearTimeout: clear,
      clearInterval: clear,
      random: this.#random,
      randomUUID: createUuid,
    }
  }

  #add(entry: Entry): Entry {
    entry.order = this.#order++
    this.#push(entry)
    return entry
  }

  /** A binary heap. A blocked entry keeps its order, so that timers fire in the order in which they were due. */
  #push(entry: Entry): void {
    const queue = this.#queue
    let at = queue.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = queue[parent]
      if (above === undefined || isBefore(above, entry)) break
      queue[at] = above
      at = parent
    }
    queue[at] = entry
  }

  #take(): Entry | undefined {
    const queue = this.#queue
    const first = queue[0]
    const last = queue.pop()
    if (first === undefined || last === undefined || queue.length === 0) return first
    let at = 0
    for (;;) {
      const left = queue[2 * at + 1]
      const right = queue[2 * at + 2]
      const isRight = right !== undefined && left !== undefined && isBefore(right, left)
      const least = isRight ? right : left
      if (least === undefined || isBefore(last, least)) break
      queue[at] = least
      at = 2 * at + (isRight ? 2 : 1)
    }
    queue[at] = last
    return first
  }
}

const isBefore = (one: Entry, other: Entry) =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
