// A connection that cannot write. Every read is a read-only transaction of its own with short limits, and verifies at its end
// that it was one, since users are told that nothing was written.

import { UnstuckError } from '../../../errors/index.ts'
import { readSql } from '../sql-files.ts'
import { pg } from './driver.ts'
import type { Row } from './executor.ts'
import { translated } from './postgres-errors.ts'

export type RunStatement = (text: string, params?: unknown[]) => Promise<Row[]>

export interface ReadOnlySession {
  look<T>(work: (run: RunStatement) => Promise<T>): Promise<T>
}

export interface ReadOnlySessionOptions {
  databaseUrl: string
  applicationName: string
  /** Limit of each statement and of each lock wait. */
  timeoutMs: number
}

export async function withReadOnlySession<T>(
  { databaseUrl, applicationName, timeoutMs }: ReadOnlySessionOptions,
  work: (session: ReadOnlySession) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    // The server's own limit acts first, because it says what happened.
    query_timeout: timeoutMs + 10_000,
  })
  // Losing the connection between two statements is reported by the next one.
  client.on('error', () => {})
  await translated(() => client.connect())
  try {
    return await work({ look: (inside) => lookOnce(client, timeoutMs, inside) })
  } finally {
    await client.end().catch(() => {})
  }
}

async function lookOnce<T>(
  client: pg.Client,
  timeoutMs: number,
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const run: RunStatement = (text, params) =>
    translated(
      async () => {
        const answer = await client.query(text, params)
        return answer.rows as Row[]
      },
      { isLook: true },
    )
  await run('begin transaction read only')
  try {
    await run(readSql('scan', 'begin_reading'), [String(timeoutMs)])
    const result = await work(run)
    const [end] = await run(readSql('scan', 'end_reading'))
    if (end?.['is_read_only'] !== true || end['is_unwritten'] !== true) {
      throw new UnstuckError('INTERNAL', 'a look at the database was not read-only: it was rolled back')
    }
    return result
  } finally {
    // Only the first error matters; a lost connection rolls back by itself.
    await run('rollback').catch(() => {})
  }
}
