// The loop of a service: look, wait, look again; at once where somebody wakes it, and never two looks at a time.
import { wait } from './wait.ts'

export interface Repetition {
  /** Looks now, or once more after the look that is under way. */
  wake(): void
  /** Settles when the look that was under way has ended. */
  stop(): Promise<void>
}

/** `look` answers how long to wait until the next. It must not throw. */
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
      // Before the look, so that a call of wake during it is not forgotten.
      waking = new AbortController()
      const waitMs = await look(stopping.signal)
      if (!stopping.signal.aborted) await wait(waitMs, waking.signal)
    }
  }
}
