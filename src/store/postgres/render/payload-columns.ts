// The payload of a table that holds its parts in columns (OPS-13).
import type { LogicalColumn, TableProfile } from '../../../profile/profile.ts'
import type { ColumnAccess } from './column-access.ts'
import { quoteLiteral } from './identifiers.ts'

/** The columns, and over them what was enqueued through the engine, if the table has a column for that. */
export function payloadAccess(
  { payload = {} }: TableProfile,
  absent: ReadonlySet<LogicalColumn>,
): ['payload', ColumnAccess][] {
  const keys = Object.keys(payload)
  if (keys.length === 0) return []
  const isAbsent = absent.has('payload')
  const read = (reference: string) => {
    const alias = reference.slice(0, reference.indexOf('"'))
    const parts = keys.map((key, place) => `${quoteLiteral(key)}, ${valueOf(`${alias}"payload_${place}"`)}`)
    return `"unstuck".payload_with(${isAbsent ? 'null' : reference}::jsonb, jsonb_build_object(${parts.join(', ')}))`
  }
  const access: ColumnAccess = {
    read,
    assign: (expression) => (isAbsent ? null : `"payload" = ${expression}`),
    assignNew: (expression) => (isAbsent ? null : `new."payload" := ${expression}`),
    insert: (expression) => (isAbsent ? null : expression),
  }
  return [['payload', access]]
}

/** Types whose numbers JavaScript would round are texts, as in node-postgres. */
const valueOf = (column: string) =>
  `case when pg_typeof(${column})::text in ('bigint', 'numeric') then to_jsonb(${column}::text) else to_jsonb(${column}) end`
