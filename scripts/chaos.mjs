// @ts-check
// Runs the reliability layer under faults and judges what is left. Exit code 1 where an invariant was violated.
import { parseArgs } from 'node:util'
import { poolerVersion } from '../chaos/pooler.mjs'
import { runChaos } from '../chaos/run-chaos.mjs'
import { runDeploy } from '../chaos/run-deploy.mjs'
import { runFailover } from '../chaos/run-failover.mjs'
import { countByKind, makeOutages, makeSchedule } from '../chaos/schedule.mjs'
import { policyOf } from '../chaos/settings.mjs'
import { SmallDisk } from '../chaos/small-disk.mjs'
import { clockLibrary } from '../chaos/worker-clock.mjs'

/** @import { ChaosProfile } from '../chaos/settings.mjs' */
/** @import { WorkloadName } from '../chaos/workload.mjs' */

const HELP = `npm run chaos -- --seed S --minutes M [--profile native|clip|executor] [--workload both|throughput|sparse]
                 [--scenario random|outages|failover|deploy] [--pooler] [--json] [--print] [--keep]

  --pooler  PgBouncer in transaction mode between the workers and the server; random and outages only
  --print   show the schedule of the seed, and run nothing
  --keep    leave ledgers and data where they are, and say where
`
const MAX_SHOWN = 20
const SCENARIOS = ['random', 'outages', 'failover', 'deploy']
const runs = { random: runChaos, outages: runChaos, failover: runFailover, deploy: runDeploy }

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    profile: { type: 'string', default: 'native' },
    scenario: { type: 'string', default: 'random' },
    workload: { type: 'string', default: 'both' },
    pooler: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    print: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const durationMs = Number(values.minutes) * 60_000
const isOutagesOnly = values.scenario === 'outages'
const say = (/** @type {string} */ line) => {
  if (!values.json) console.log(line)
}

if (values.help) console.log(HELP)
else if (!Number.isInteger(seed) || !(durationMs > 0))
  refuse('--seed takes a whole number, --minutes a number over 0')
else if (!(values.profile in policyOf)) refuse(`--profile takes ${Object.keys(policyOf).join(', ')}`)
else if (!['both', 'throughput', 'sparse'].includes(values.workload))
  refuse('--workload takes both, throughput, sparse')
else if (!isScenario(values.scenario)) refuse(`--scenario takes ${SCENARIOS.join(', ')}`)
else if (values.pooler && !['random', 'outages'].includes(values.scenario))
  refuse('--pooler goes with the scenarios random and outages')
else if (values.print) printSchedule()
else await run(values.scenario)

/**
 * @param {string} name
 * @returns {name is keyof typeof runs}
 */
function isScenario(name) {
  return SCENARIOS.includes(name)
}

/** @param {string} problem */
function refuse(problem) {
  console.error(`${problem}\n\n${HELP}`)
  process.exitCode = 2
}

function printSchedule() {
  const schedule = (isOutagesOnly ? makeOutages : makeSchedule)({ seed, durationMs })
  for (const fault of schedule) console.log(JSON.stringify(fault))
  say(JSON.stringify(countByKind(schedule)))
}

/** @param {keyof typeof runs} scenario */
async function run(scenario) {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  process.once('SIGTERM', () => interrupted.abort())
  const skipped = skippedFaults()
  for (const line of skipped) say(`skipped: ${line}`)
  if (values.pooler && poolerVersion() === null) {
    console.log('skipped: --pooler: the program pgbouncer is not on this machine')
    return
  }
  try {
    const { summary, violations } = await runs[scenario]({
      seed,
      durationMs,
      profile: /** @type {ChaosProfile} */ (values.profile),
      workload: isOutagesOnly ? 'long' : /** @type {WorkloadName} */ (values.workload),
      isOutagesOnly,
      isPooled: values.pooler,
      isKept: values.keep,
      signal: interrupted.signal,
      say,
    })
    for (const { invariant, message } of violations.slice(0, MAX_SHOWN))
      console.error(`${invariant} ${message}`)
    if (violations.length > MAX_SHOWN) console.error(`… and ${violations.length - MAX_SHOWN} more`)
    console.log(values.json ? JSON.stringify({ ...summary, skipped }) : JSON.stringify(summary, null, 2))
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
