// Puts the contenders through the same faults, one after the other. Progress on stderr, results on stdout.
import { exitCodeOf, NOT_MADE, watchInterruption } from '../../../scripts/support/interruption.mjs'
import { type ContenderId, loadContender } from './contender.ts'
import { readPeerOptions } from './options.ts'
import { toTable } from './result-table.ts'
import { type ContenderSummary, runContender } from './run-contender.ts'

const { seed, durationMs, ids, isJson, isKept } = readPeerOptions()
const say = (line: string) => process.stderr.write(`${line}\n`)
const interruption = watchInterruption()
const { signal } = interruption
process.once('disconnect', () => interruption.abort(NOT_MADE))

await runAll()
// Whatever still waits for a dead server, and the channel to the parent, must not keep the process.
process.exit()

async function runAll() {
  const summaries: ContenderSummary[] = []
  process.exitCode = 0
  for (const id of ids) {
    const missing = await findMissing(id)
    if (missing !== null) {
      say(`skipped: ${id}: ${missing}`)
      if (isJson) console.log(JSON.stringify({ contender: id, skipped: missing }))
      continue
    }
    try {
      const { summary, violations, keptIn } = await runContender({
        id,
        seed,
        durationMs,
        isKept,
        signal,
        say,
      })
      if (violations.length > 0) process.exitCode = 1
      for (const violation of violations) say(`${id} broke a promise: ${violation}`)
      if (isJson)
        console.log(JSON.stringify({ ...summary, violations, ...(keptIn === null ? {} : { keptIn }) }))
      summaries.push(summary)
    } catch (error) {
      if (signal.aborted) {
        process.exitCode = exitCodeOf(signal)
        return
      }
      say(`${id} could not be run to its end: ${error instanceof Error ? error.stack : String(error)}`)
      // A broken promise of another run says more.
      process.exitCode ||= NOT_MADE
      if (isJson) console.log(JSON.stringify({ contender: id, problem: String(error) }))
    }
  }
  if (!isJson) console.log(toTable(summaries))
}

async function findMissing(id: ContenderId) {
  try {
    await (await loadContender(id)).version()
    return null
  } catch (error) {
    return `its package cannot be loaded by Node ${process.versions.node}: ${String(error).split('\n')[0]}`
  }
}
