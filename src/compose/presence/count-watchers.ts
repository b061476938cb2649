import type { TableProfile } from '../../profile/profile.ts'
import { createCallQuery } from '../../store/postgres/connection/call-query.ts'
import type { SqlClient } from '../../store/postgres/connection/executor.ts'

/** Sessions that watch for workers that are gone. */
export async function countWatchers(client: SqlClient, schema: string, table: TableProfile): Promise<number> {
  const [row] = await createCallQuery(client, { schema, table })('count_watchers', [])
  return Number(row?.['watchers'] ?? 0)
}
