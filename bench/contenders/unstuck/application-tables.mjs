import pg from 'pg'

/** The tables as an application had them, from the fixtures of the tests. */
export async function createApplicationTables(url, file, name) {
  const fixture = await import(new URL(`../../../test/support/${file}`, import.meta.url).href)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(fixture[name])
  await client.end()
}
