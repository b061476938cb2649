// Rewrites the references to columns that a table holds in another form than the files of sql/ write them:
//   job."run_at"               a read
//   "run_at" = expression      an assignment of UPDATE; in a trigger new."run_at" := expression
//   insert into (…) select …   a value per column
//   coalesce("run_at", …)      a read, in an index
import type { LogicalColumn } from '../../../profile/profile.ts'

export interface ColumnAccess {
  /** `job."run_at"`, or `"run_at"` in an index. */
  read(reference: string): string
  /** With the name of the column, or of those that stand for it. Null leaves the assignment out. */
  assign(expression: string): string | null
  assignNew(expression: string): string | null
  /** Null leaves the column out: its default is the value. */
  insert(expression: string): string | null
}

/** Takes the text of a file, before its names are replaced. */
export function withColumnAccess(sql: string, accesses: [LogicalColumn, ColumnAccess][]): string {
  if (accesses.length === 0) return sql
  const columns = new Map<string, ColumnAccess>(accesses)
  const names = [...columns.keys()].join('|')
  // In an index, columns have no alias.
  const isIndex = /^create [^\n]*\bindex\b/m.test(sql)
  const assigned = isIndex ? sql : withAssignments(withInserts(sql, columns), names, columns)
  const read = isIndex ? `(?<![.\\w])"(${names})"` : `\\b\\w+\\."(${names})"(?! :=)`
  return assigned.replaceAll(
    new RegExp(read, 'g'),
    (reference, name: string) => columns.get(name)?.read(reference) ?? reference,
  )
}

type Columns = ReadonlyMap<string, ColumnAccess>

function withAssignments(sql: string, names: string, columns: Columns): string {
  const assignment = new RegExp(`(?<![.\\w])"(${names})" = |\\bnew\\."(${names})" := `, 'g')
  let out = ''
  let at = 0
  for (const found of sql.matchAll(assignment)) {
    const start = found.index + found[0].length
    const end = expressionEnd(sql, start)
    const expression = sql.slice(start, end)
    const [, name = '', ofNew = ''] = found
    const written =
      name === '' ? columns.get(ofNew)?.assignNew(expression) : columns.get(name)?.assign(expression)
    out += sql.slice(at, found.index) + (written ?? '')
    at = end
    if (written != null) continue
    // Its separator goes with it: that after it, or that before the last one.
    const [after] = /^\s*[,;]\s*/.exec(sql.slice(end)) ?? []
    if (after === undefined) out = out.replace(/,\s*$/, '')
    else at = end + after.length
  }
  return out + sql.slice(at)
}

/** `insert into "unstuck"."jobs" (columns) select expressions`, or `values (expressions)`. */
function withInserts(sql: string, columns: Columns): string {
  const insert =
    /(insert into "unstuck"\."jobs"[^(]*\()([^)]*)(\)\s+(?:overriding system value\s+)?(?:select |values \())/g
  let out = ''
  let at = 0
  for (const found of sql.matchAll(insert)) {
    const [all, head = '', list = '', between = ''] = found
    const { values, end } = valuesAt(sql, found.index + all.length, list.split(','), columns)
    const kept = values.filter(({ value }) => value !== null)
    out += sql.slice(at, found.index) + head + kept.map(({ column }) => column).join(',') + between
    out += kept.map(({ value }) => value).join(',')
    at = end
  }
  return out + sql.slice(at)
}

function valuesAt(sql: string, from: number, list: string[], columns: Columns) {
  let start = from
  let end = from
  const values = list.map((column) => {
    end = expressionEnd(sql, start)
    const [lead] = /^(?:\s|--[^\n]*\n)*/.exec(sql.slice(start, end)) ?? ['']
    const expression = sql.slice(start + lead.length, end)
    const access = columns.get(/"(\w+)"/.exec(column)?.[1] ?? '')
    const value = access === undefined ? expression : access.insert(expression)
    start = end + 1
    return { column, value: value === null ? null : lead + value }
  })
  return { values, end }
}

/** Tokens within an expression. The keywords end it outside of parentheses; `extract(epoch from …)` is inside of them. */
const piece = /'(?:[^']|'')*'|--[^\n]*|\/\*\w+\*\/|\*\/|[(),;]|\b(?:where|from|returning)\b/g

/** The end of the expression at `start`, without the blanks after it. */
export function expressionEnd(sql: string, start: number): number {
  let depth = 0
  piece.lastIndex = start
  for (let found = piece.exec(sql); found !== null; found = piece.exec(sql)) {
    const [token] = found
    if (token === '(') depth++
    else if (token === ')' && depth > 0) depth--
    else if (depth === 0 && /^(?:[),;]|\*\/|\w+)$/.test(token))
      return start + sql.slice(start, found.index).trimEnd().length
  }
  throw new Error('an expression in sql/ does not end')
}
