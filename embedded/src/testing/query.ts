import pg from 'pg'

/** The first column of the answer, over a connection of its own. */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = await connect(url)
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end()
  }
}

/** A server that stops under its clients is part of what is tested, so a lost connection is no failure. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  return client
}
