// A team's names in nodes: another label, other properties, other status words, and times that are no datetime. Statements and
// verbs know the names of document 002 only; this translates what goes to the server and what comes back.
import neo4j from 'neo4j-driver'
import { embeddingProfile } from '../../../profile/embedding.ts'
import { columnName, logicalColumns, type TableProfile, timeColumns } from '../../../profile/profile.ts'
import { checkLabel, labelOf, readCypher } from './cypher-files.ts'
import { fromTeamTime, timeExpression, toTeamTime } from './node-times.ts'

type Properties = { [name: string]: unknown }

export interface NodeNames {
  readonly label: string
  /** Words of the status property. */
  readonly words: string[]
  /** A property of document 002 by the team's name. */
  property(name: string): string
  statement(name: string): string
  parameters(name: string, given: Properties): Properties
  /** The properties of a node, by the names of document 002. */
  node(properties: Properties): Properties
}

const document = embeddingProfile.tables[0]
const documentWords = ['pending', 'processing', 'completed', 'failed'] as const
/** Statements whose rows are properties of jobs. */
const jobRows = new Set(['create_jobs', 'write_jobs'])
const PROPERTY = /\bj\.([a-z_]+)\b/g
const HINT = /(USING INDEX SEEK j:\w+)\(([a-z_, ]+)\)/g
/** Rows of jobs have the team's names too. */
const BY_ID = /\(j:(\w+) \{id: (\$id|id|row\.id|row\.job\.id)\}\)/g
const STATUS = /j\.status (=|IN) (\[[^\]]*\]|'[a-z]+'|"[a-z]+")/g
const TIME = /asTime\((j\.[a-z_]+)\)/g

export function namesOf(label: string | undefined, table: TableProfile = document): NodeNames {
  const given = label ?? labelOf(table)
  checkLabel(given)
  const renamed = new Map(
    logicalColumns.map((column) => [columnName(document, column), columnName(table, column)]),
  )
  const original = new Map([...renamed].map(([theirs, mine]) => [mine, theirs]))
  const times = new Set<string>(timeColumns.map((column) => columnName(document, column)))
  const property = (name: string) => renamed.get(name) ?? name
  const words = wordsOf(table)
  const known = new Map<string, string>()

  const toTeam = (node: Properties): Properties =>
    Object.fromEntries(
      Object.entries(node).map(([name, value]) => {
        if (name === 'status') return [property(name), words.write(String(value), node['error_code'])]
        const isTime = times.has(name) && neo4j.isDateTime(value)
        return [property(name), isTime ? toTeamTime(table, value) : value]
      }),
    )

  return {
    label: given,
    words: words.all,
    property,
    statement(name) {
      const rendered = known.get(name) ?? render(readCypher(name, given), { table, property, words })
      known.set(name, rendered)
      return rendered
    },
    parameters(name, parameters) {
      const { rows, status } = parameters
      const translated = { ...parameters }
      if (typeof status === 'string') translated['status'] = words.write(status, null)
      if (Array.isArray(rows))
        translated['rows'] = rows.map((row: Properties) => {
          if (jobRows.has(name)) return toTeam(row)
          if (name !== 'reap_jobs') return row
          const seen = row['seen'] as Properties
          const statuses = words.of(String(seen['status']))
          return { ...row, job: toTeam(row['job'] as Properties), seen: { ...seen, statuses } }
        })
      return translated
    },
    node(properties) {
      const node = Object.fromEntries(
        Object.entries(properties).flatMap(([name, value]) => {
          // The team's own property, where the one of this name is mapped to another.
          if (!original.has(name) && renamed.has(name)) return []
          const mine = original.get(name) ?? name
          return [[mine, times.has(mine) ? fromTeamTime(table, value) : value]]
        }),
      )
      return { ...node, ...words.read(node['status']) }
    },
  }
}

interface Words {
  all: string[]
  /** The team's word. */
  write(word: string, errorCode: unknown): string
  /** Status and code of document 002. An unknown word stays. */
  read(word: unknown): { status?: unknown; error_code?: string }
  /** The team's words of a status of document 002. */
  of(word: string): string[]
}

function wordsOf({ statuses }: TableProfile): Words {
  const { waiting, running, succeeded, dead, cancelled } = statuses
  const ended = cancelled === null ? [dead] : [dead, cancelled]
  const byWord = new Map<string, string[]>([
    ['pending', [waiting]],
    ['processing', running],
    ['completed', [succeeded]],
    ['failed', ended],
  ])
  return {
    all: [...byWord.values()].flat(),
    of: (word) => byWord.get(word) ?? [word],
    write: (word, errorCode) =>
      word === 'failed' && errorCode === 'cancelled' && cancelled !== null
        ? cancelled
        : (byWord.get(word)?.[0] ?? word),
    read: (word) => {
      if (cancelled !== null && word === cancelled) return { status: 'failed', error_code: 'cancelled' }
      const status = documentWords.find((one) => byWord.get(one)?.includes(word as string) === true)
      return status === undefined ? {} : { status }
    },
  }
}

interface Rendering {
  table: TableProfile
  property: (name: string) => string
  words: Words
}

function render(statement: string, { table, property, words }: Rendering): string {
  const quoted = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``)
  return statement
    .replace(BY_ID, (_, label: string, value: string) => {
      const id = quoted(property('id'))
      return `(j:${label} {${id}: ${value.replace(/\.id$/, `.${id}`)}})`
    })
    .replace(TIME, (_, value: string) => timeExpression(table, value))
    .replace(STATUS, (_, sign: string, list: string) => {
      const mark = list.includes('"') ? '"' : "'"
      const found = [...list.matchAll(/['"]([a-z]+)['"]/g)].flatMap(([, word = '']) => words.of(word))
      const shown = found.map((word) => `${mark}${word.replaceAll(/['"\\]/g, '\\$&')}${mark}`)
      return sign === '=' && shown.length === 1
        ? `j.status = ${shown[0] ?? ''}`
        : `j.status IN [${shown.join(', ')}]`
    })
    .replace(PROPERTY, (_, name: string) => `j.${quoted(property(name))}`)
    .replace(HINT, (_, start: string, names: string) => {
      return `${start}(${names
        .split(', ')
        .map((name) => quoted(property(name)))
        .join(', ')})`
    })
}
