import { timing } from './timing.ts'

/** Resolves after `ms` or when the signal is aborted; never rejects. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = timing.setTimeout(done, ms)
    signal.addEventListener('abort', done)
    function done() {
      timing.clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) done()
  })
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    timing.setTimeout(resolve, ms)
  })
}

/** Resolves when `work` has ended, after `ms` at most. Rejects as `work` does until then. */
export async function within(ms: number, work: Promise<void>): Promise<void> {
  const ended = new AbortController()
  await Promise.race([work.finally(() => ended.abort()), wait(ms, ended.signal)])
}
