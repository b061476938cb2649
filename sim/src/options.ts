import { readOptions, wholeNumber } from '../../scripts/support/read-options.mjs'

const USAGE = `npm run sim -- [options]

  --seeds N     how many seeds to run (default: 2000)
  --from S      first of them (default: 1)
  --seed S      run one seed, and shrink the schedule of a violation
  --first       stop at the first violation
  --threads N   run seeds in N threads; the output is the same (default: 1)
  --coverage    print which faults met jobs at which place of their lives
  --trace       with --seed: print the whole history
  --json        print one line of JSON
  --help        print this

Progress is printed on stderr. Exits with 1 if an invariant was violated.
`

export type SimOptions = ReturnType<typeof readSimOptions>

/** Exits the process for --help and for invalid options. */
export function readSimOptions() {
  return readOptions(
    USAGE,
    {
      seeds: { type: 'string', default: '2000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      first: { type: 'boolean', default: false },
      threads: { type: 'string', default: '1' },
      coverage: { type: 'boolean', default: false },
      trace: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
    ({ seeds, from, seed, first, threads, coverage, trace, json }) => ({
      seeds: wholeNumber('seeds', seeds),
      from: wholeNumber('from', from, 0),
      seed: seed === undefined ? undefined : wholeNumber('seed', seed, 0),
      first,
      threads: wholeNumber('threads', threads),
      coverage,
      trace,
      json,
    }),
  )
}
