// The one method that the store needs of a database client. The types are structural, so no client package is imported: pg,
// postgres.js and anything with `query(text, params)` fit (docs/adr/0007).
import { invalidArgument } from '../../../errors/index.ts'

export type Row = Record<string, unknown>

export interface Executor {
  query(text: string, params: unknown[]): Promise<Row[]>
}

/** pg's Pool, Client and PoolClient, and Kysely- or Drizzle-style wrappers around them. */
export interface QueryClient {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] } | readonly unknown[]>
}

/** postgres.js: `sql` itself, or the `sql` of `sql.begin`. */
export interface UnsafeClient {
  unsafe(text: string, params: never[]): PromiseLike<readonly unknown[]>
}

export type SqlClient = QueryClient | UnsafeClient

export function toExecutor(client: SqlClient): Executor {
  if ('unsafe' in client && typeof client.unsafe === 'function') {
    return { query: async (text, params) => [...(await client.unsafe(text, params as never[]))] as Row[] }
  }
  if ('query' in client && typeof client.query === 'function') {
    return {
      query: async (text, params) => {
        const answer = await client.query(text, params)
        return ('rows' in answer ? answer.rows : answer) as Row[]
      },
    }
  }
  throw invalidArgument('client', client, 'a client with query(text, params), or postgres.js', {
    withhold: true,
  })
}
