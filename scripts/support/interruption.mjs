// @ts-check
// Interruption of a tool. The reason of the abort signal is the exit code.

const INTERRUPTED = { SIGINT: 130, SIGTERM: 143 }
/** Exit code of a run that failed and so proves nothing either way. */
export const NOT_MADE = 3

/** Also aborts on an uncaught exception: it is not a verdict, but whatever was started must be stopped. */
export function watchInterruption() {
  const interruption = new AbortController()
  process.once('SIGINT', () => interruption.abort(INTERRUPTED.SIGINT))
  process.once('SIGTERM', () => interruption.abort(INTERRUPTED.SIGTERM))
  process.on('uncaughtException', (error) => {
    if (!interruption.signal.aborted) console.error(error)
    interruption.abort(NOT_MADE)
    process.exitCode = NOT_MADE
  })
  return interruption
}

/** @param {AbortSignal} signal already aborted */
export function exitCodeOf(signal) {
  return Number(signal.reason)
}
