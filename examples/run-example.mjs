// Runs an example until it is done or interrupted, and shuts down what it started, in reverse order.
import { errorCatalog, isUnstuckError } from 'unstuck'

/** @typedef {(close: () => unknown) => void} AtEnd */

/** @param {(atEnd: AtEnd) => Promise<unknown>} main */
export async function runExample(main) {
  /** @type {(() => unknown)[]} */
  const closers = []
  const interrupted = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve)
  })
  try {
    await Promise.race([main((close) => closers.unshift(close)), interrupted])
  } catch (error) {
    process.exitCode = report(error)
  }
  for (const close of closers) await close()
  // An interrupted example may still wait for something.
  process.exit()
}

/**
 * A wrong setting, a taken port, a database that already runs: the message is enough. Anything else is a bug and needs its
 * stack.
 * @param {unknown} error
 */
function report(error) {
  if (!isUnstuckError(error)) {
    console.error(error instanceof Error && 'code' in error ? error.message : error)
    return 1
  }
  console.error(`${error.message}${error.hint === undefined ? '' : `\n${error.hint}`}`)
  return errorCatalog[error.code].exitCode
}
