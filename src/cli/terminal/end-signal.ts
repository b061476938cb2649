/** Settles with the first SIGINT or SIGTERM, which no longer end the process. */
export function endSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
