// The contents of a schema as text, to compare two databases.
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { createInstalledDatabase } from '../support/installed-database.ts'

const sqlFolder = new URL('../../sql/', import.meta.url)
const query = readFileSync(new URL('../../scripts/describe_schema.sql', import.meta.url), 'utf8')

export type Queryable = Pick<pg.Pool | pg.Client, 'query'>

export async function describeSchema(client: Queryable, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(query, [schema])
  return rows.map(({ line }) => line)
}

/** The snapshot written by scripts/schema-snapshot.mjs. */
export function readSnapshot(): string[] {
  const [, ...lines] = readFileSync(new URL('schema.snapshot.sql', sqlFolder), 'utf8').trimEnd().split('\n')
  return lines.map((line) => line.replace(/^-- /, ''))
}

/** A fresh native install, in a database of its own. */
export async function describeFreshInstall(): Promise<string[]> {
  const database = await createInstalledDatabase()
  const lines = await describeSchema(database.pool, 'unstuck')
  await database.drop()
  return lines
}

export async function schemaExists(client: Queryable, schema = 'unstuck'): Promise<boolean> {
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema])
  return rows.length > 0
}

/** Rows and their place in the table: equal before and after means that no row was written. */
export async function describeRows(client: Queryable, table: string): Promise<unknown[]> {
  const { rows } = await client.query(`select ctid::text, * from ${table} order by id`)
  return rows
}
