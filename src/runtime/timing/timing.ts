// The one source of time and of chance in the runtime. Node's own, unless the simulator (sim/) has put its own in their place: then
// a seed decides every clock, timer and random number.

export interface Timer {
  /** The process may end before it fires. */
  unref(): unknown
}

export interface Timing {
  /** Monotonic, from any origin. */
  nowMs(): number
  /** Monotonic, since 1970. Threads of a process compare these. */
  epochMs(): number
  /** The wall clock, which may be wrong and may step. */
  wallMs(): number
  setTimeout(run: () => void, ms: number): Timer
  setInterval(run: () => void, ms: number): Timer
  /** After the callbacks that are due now. */
  setImmediate(run: () => void): void
  clearTimeout(timer: Timer | undefined): void
  clearInterval(timer: Timer | undefined): void
  /** In [0, 1). */
  random(): number
  randomUUID(): string
}

// Globals are looked up at each call: fake timers replace them.
const nodeTiming: Timing = {
  nowMs: () => performance.now(),
  epochMs: () => performance.timeOrigin + performance.now(),
  wallMs: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  setInterval: (run, ms) => setInterval(run, ms),
  setImmediate: (run) => void setImmediate(run),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout | undefined),
  random: () => Math.random(),
  randomUUID: () => crypto.randomUUID(),
}

/** A live binding, not an argument of everything: the hot path pays one call. */
export let timing: Timing = nodeTiming

/** Replaces Node's time and chance for this process. Returns a function that restores them. */
export function replaceTiming(other: Timing): () => void {
  timing = other
  return () => {
    timing = nodeTiming
  }
}
