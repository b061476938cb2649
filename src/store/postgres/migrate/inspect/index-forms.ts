// Compares the indexes of a table with those that its profile asks for: a changed status word, column or time zone makes
// another index of the same name. PostgreSQL prints an index in its own words, so their columns and literals are compared.
import type { IndexStatement } from '../statements/plan.ts'

export interface IndexForm {
  definition: string
  columns: string[] | null
}

export interface IndexFacts {
  columns: Record<string, unknown>
  /** Validity of each index. */
  indexes: Record<string, boolean>
  /** Indexes of the engine, as the catalogue shows them. */
  indexForms: Record<string, IndexForm>
}

/** Validity of each index. One of another form counts as invalid, so that it is dropped and built again. */
export function usableIndexes(facts: IndexFacts, wanted: IndexStatement[]): IndexFacts['indexes'] {
  const { indexes, indexForms } = facts
  const changed = wanted.filter(({ name, sql }) => {
    const form = indexForms[name]
    // A partitioned table has further statements for each index.
    return form !== undefined && sql.startsWith('create') && !hasForm(form, sql, facts)
  })
  return { ...indexes, ...Object.fromEntries(changed.map(({ name }) => [name, false])) }
}

function hasForm({ definition, columns }: IndexForm, sql: string, facts: IndexFacts): boolean {
  return (
    isSameSet(columns ?? [], columnsIn(sql, facts)) &&
    isSameSet(literalsIn(definition), literalsIn(sql)) &&
    hasSameOffsets(definition, sql) &&
    isInMilliseconds(definition) === isInMilliseconds(sql)
  )
}

const token = /"((?:[^"]|"")*)"|(E?)'((?:[^']|'')*)'(::interval)?/g

/** Names of a type or a table have a schema before them. */
function columnsIn(sql: string, { columns }: IndexFacts): string[] {
  return [...sql.matchAll(token)]
    .filter(({ 0: quoted, index }) => sql[index - 1] !== '.' && sql[index + quoted.length] !== '.')
    .flatMap(([, name]) => name?.replaceAll('""', '"') ?? [])
    .filter((name) => name in columns)
}

function literalsIn(sql: string): string[] {
  return [...sql.matchAll(token)].flatMap(([, , escape, text, interval]) => {
    if (text === undefined || interval !== undefined) return []
    const plain = text.replaceAll("''", "'")
    return [escape === '' ? plain : plain.replaceAll('\\\\', '\\')]
  })
}

/** Zones: `+02:00` is printed as `02:00:00`. In another IntervalStyle they are not compared. */
function hasSameOffsets(definition: string, sql: string): boolean {
  const printed = offsetsIn(definition)
  const isReadable = printed.every((offset) => /^-?\d\d:\d\d$/.test(offset))
  return !isReadable || isSameSet(printed, offsetsIn(sql))
}

const offsetsIn = (sql: string) =>
  [...sql.matchAll(token)].flatMap(([, , , text = '', interval]) =>
    interval === undefined ? [] : [text.replace(/^\+/, '').replace(/^(-?\d\d:\d\d):00$/, '$1')],
  )

/** The only number in an index. */
const isInMilliseconds = (sql: string) => /\b1000\b/.test(sql.replaceAll(token, ''))

function isSameSet(some: string[], others: string[]): boolean {
  const [a, b] = [new Set(some), new Set(others)]
  return a.size === b.size && [...a].every((value) => b.has(value))
}
