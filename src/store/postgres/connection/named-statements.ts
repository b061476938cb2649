// Names the statements that a connection repeats, so that the server parses and analyses them once: 50 of the 450 µs that it
// takes for a claim of one job. Only on a connection that is proven direct: behind a pooler the next statement may reach another
// session, which does not know the name (C15, C24).
import type pg from 'pg'
import { readQuery } from '../sql-queries.ts'
import { isDirect } from './connection-identity.ts'

/** A connection that sends fewer statements is not worth the one that proves it direct. */
const WORTHWHILE = 10
/** A migration changed what a named statement answers. It has not been run. */
const CHANGED_STATEMENT = '0A000'

type Callback = (error: (Error & { code?: unknown }) | null | undefined, answer?: unknown) => void
type Query = (statement: unknown, params?: unknown, callback?: Callback) => unknown

/** The statements of a store are few, and the same on all of its connections. */
export class StatementNames {
  readonly #names = new Map<string, string>()

  of(text: string): string {
    const name = this.#names.get(text) ?? `unstuck_${this.#names.size + 1}`
    this.#names.set(text, name)
    return name
  }
}

/** For a client of a pool, which passes text, parameters and a callback. Statements without parameters stay unnamed. */
export function nameStatements(client: pg.Client, names: StatementNames): void {
  const send: Query = client.query.bind(client)
  let sent = 0
  let isNaming = false

  const query: Query = (statement, params, callback) => {
    if (++sent === WORTHWHILE) prove()
    if (!isNaming || typeof statement !== 'string' || !Array.isArray(params) || callback === undefined)
      return send(statement, params, callback)
    return send(
      { name: names.of(statement), text: statement, values: params },
      undefined,
      (error, answer) => {
        if (error?.code !== CHANGED_STATEMENT) return callback(error, answer)
        isNaming = false
        send(statement, params, callback)
      },
    )
  }
  client.query = query as typeof client.query

  function prove(): void {
    send(readQuery('connection_identity'), undefined, (error, answer) => {
      const [row] = error ? [] : (answer as { rows: { backend_pid: number }[] }).rows
      isNaming = row !== undefined && isDirect(client, row.backend_pid)
    })
  }
}
