// @ts-check
// How a tool ends before its time. The reason of the signal is the exit code.

const INTERRUPTED = { SIGINT: 130, SIGTERM: 143 }
/** It could not be made, which says nothing of what it was to show. */
export const NOT_MADE = 3

/** What nobody waits for may fail too: that is no verdict either, and what was started is ended. */
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

/** @param {AbortSignal} signal that was aborted */
export function exitCodeOf(signal) {
  return Number(signal.reason)
}
