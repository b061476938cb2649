import {
  minutesInMs,
  oneOf,
  readOptions,
  UsageError,
  wholeNumber,
} from '../../scripts/support/read-options.mjs'
import { makeSteps } from './faults/schedule.ts'
import { type ChaosProfile, policyOf } from './settings.ts'

const SCENARIOS = ['random', 'outages', 'locks', 'failover', 'deploy'] as const
const WORKLOADS = ['both', 'throughput', 'sparse', 'tx'] as const
/** Scenarios that a pooler can be in. */
const POOLED = ['random', 'outages', 'locks']
const PROFILES = Object.keys(policyOf) as ChaosProfile[]
const USAGE = `npm run chaos -- [options]

  --seed S               which schedule: 1
  --minutes M            of faults: 1
  --profile <profile>    ${PROFILES.join(', ')}; deploy has native only
  --workload <workload>  ${WORKLOADS.join(', ')}; random and failover only; tx: every handler completes in tx()
  --scenario <scenario>  ${SCENARIOS.join(', ')}
  --pooler               PgBouncer in transaction mode between the workers and the server; ${POOLED.join(', ')} only
  --json                 one line
  --print                show the schedule of the seed, and run nothing
  --keep                 leave ledgers and data where they are, and say where
`

/** Ends the process where it is asked for help, or for what cannot be done. */
export function readChaosOptions() {
  return readOptions(
    USAGE,
    {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '1' },
      profile: { type: 'string' },
      scenario: { type: 'string', default: 'random' },
      workload: { type: 'string' },
      pooler: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
    ({ scenario: name, ...values }) => {
      const scenario = oneOf('scenario', name, SCENARIOS)
      const profile = oneOf('profile', values.profile ?? 'native', PROFILES)
      const workload = oneOf('workload', values.workload ?? 'both', WORKLOADS)
      const [seed, durationMs] = [wholeNumber('seed', values.seed, 0), minutesInMs(values.minutes)]
      if (values.workload !== undefined && scenario !== 'random' && scenario !== 'failover')
        throw new UsageError(`--scenario ${scenario} has jobs of its own, and takes no --workload`)
      if (profile !== 'native' && scenario === 'deploy')
        throw new UsageError('--scenario deploy takes the profile native only')
      if (values.pooler && !POOLED.includes(scenario))
        throw new UsageError(`--pooler goes with the scenarios ${POOLED.join(', ')}`)
      const schedule = makeSteps({ scenario, seed, durationMs })
      if (schedule.length === 0)
        throw new UsageError(`--minutes ${values.minutes} is over before the first fault`)
      const isWaitedOut = scenario === 'outages' || scenario === 'locks'
      return {
        scenario,
        seed,
        durationMs,
        profile,
        workload: isWaitedOut ? ('long' as const) : workload,
        isPooled: values.pooler,
        isKept: values.keep,
        isJson: values.json,
        isPrinted: values.print,
        schedule,
      }
    },
  )
}
