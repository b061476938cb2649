import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type ContenderId, contenderIds } from './contender.ts'
import { measures } from './measures/index.ts'
import { type SizeName, sizes } from './sizes.ts'

export interface Options {
  store: 'postgres' | 'neo4j'
  isQuick: boolean
  size: SizeName
  isJson: boolean
  /** Into docs/performance.md too. */
  isForDocs: boolean
  /** Ids of measures, or the first words of them; all where null. */
  only: string[] | null
  contenders: ContenderId[] | null
  repetitions: number
  /** The folder for the results. */
  out: string
}

export const usage = `npm run bench -- [options]

  --quick                 smaller numbers and fewer contenders, under four minutes
  --store <store>         neo4j: that store alone, with measures of its own; it needs java 17 and mvn
  --only <measure,…>      ${measures.map(({ id }) => id).join(', ')}
  --contenders <name,…>   ${contenderIds.join(', ')}
  --jobs <size>           ${Object.keys(sizes).join(', ')}: full, or quick with --quick
  --repetitions <n>       3
  --json                  the results on stdout as JSON instead of Markdown
  --out <folder>          for the results: bench/results
  --docs                  write the tables and graphs into docs/performance.md too

Progress is on stderr.
`

/** Throws an error with a sentence for people. */
export function parseOptions(args: string[]): Options | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      docs: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      store: { type: 'string', default: 'postgres' },
      only: { type: 'string' },
      contenders: { type: 'string' },
      jobs: { type: 'string' },
      repetitions: { type: 'string', default: '3' },
      out: { type: 'string', default: fileURLToPath(new URL('results', import.meta.url)) },
    },
  })
  if (values.help) return 'help'
  const { store } = values
  if (store !== 'postgres' && store !== 'neo4j') throw new Error('--store wants postgres or neo4j')
  if (store === 'neo4j' && (values.docs || values.only !== undefined || values.contenders !== undefined))
    throw new Error('--store neo4j takes no --only, --contenders and --docs')
  const repetitions = Number(values.repetitions)
  if (!(Number.isInteger(repetitions) && repetitions >= 1))
    throw new Error('--repetitions wants a whole number from 1')
  const size = values.jobs ?? (values.quick ? 'quick' : 'full')
  if (!isSize(size)) throw new Error(`--jobs wants one of ${Object.keys(sizes).join(', ')}`)
  const only = values.only?.split(',') ?? null
  for (const name of only ?? []) {
    if (!measures.some(({ id }) => belongsTo(id, name)))
      throw new Error(`--only: there is no measure ${name}`)
  }
  const contenders = values.contenders?.split(',') ?? null
  const unknown = contenders?.find((name) => !isContender(name))
  if (unknown !== undefined) throw new Error(`--contenders: there is no ${unknown}`)
  return {
    store,
    isQuick: values.quick,
    size,
    isJson: values.json,
    isForDocs: values.docs,
    only,
    contenders: contenders?.filter(isContender) ?? null,
    repetitions,
    out: values.out,
  }
}

/** `process` stands for `process-2` and `process-off` too. */
export function belongsTo(measureId: string, name: string): boolean {
  return measureId === name || measureId.startsWith(`${name}-`)
}

function isSize(name: string): name is SizeName {
  return name in sizes
}

function isContender(name: string): name is ContenderId {
  return (contenderIds as readonly string[]).includes(name)
}
