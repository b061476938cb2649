import { timing } from './timing.ts'

/**
 * Resolves after `ms` or when one of the signals is aborted; never rejects. Not by `AbortSignal.any`: Node keeps such a signal, and
 * everything that waits for it, for as long as somebody listens.
 */
export function wait(ms: number, ...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = timing.setTimeout(done, ms)
    for (const signal of signals) signal.addEventListener('abort', done)
    function done() {
      timing.clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
    if (signals.some(({ aborted }) => aborted)) done()
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
