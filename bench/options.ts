import { fileURLToPath } from 'node:url'
import { oneOf, readOptions, UsageError, wholeNumber } from '../scripts/support/read-options.mjs'
import { type ContenderId, contenderIds } from './contenders/contender.ts'
import { measures } from './measures/index.ts'
import { type SizeName, sizes } from './sizes.ts'

export interface Options {
  store: 'postgres' | 'neo4j'
  isQuick: boolean
  size: SizeName
  isJson: boolean
  /** Write docs/performance.md too. */
  isForDocs: boolean
  /** Ids of measures, or their first words. Null: all. */
  only: string[] | null
  contenders: ContenderId[] | null
  repetitions: number
  /** Folder of the results. */
  out: string
}

const sizeNames = Object.keys(sizes) as SizeName[]

const usage = `npm run bench -- [options]

  --quick                 fewer jobs and contenders; takes about five minutes
  --store <store>         neo4j: its own measures on that store only; needs java 17 and mvn
  --only <measure,…>      ${measures.map(({ id }) => id).join(', ')}
  --contenders <name,…>   ${contenderIds.join(', ')}
  --jobs <size>           ${sizeNames.join(', ')} (default: full, or quick with --quick)
  --repetitions <n>       default: 3
  --json                  print JSON instead of Markdown
  --out <folder>          folder of the results (default: bench/results)
  --docs                  also write tables and graphs into docs/performance.md

Progress is on stderr.
`

const kinds = {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  docs: { type: 'boolean', default: false },
  store: { type: 'string', default: 'postgres' },
  only: { type: 'string' },
  contenders: { type: 'string' },
  jobs: { type: 'string' },
  repetitions: { type: 'string', default: '3' },
  out: { type: 'string', default: fileURLToPath(new URL('results', import.meta.url)) },
} as const

/** Exits the process for --help and for invalid options. */
export function parseOptions(args: string[]): Options {
  return readOptions(
    usage,
    kinds,
    (values) => {
      const store = oneOf('store', values.store, ['postgres', 'neo4j'])
      if (store === 'neo4j' && (values.docs || values.only !== undefined || values.contenders !== undefined))
        throw new UsageError('--store neo4j takes no --only, --contenders and --docs')
      return {
        store,
        isQuick: values.quick,
        size: oneOf('jobs', values.jobs ?? (values.quick ? 'quick' : 'full'), sizeNames),
        isJson: values.json,
        isForDocs: values.docs,
        only: values.only === undefined ? null : knownMeasures(values.only),
        contenders: values.contenders?.split(',').map(knownContender) ?? null,
        repetitions: wholeNumber('repetitions', values.repetitions),
        out: values.out,
      }
    },
    args,
  )
}

function knownMeasures(text: string): string[] {
  const names = text.split(',')
  const unknown = names.find((name) => !measures.some(({ id }) => belongsTo(id, name)))
  if (unknown !== undefined) throw new UsageError(`--only: there is no measure ${unknown}`)
  return names
}

function knownContender(name: string): ContenderId {
  const found = contenderIds.find((id) => id === name)
  if (found === undefined) throw new UsageError(`--contenders: there is no ${name}`)
  return found
}

/** `process` also selects `process-2` and `process-off`. */
export function belongsTo(measureId: string, name: string): boolean {
  return measureId === name || measureId.startsWith(`${name}-`)
}
