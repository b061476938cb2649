// Puts the contenders through the same faults, one after another. Progress goes to stderr, results to stdout.
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
// Neither calls that wait for a dead server nor the channel to the parent may keep the process alive.
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
      for (const violation of violations) say(`${id} violated a guarantee: ${violation}`)
      if (isJson)
        console.log(JSON.stringify({ ...summary, violations, ...(keptIn === null ? {} : { keptIn }) }))
      summaries.push(summary)
    } catch (error) {
      if (signal.aborted) {
        process.exitCode = exitCodeOf(signal)
        return
      }
      say(`${id} failed to run: ${error instanceof Error ? error.stack : String(error)}`)
      // A violation in another run takes precedence.
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
