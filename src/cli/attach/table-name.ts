import { invalidArgument } from '../../errors/index.ts'

export interface TableName {
  schema: string | null
  table: string
}

const PART = '"(?:[^"]|"")+"|[^".]+'
const NAME = new RegExp(`^(?:(${PART})\\.)?(${PART})$`)

/** `jobs`, `public.jobs`, `"My Schema"."My Jobs"`. Without quotes, case is kept too. */
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
