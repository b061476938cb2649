import pg from 'pg'

/** The application's own tables, from the test fixtures. */
export async function createApplicationTables(url, file, name) {
  const fixture = await import(new URL(`../../../test/support/tables/${file}`, import.meta.url).href)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(fixture[name])
  await client.end()
}
