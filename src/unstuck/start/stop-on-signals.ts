import type { Worker } from '../../runtime/worker/worker.ts'

/** The first signal drains; a second one releases all jobs at once. */
export function stopOnSignals(worker: Worker, ended: Promise<number>): void {
  let hasCome = false
  const stop = (signal: NodeJS.Signals) => {
    if (hasCome) worker.leaveNow()
    else void worker.stop(signal)
    hasCome = true
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  void ended.then((exitCode) => {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
    process.exitCode = exitCode
    // Resources that a handler left open must not delay a deploy; `unref`, so that this timer does not either.
    setTimeout(() => process.exit(exitCode), 1_000).unref()
  })
}
