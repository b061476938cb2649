// One direct connection for schema changes: one migrator at a time, with lock timeouts, so that traffic of the team does
// not queue behind our lock requests.

import { UnstuckError } from '../../../../errors/index.ts'
import { pg } from '../../connection/driver.ts'
import type { Row } from '../../connection/executor.ts'
import { translated } from '../../connection/postgres-errors.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql } from '../../sql-files.ts'
import { readQuery } from '../../sql-queries.ts'

export interface MigrationSession {
  run(text: string, params?: unknown[]): Promise<Row[]>
  query(name: string, options: RenderOptions, params?: unknown[]): Promise<Row[]>
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Runs with the search_path of the caller, which names of the team need. It is pinned otherwise (C28). */
  inTeamsPath<T>(work: () => Promise<T>): Promise<T>
}

export interface SessionOptions {
  databaseUrl: string
  lockTimeoutMs: number
}

export async function withMigrationSession<T>(
  { databaseUrl, lockTimeoutMs }: SessionOptions,
  work: (session: MigrationSession) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'unstuck migrate',
    lock_timeout: lockTimeoutMs,
    connectionTimeoutMillis: 10_000,
  })
  // A lost connection is reported by the next statement.
  client.on('error', () => {})
  await translated(() => client.connect())
  try {
    const session = sessionOver(client)
    await session.run(readQuery('settle_session'))
    return await work(session)
  } finally {
    await client.end()
  }
}

function sessionOver(client: pg.Client): MigrationSession {
  const run = (text: string, params?: unknown[]) =>
    translated(async () => {
      const answer = await client.query(text, params)
      return answer.rows as Row[]
    })
  return {
    run,
    query: (name, options, params) => run(render(readQuery(name), options), params ?? []),
    async transaction(work) {
      await run('begin')
      try {
        await run(readSql('attach/session', 'without_jit'))
        const result = await work()
        await run('commit')
        return result
      } catch (error) {
        // Report the first error; a lost connection has rolled back by itself.
        await run('rollback').catch(() => {})
        throw error
      }
    },
    async inTeamsPath(work) {
      await run(readQuery('team_search_path'))
      try {
        return await work()
      } finally {
        // In a failed transaction, the rollback does it.
        await run(readSql('attach/session', 'pin_search_path')).catch(() => {})
      }
    },
  }
}

/** Polls for the lock: a blocked request would deadlock with a concurrent index build. */
export async function holdMigrationLock(
  session: MigrationSession,
  options: RenderOptions,
  waitMs: number,
): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const [row] = await session.query('try_migration_lock', options)
    if (row?.['is_mine'] === true) return
    if (performance.now() > deadline) {
      throw new UnstuckError('LOCK_TIMEOUT', 'another migration of this schema is running', {
        hint: 'Wait for it to end and run the command again: it continues where it stopped.',
      })
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
