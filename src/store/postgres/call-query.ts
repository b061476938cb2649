// Sends a file of sql/queries, rendered for one table.
import { type Row, type SqlClient, toExecutor } from './executor.ts'
import { retryConflicts, translated } from './postgres-errors.ts'
import { type RenderOptions, render } from './render.ts'
import { readSql } from './sql-files.ts'

/** Inside `tx`, or in a transaction of its own, which is tried again after a conflict. */
export type CallQuery = (name: string, params: unknown[], tx?: SqlClient) => Promise<Row[]>

export function createCallQuery(client: SqlClient, options: RenderOptions): CallQuery {
  const own = toExecutor(client)
  const queries = new Map<string, string>()
  return (name, params, tx) => {
    const text = queries.get(name) ?? render(readSql('queries', name), options)
    queries.set(name, text)
    if (tx !== undefined) return translated(() => toExecutor(tx).query(text, params))
    return retryConflicts(() => translated(() => own.query(text, params)))
  }
}
