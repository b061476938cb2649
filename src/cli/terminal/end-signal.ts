/** Settles with the first SIGINT or SIGTERM; neither ends the process any more. */
export function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
