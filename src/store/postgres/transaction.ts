import type pg from 'pg'
import type { SqlClient } from './executor.ts'

/** Commits what `work` did, or rolls it back and throws on. A connection that broke is not given back to the pool. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: SqlClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    await client.query('rollback').then(
      () => client.release(),
      (broken: unknown) => client.release(broken instanceof Error ? broken : true),
    )
    throw error
  }
}
