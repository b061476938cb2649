// Sends a statement of sql/queries, rendered for one table.

import { type RenderOptions, render } from '../render/render.ts'
import { readQuery } from '../sql-queries.ts'
import { type Executor, type Row, type SqlClient, toExecutor, toTransaction } from './executor.ts'
import { retryConflicts, translated } from './postgres-errors.ts'

/** Runs inside `tx`, or in a transaction of its own that is retried after a conflict. */
export type CallQuery = (name: string, params: unknown[], tx?: SqlClient) => Promise<Row[]>

/** A row may come as JSON: its times then do not depend on DateStyle, which a role can set. */
async function send(executor: Executor, text: string, params: unknown[]): Promise<Row[]> {
  const rows = await executor.query(text, params)
  const [first] = rows
  return first !== undefined && 'record' in first ? rows.map(({ record }) => record as Row) : rows
}

export function createCallQuery(client: SqlClient, options: RenderOptions): CallQuery {
  const own = toExecutor(client)
  const queries = new Map<string, string>()
  return (name, params, tx) => {
    const text = queries.get(name) ?? render(readQuery(name), options)
    queries.set(name, text)
    if (tx !== undefined) return translated(() => send(toTransaction(tx), text, params))
    return retryConflicts(() => translated(() => send(own, text, params)))
  }
}
