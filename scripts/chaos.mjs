// @ts-check
// Runs the reliability layer under faults and judges what is left. Exit code 1 where an invariant was violated.
import { readChaosOptions } from '../chaos/options.mjs'
import { poolerVersion } from '../chaos/pooler.mjs'
import { runChaos } from '../chaos/run-chaos.mjs'
import { runDeploy } from '../chaos/run-deploy.mjs'
import { runFailover } from '../chaos/run-failover.mjs'
import { countByKind } from '../chaos/schedule.mjs'
import { SmallDisk } from '../chaos/small-disk.mjs'
import { clockLibrary } from '../chaos/worker-clock.mjs'

const MAX_SHOWN = 20
const runs = { random: runChaos, outages: runChaos, failover: runFailover, deploy: runDeploy }

const options = readChaosOptions()
const say = (/** @type {string} */ line) => {
  if (!options.isJson) console.log(line)
}

if (options.isPrinted) printSchedule()
else await run()

function printSchedule() {
  for (const step of options.schedule) console.log(JSON.stringify(step))
  say(JSON.stringify(countByKind(options.schedule)))
}

async function run() {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  process.once('SIGTERM', () => interrupted.abort())
  const skipped = skippedFaults()
  for (const line of skipped) say(`skipped: ${line}`)
  if (options.isPooled && poolerVersion() === null) {
    console.log('skipped: --pooler: the program pgbouncer is not on this machine')
    return
  }
  try {
    const { summary, violations } = await runs[options.scenario]({
      ...options,
      signal: interrupted.signal,
      say,
    })
    for (const { invariant, message } of violations.slice(0, MAX_SHOWN))
      console.error(`${invariant} ${message}`)
    if (violations.length > MAX_SHOWN) console.error(`… and ${violations.length - MAX_SHOWN} more`)
    console.log(options.isJson ? JSON.stringify({ ...summary, skipped }) : JSON.stringify(summary, null, 2))
    process.exitCode = violations.length > 0 ? 1 : 0
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    process.exitCode = 130
  }
  // Whatever still waits for a dead server must not keep the process.
  process.exit()
}

/** What this machine cannot do is named, so that nothing looks tested that was not. */
function skippedFaults() {
  return [
    ...(clockLibrary === null ? ['wrong and stepping clocks: libfaketime is not on this machine'] : []),
    ...(SmallDisk.isPossible() ? [] : ['a full disk: this user may not mount one']),
  ]
}
