// PostgreSQL prefers an operator that fits its operands exactly to one that needs a conversion. So whoever may create in a
// schema on the caller's search_path can take the place of any comparison that pg_catalog only has by conversion (C28).
// Functions that write a team's table cannot pin their search_path: their operands are exact instead. The files of sql/ see
// to that, but for what depends on the types of the table, which is seen to here.
import type { TableProfile } from '../../../profile/profile.ts'

/** How a status column is compared. Absent where its type is unknown, or brings operators of its own, as citext does. */
export type StatusKind =
  /** text, varchar, or a domain over them: as text, which costs nothing and fits the same indexes. */
  | 'text'
  /** By the operators of pg_catalog: as text it would fit no index. */
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
/** With a word of ours, or of the old row with the new one; not what an UPDATE sets. */
const statusComparison = new RegExp(
  String.raw`((?:\b\w+\.|(?<=\b(?:where|and) ))"status") (=|<>|in|not in|is distinct from|is not distinct from) (${word}|new\."status")`,
  'g',
)

/** An id that is text may be stored as varchar: where it is compared, or goes on under its name. */
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

/** The type of a literal key of json: without one, an operator on two jsonb would fit it too. */
export function typeOfKey(before: string, after: string): string {
  if (after.startsWith('::')) return ''
  if (/#>>? $/.test(before)) return '::text[]'
  return /(?:->>?| \?) $/.test(before) ? '::text' : ''
}
