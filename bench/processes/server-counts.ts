// The work of a database, as its server counted it. Read from another database, so that reading adds nothing.
import pg from 'pg'
import { readBenchSql } from '../sql-file.mjs'

/** Backends that ended report their last transactions a moment later. */
const FLUSH_MS = 200

export interface ServerCounts {
  /** Since it was opened. Closes it. */
  perJob(jobs: number): Promise<Record<string, number>>
}

export async function openServerCounts(url: string): Promise<ServerCounts> {
  const { pathname } = new URL(url)
  const name = pathname.slice(1)
  const client = new pg.Client({
    connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href,
  })
  client.on('error', () => {})
  await client.connect()
  const first = async <Row extends pg.QueryResultRow>(file: string, values: unknown[]): Promise<Row> => {
    const [row] = (await client.query<Row>(readBenchSql(file), values)).rows
    if (row === undefined) throw new Error(`${file} returned nothing`)
    return row
  }
  const countTransactions = async () => (await first<{ count: number }>('transactions_of', [name])).count
  const startTransactions = await countTransactions()
  const { lsn } = await first<{ lsn: string }>('reset_statements', [name])
  return {
    async perJob(jobs) {
      const { calls, inner_statements, buffers, dirtied, wal_bytes } = await first<Record<string, number>>(
        'statement_counts',
        [name, lsn],
      )
      const { count: indexInserts } = await first<{ count: number }>('index_inserts', [lsn])
      await new Promise((resolve) => setTimeout(resolve, FLUSH_MS))
      const transactions = (await countTransactions()) - startTransactions
      await client.end()
      const counts = {
        calls,
        innerStatements: inner_statements,
        buffers,
        dirtied,
        walBytes: wal_bytes,
        indexInserts,
        transactions,
      }
      return Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, (count ?? 0) / jobs]))
    },
  }
}
