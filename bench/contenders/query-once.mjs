// @ts-check
// Loads pg on demand: a worker under test should load only its own driver.

/**
 * Returns the `count` column of one row.
 * @param {string} url
 * @param {string} text
 * @param {unknown[]} [values]
 * @returns {Promise<number>}
 */
export async function queryOnce(url, text, values = []) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    /** @type {import('pg').QueryResult<{ count: number }>} */
    const { rows } = await client.query(text, values)
    return Number(rows[0]?.count)
  } finally {
    await client.end()
  }
}
