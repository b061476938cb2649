// The loop of a service: look, wait, look again. `wake` ends the wait, and no two looks overlap.
import { wait } from './wait.ts'

export interface Repetition {
  /** Looks now, or once more after the current look. */
  wake(): void
  /** Resolves when the current look has ended. */
  stop(): Promise<void>
}

/** `look` returns the time until the next look. It must not throw. */
export function repeat(look: (stopping: AbortSignal) => Promise<number>): Repetition {
  const stopping = new AbortController()
  let waking = new AbortController()
  const loop = run()
  return {
    wake: () => waking.abort(),
    async stop() {
      stopping.abort()
      waking.abort()
      await loop
    },
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Before the look, so that a `wake` during it is not missed.
      waking = new AbortController()
      const waitMs = await look(stopping.signal)
      if (!stopping.signal.aborted) await wait(waitMs, waking.signal)
    }
  }
}
