import { minutesInMs, readOptions, UsageError, wholeNumber } from '../../../scripts/support/read-options.mjs'
import { contenderIds, isContenderId } from './contender.ts'
import { makeRounds } from './make-rounds.ts'

const USAGE = `npm run chaos:peers -- [options]

  --seed S         which schedule; the same for every contender: 1
  --minutes M      of faults, for each contender: 2
  --only <id,…>    ${contenderIds.join(', ')}
  --json           one line of JSON for each contender instead of a table
  --keep           leave ledgers and data where they are, and say where

Progress is on stderr. The exit code is 1 where unstuck broke a promise, and 3 where a run could not be made.
`

/** Ends the process where it is asked for help, or for what cannot be done. */
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
