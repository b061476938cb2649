import {
  minutesInMs,
  oneOf,
  readOptions,
  UsageError,
  wholeNumber,
} from '../../scripts/support/read-options.mjs'
import { makeSteps } from './faults/schedule.ts'
import { type ChaosProfile, policyOf } from './settings.ts'

const SCENARIOS = ['random', 'outages', 'locks', 'presence', 'failover', 'deploy'] as const
const PRESENCES = ['auto', 'off'] as const
const WORKLOADS = ['both', 'throughput', 'sparse', 'tx', 'groups'] as const
/** Each is a server with its own memory. */
const MAX_SHARDS = 8
/** Scenarios that support a pooler. */
const POOLED = ['random', 'outages', 'locks', 'presence']
const PROFILES = Object.keys(policyOf) as ChaosProfile[]
const USAGE = `npm run chaos -- [options]

  --seed S               seed of the schedule (default: 1)
  --minutes M            duration of the faults (default: 1)
  --profile <profile>    ${PROFILES.join(', ')}; deploy: native only
  --workload <workload>  ${WORKLOADS.join(', ')}; with random and failover only; tx: every handler completes in tx(); groups: native only
  --scenario <scenario>  ${SCENARIOS.join(', ')}
  --presence <setting>   ${PRESENCES.join(', ')} (default: the profile's)
  --shards N             that many servers, each a shard, which are killed in turn (default: 1); native and random only
  --pooler               PgBouncer in transaction mode between the workers and the server; with ${POOLED.join(', ')} only
  --json                 print one line of JSON
  --print                print the schedule of the seed and exit
  --keep                 keep ledgers and data, and print where they are
`

/** Exits the process for --help and for invalid options. */
export function readChaosOptions() {
  return readOptions(
    USAGE,
    {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '1' },
      profile: { type: 'string' },
      scenario: { type: 'string', default: 'random' },
      workload: { type: 'string' },
      presence: { type: 'string' },
      shards: { type: 'string', default: '1' },
      pooler: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      print: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
    ({ scenario: name, ...values }) => {
      const scenario = oneOf('scenario', name, SCENARIOS)
      const profile = oneOf('profile', values.profile ?? 'native', PROFILES)
      const workload = oneOf('workload', values.workload ?? 'both', WORKLOADS)
      const presence =
        values.presence === undefined ? undefined : oneOf('presence', values.presence, PRESENCES)
      const [seed, durationMs] = [wholeNumber('seed', values.seed, 0), minutesInMs(values.minutes)]
      if (values.workload !== undefined && scenario !== 'random' && scenario !== 'failover')
        throw new UsageError(`--scenario ${scenario} has its own jobs and does not take --workload`)
      if (profile !== 'native' && scenario === 'deploy')
        throw new UsageError('--scenario deploy supports the profile native only')
      if (workload === 'groups' && (profile !== 'native' || scenario !== 'random' || values.shards !== '1'))
        throw new UsageError(
          '--workload groups works with the scenario random and the profile native, on one server',
        )
      if (values.pooler && !POOLED.includes(scenario))
        throw new UsageError(`--pooler works with the scenarios ${POOLED.join(', ')} only`)
      const shards = wholeNumber('shards', values.shards, 1)
      if (shards > MAX_SHARDS) throw new UsageError(`--shards takes at most ${MAX_SHARDS}`)
      if (shards > 1 && (scenario !== 'random' || profile !== 'native' || values.pooler))
        throw new UsageError(
          '--shards works with the scenario random and the profile native, without --pooler',
        )
      const schedule = makeSteps({ scenario, seed, durationMs, shards })
      if (schedule.length === 0)
        throw new UsageError(`--minutes ${values.minutes} ends before the first fault`)
      const ownWorkload = { outages: 'long', locks: 'long', presence: 'held' } as const
      return {
        scenario,
        seed,
        durationMs,
        profile,
        workload: scenario in ownWorkload ? ownWorkload[scenario as keyof typeof ownWorkload] : workload,
        presence,
        shards,
        isPooled: values.pooler,
        isKept: values.keep,
        isJson: values.json,
        isPrinted: values.print,
        schedule,
      }
    },
  )
}
