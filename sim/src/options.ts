import { readOptions, UsageError, wholeNumber } from '../../scripts/support/read-options.mjs'

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

/** Options of a run of many seeds. */
const ofMany = ['seeds', 'from', 'first', 'threads', 'coverage'] as const

/** Exits the process for --help and for invalid options. */
export function readSimOptions(args?: string[]) {
  return readOptions(
    USAGE,
    {
      seeds: { type: 'string' },
      from: { type: 'string' },
      seed: { type: 'string' },
      first: { type: 'boolean' },
      threads: { type: 'string' },
      coverage: { type: 'boolean' },
      trace: { type: 'boolean' },
      json: { type: 'boolean' },
    },
    (values) => {
      const { seeds = '2000', from = '1', seed, threads = '1', trace = false } = values
      const [ignored] = ofMany.filter((name) => values[name] !== undefined)
      if (seed !== undefined && ignored !== undefined)
        throw new UsageError(`--${ignored} is for many seeds, and --seed for one`)
      if (trace && values.json === true)
        throw new UsageError('--json prints one line, and --trace the history')
      if (seed === undefined && trace) throw new UsageError('--trace takes one seed: --seed S --trace')
      return {
        seeds: wholeNumber('seeds', seeds),
        from: wholeNumber('from', from, 0),
        seed: seed === undefined ? undefined : wholeNumber('seed', seed, 0),
        first: values.first ?? false,
        threads: wholeNumber('threads', threads),
        coverage: values.coverage ?? false,
        trace,
        json: values.json ?? false,
      }
    },
    args,
  )
}
