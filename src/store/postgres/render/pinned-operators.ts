// PostgreSQL prefers an operator that matches its operands exactly over one that needs a conversion. Anyone who can create
// objects in a schema on the caller's search_path could therefore shadow a comparison that pg_catalog only has by
// conversion (C28). Functions that write a team's table cannot pin their search_path, so their operands are exact: in
// the files of sql/, and here if they depend on the types of the table.
import type { TableProfile } from '../../../profile/profile.ts'

/** How a status column is compared. Unset for a type that is unknown or has its own operators, like citext. */
export type StatusKind =
  /** text, varchar, or a domain over them: compared as text, which is free and uses the same indexes. */
  | 'text'
  /** Compared by the operators of pg_catalog: as text it would use no index. */
  | 'enum'

interface Exactness {
  table: TableProfile
  statusKind?: StatusKind
}

/** Takes the text of a file, before its markers are replaced. */
export function withExactOperands(sql: string, { table, statusKind }: Exactness): string {
  const exact = statusKind === undefined ? sql : sql.replaceAll(statusComparison, compareAs[statusKind])
  return table.idType === 'text' ? exact.replaceAll(comparedId, '$&::text') : exact
}

const word = String.raw`\/\*\w+\*\/(?:'[^']*'|\([^)]*\))`
/** A comparison with a status word, or of old and new row; not an assignment of UPDATE. */
const statusComparison = new RegExp(
  String.raw`((?:\b\w+\.|(?<=\b(?:where|and) ))"status") (=|<>|in|not in|is distinct from|is not distinct from) (${word}|\(select ${word}\)|new\."status")`,
  'g',
)

/** A text id may be stored as varchar: it is cast where it is compared or selected under its name. */
const comparedId =
  /\b\w+\."id"(?=\)? (?:[=<>]|between |is (?:not )?distinct |as id\b))|(?<=[=<>] )\w+\."id"(?!:)/g

const asText = (column: string, operator: string, right: string) =>
  `${column}::text ${operator} ${right.startsWith('new.') ? `${right}::text` : right}`

const compareAs: Record<
  StatusKind,
  (all: string, column: string, operator: string, right: string) => string
> = {
  text: (_, column, operator, right) => asText(column, operator, right),
  enum(_, column, operator, right) {
    if (operator.endsWith('distinct from')) {
      const asked = right.startsWith('/*any_running') || right.startsWith('new.') ? right : `(${right})::text`
      return asText(column, operator, asked)
    }
    if (operator === 'in')
      return `${column} operator(pg_catalog.=) ${right.replace('_words*/', '_words_any*/')}`
    if (operator === 'not in')
      return `${column} operator(pg_catalog.<>) ${right.replace('_words*/', '_words_all*/')}`
    return `${column} operator(pg_catalog.${operator}) ${right}`
  },
}

/** The type of a literal JSON key: without it, an operator on two jsonb would match too. */
export function typeOfKey(before: string, after: string): string {
  if (after.startsWith('::')) return ''
  if (/#>>? $/.test(before)) return '::text[]'
  return /(?:->>?| \?) $/.test(before) ? '::text' : ''
}
