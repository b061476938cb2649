// Everything the engine stores, as one number: equal before and after means that nothing was written.
import type pg from 'pg'

interface Queryable {
  query<R extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<R>>
}

export async function digest(client: Queryable, jobTable = 'unstuck.jobs'): Promise<string> {
  const tables = [jobTable, 'unstuck.events', 'unstuck.policies', 'unstuck.sweeps', 'unstuck.attachments']
  // xmin too: a row that was written again with the same values was written all the same.
  const parts = tables.map(
    (table) =>
      `(select coalesce(string_agg(t.xmin::text || t::text, ',' order by t::text), '') from ${table} t)`,
  )
  const { rows } = await client.query<{ digest: string }>(`select md5(${parts.join(' || ')}) as digest`)
  return String(rows[0]?.digest)
}
