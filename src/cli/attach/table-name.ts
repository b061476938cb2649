import { invalidArgument } from '../../errors/index.ts'

export interface TableName {
  schema: string | null
  table: string
}

const PART = '"(?:[^"]|"")+"|[^".]+'
const NAME = new RegExp(`^(?:(${PART})\\.)?(${PART})$`)

/** `jobs`, `public.jobs`, `"My Schema"."My Jobs"`. A name without quotes is taken as it is, capitals too. */
export function readTableName(text: string): TableName {
  const [, schema, table] = NAME.exec(text) ?? []
  if (table === undefined) throw invalidArgument('--table', text, 'a table, or schema.table')
  return { schema: schema === undefined ? null : unquoted(schema), table: unquoted(table) }
}

export function showTableName({ schema, table }: { schema: string; table: string }): string {
  return `${quotedIfNeeded(schema)}.${quotedIfNeeded(table)}`
}

const unquoted = (name: string) => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name)

const quotedIfNeeded = (name: string) => (/^\w+$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`)
