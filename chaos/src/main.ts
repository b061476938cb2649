// Runs workers, reapers and a database under faults and judges the history. Exit codes: 1 for a violated invariant, 3 for a
// run that failed or proves nothing.

import { exitCodeOf, NOT_MADE, watchInterruption } from '../../scripts/support/interruption.mjs'
import { countByKind } from './faults/schedule.ts'
import { SmallDisk } from './faults/small-disk.ts'
import { clockLibrary } from './faults/worker-clock.ts'
import type { Violation } from './judge/history.ts'
import { problemOf } from './judge/summary.ts'
import { readChaosOptions } from './options.ts'
import { poolerVersion } from './processes/pooler.ts'
import { runChaos } from './scenarios/run-chaos.ts'
import { runDeploy } from './scenarios/run-deploy.ts'
import { runFailover } from './scenarios/run-failover.ts'

const MAX_SHOWN = 20
const runs = {
  random: runChaos,
  outages: runChaos,
  locks: runChaos,
  presence: runChaos,
  failover: runFailover,
  deploy: runDeploy,
}

const options = readChaosOptions()
const say = (line: string) => {
  if (!options.isJson) console.log(line)
}

if (options.isPrinted) printSchedule()
else await run()

function printSchedule() {
  for (const step of options.schedule) console.log(JSON.stringify(step))
  say(JSON.stringify(countByKind(options.schedule)))
}

async function run() {
  const { signal } = watchInterruption()
  try {
    const skipped = skippedFaults()
    for (const line of skipped) say(`skipped: ${line}`)
    if (options.isPooled && poolerVersion() === null)
      return printNone({ skipped: ['--pooler: the program pgbouncer is not installed'] })
    const { summary, violations, unjudged, keptIn } = await runs[options.scenario]({
      ...options,
      signal,
      say,
    })
    signal.throwIfAborted()
    const problem = problemOf(summary)
    const printed = {
      ...summary,
      ...(problem === null ? {} : { problem }),
      ...(keptIn === null ? {} : { keptIn }),
    }
    printViolations(violations)
    printViolations(unjudged, 'not judged: ')
    console.log(options.isJson ? JSON.stringify({ ...printed, skipped }) : JSON.stringify(printed, null, 2))
    process.exitCode = violations.length > 0 ? 1 : problem === null ? 0 : NOT_MADE
  } catch (error) {
    process.exitCode = signal.aborted ? exitCodeOf(signal) : NOT_MADE
    if (!signal.aborted) {
      console.error(error)
      printNone({ problem: error instanceof Error ? error.message : String(error) })
    }
  }
  // Calls that wait for a dead server must not keep the process alive.
  process.exit()
}

/** Prints a line for a run that did not happen. */
function printNone(why: { skipped: string[] } | { problem: string }) {
  const { scenario, seed, profile } = options
  if (options.isJson) console.log(JSON.stringify({ scenario, seed, profile, ...why }))
  else if ('skipped' in why) console.log(`skipped: ${why.skipped.join()}`)
  else console.log(`the run could not be made: ${why.problem}`)
}

function printViolations(violations: Violation[], label: string = '') {
  for (const { invariant, message } of violations.slice(0, MAX_SHOWN))
    console.error(`${label}${invariant} ${message}`)
  if (violations.length > MAX_SHOWN) console.error(`… and ${violations.length - MAX_SHOWN} more`)
}

/** Faults that this machine cannot inject are reported as skipped. */
function skippedFaults() {
  return [
    ...(clockLibrary === null ? ['wrong and stepping clocks: libfaketime is not installed'] : []),
    ...(SmallDisk.isPossible() ? [] : ['a full disk: this user may not mount one']),
  ]
}
