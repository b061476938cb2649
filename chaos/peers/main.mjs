// Puts the contenders through the same faults, one after the other. Progress on stderr, results on stdout.
import { loadContender } from './contender.mjs'
import { readPeerOptions } from './options.mjs'
import { toTable } from './result-table.mjs'
import { runContender } from './run-contender.mjs'

/** @import { ContenderId } from './contender.mjs' */
/** @import { ContenderSummary } from './run-contender.mjs' */

const { seed, durationMs, ids, isJson, isKept } = readPeerOptions()
const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`)
const interrupted = new AbortController()
for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.once(event, () => interrupted.abort())

await runAll()
// Whatever still waits for a dead server, and the channel to the parent, must not keep the process.
process.exit()

async function runAll() {
  /** @type {ContenderSummary[]} */
  const summaries = []
  process.exitCode = 0
  for (const id of ids) {
    const missing = await findMissing(id)
    if (missing !== null) {
      say(`skipped: ${id}: ${missing}`)
      if (isJson) console.log(JSON.stringify({ contender: id, skipped: missing }))
      continue
    }
    try {
      const { summary, violations } = await runContender({
        id,
        seed,
        durationMs,
        isKept,
        signal: interrupted.signal,
        say,
      })
      if (violations.length > 0) process.exitCode = 1
      for (const violation of violations) say(`${id} broke a promise: ${violation}`)
      if (isJson) console.log(JSON.stringify({ ...summary, violations }))
      summaries.push(summary)
    } catch (error) {
      if (interrupted.signal.aborted) {
        process.exitCode = 130
        return
      }
      say(`${id} could not be run to its end: ${error instanceof Error ? error.stack : String(error)}`)
      process.exitCode = 1
    }
  }
  if (!isJson) console.log(toTable(summaries))
}

/** @param {ContenderId} id */
async function findMissing(id) {
  try {
    await (await loadContender(id)).version()
    return null
  } catch (error) {
    return `its package cannot be loaded by Node ${process.versions.node}: ${String(error).split('\n')[0]}`
  }
}
