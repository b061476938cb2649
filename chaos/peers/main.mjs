// Puts the contenders through the same faults, one after the other. Progress on stderr, results on stdout.
import { parseArgs } from 'node:util'
import { contenderIds, isContenderId, loadContender } from './contender.mjs'
import { toTable } from './result-table.mjs'
import { runContender } from './run-contender.mjs'

/** @import { ContenderId } from './contender.mjs' */
/** @import { ContenderSummary } from './run-contender.mjs' */

const HELP = `npm run chaos:peers -- [options]

  --seed S         which schedule; the same for every contender: 1
  --minutes M      of faults, for each contender: 2
  --only <id,…>    ${contenderIds.join(', ')}
  --json           one line of JSON for each contender instead of a table
  --keep           leave ledgers and data where they are, and say where

Progress is on stderr. The exit code is 1 where a run failed or unstuck broke a promise.
`

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    only: { type: 'string', default: contenderIds.join(',') },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const durationMs = Number(values.minutes) * 60_000
const names = values.only.split(',')
const unknown = names.find((name) => !isContenderId(name))
const say = (/** @type {string} */ line) => process.stderr.write(`${line}\n`)
const interrupted = new AbortController()
for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.once(event, () => interrupted.abort())

if (values.help) console.log(HELP)
else if (!Number.isInteger(seed) || !(durationMs > 0))
  refuse('--seed takes a whole number, --minutes a number over 0')
else if (unknown !== undefined) refuse(`--only: there is no ${unknown}`)
else await runAll(names.filter(isContenderId))
// Whatever still waits for a dead server, and the channel to the parent, must not keep the process.
process.exit()

/** @param {string} problem */
function refuse(problem) {
  say(`${problem}\n\n${HELP}`)
  process.exitCode = 2
}

/** @param {ContenderId[]} ids */
async function runAll(ids) {
  /** @type {ContenderSummary[]} */
  const summaries = []
  process.exitCode = 0
  for (const id of ids) {
    const missing = await findMissing(id)
    if (missing !== null) {
      say(`skipped: ${id}: ${missing}`)
      if (values.json) console.log(JSON.stringify({ contender: id, skipped: missing }))
      continue
    }
    try {
      const { summary, violations } = await runContender({
        id,
        seed,
        durationMs,
        isKept: values.keep,
        signal: interrupted.signal,
        say,
      })
      if (violations.length > 0) process.exitCode = 1
      for (const violation of violations) say(`${id} broke a promise: ${violation}`)
      if (values.json) console.log(JSON.stringify({ ...summary, violations }))
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
  if (!values.json) console.log(toTable(summaries))
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
