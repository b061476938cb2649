// @ts-check
import pg from 'pg'

/**
 * The `count` of one row.
 * @param {string} url
 * @param {string} text
 * @param {unknown[]} [values]
 * @returns {Promise<number>}
 */
export async function queryOnce(url, text, values = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    /** @type {pg.QueryResult<{ count: number }>} */
    const { rows } = await client.query(text, values)
    return Number(rows[0]?.count)
  } finally {
    await client.end()
  }
}
