import { minutesInMs, readOptions, UsageError, wholeNumber } from '../../../scripts/support/read-options.mjs'
import { contenderIds, isContenderId } from './contender.ts'
import { makeRounds } from './make-rounds.ts'

const USAGE = `npm run chaos:peers -- [options]

  --seed S         seed of the schedule, the same for every contender (default: 1)
  --minutes M      duration of the faults for each contender (default: 2)
  --only <id,…>    ${contenderIds.join(', ')}
  --json           print one line of JSON for each contender instead of a table
  --keep           keep ledgers and data, and print where they are

Progress is on stderr. The exit code is 1 where unstuck broke a promise, and 3 where a run could not be made.
`

/** Exits the process for --help and for invalid options. */
export function readPeerOptions() {
  return readOptions(
    USAGE,
    {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '2' },
      only: { type: 'string', default: contenderIds.join(',') },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
    (values) => {
      const names = values.only.split(',')
      const unknown = names.find((name) => !isContenderId(name))
      if (unknown !== undefined) throw new UsageError(`--only: there is no ${unknown}`)
      const seed = wholeNumber('seed', values.seed, 0)
      const durationMs = minutesInMs(values.minutes)
      if (makeRounds({ seed, durationMs }).length === 0)
        throw new UsageError(`--minutes ${values.minutes} is over before the first fault`)
      return { seed, durationMs, ids: names.filter(isContenderId), isJson: values.json, isKept: values.keep }
    },
  )
}
