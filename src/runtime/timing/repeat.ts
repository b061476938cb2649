// The loop of a service: look, wait, look again. `wake` ends the wait, and no two looks overlap.
import { Waker } from './waker.ts'

export interface Repetition {
  /** Looks now, or once more after the current look. */
  wake(): void
  /** Resolves when the current look has ended. */
  stop(): Promise<void>
}

/** `look` returns the time until the next look. It must not throw. */
export function repeat(look: (stopping: AbortSignal) => Promise<number>): Repetition {
  const stopping = new AbortController()
  const waker = new Waker()
  const loop = run()
  return {
    wake: () => waker.wake(),
    async stop() {
      stopping.abort()
      waker.wake()
      await loop
    },
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Before the look, so that a `wake` during it is not missed.
      waker.reset()
      const waitMs = await look(stopping.signal)
      await waker.pause(waitMs)
    }
  }
}
