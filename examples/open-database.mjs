// The database of an example: that of DATABASE_URL, else an embedded PostgreSQL whose data stays in the folder. The
// application's own table comes first, as if it had been there for years; then unstuck is attached to it. UNSTUCK_PROFILE says how.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '@unstuck/embedded'
import pg from 'pg'
import { createInstaller, loadConfig } from 'unstuck'

/** @import { StartPostgresOptions } from '@unstuck/embedded' */
/** @typedef {{ url: string, description: string, stop: () => Promise<void> }} ExampleDatabase */

/**
 * @param {object} options
 * @param {string} options.folder
 * @param {URL} options.tables the application's own SQL
 * @param {StartPostgresOptions} [options.server]
 * @returns {Promise<ExampleDatabase>}
 */
export async function openDatabase({ folder, tables, server = {} }) {
  // Reports an invalid setting before anything is started.
  loadConfig({ env: process.env })
  const database = await findDatabase(folder, server)
  try {
    await createTables(database.url, tables)
    // For this process and for those that it starts.
    process.env['DATABASE_URL'] = database.url
    // The examples enqueue payloads and show results and releases, for which some of their tables have no columns.
    const features = /** @type {const} */ (['payload', 'results', 'releases'])
    await createInstaller(loadConfig({ env: process.env })).up(undefined, undefined, { features })
    return database
  } catch (error) {
    await database.stop()
    throw error
  }
}

/**
 * @param {string} folder
 * @param {StartPostgresOptions} options
 * @returns {Promise<ExampleDatabase>}
 */
async function findDatabase(folder, options) {
  const given = process.env['DATABASE_URL']
  if (given) return { url: given, description: 'the database of DATABASE_URL', stop: async () => {} }
  const server = await startPostgres({ dataDir: join(folder, 'postgres'), ...options })
  return {
    url: server.url,
    description: `PostgreSQL ${server.version}; to look into it: psql ${server.url}`,
    stop: () => server.stop(),
  }
}

/**
 * @param {string} url
 * @param {URL} tables
 */
async function createTables(url, tables) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(await readFile(tables, 'utf8'))
  } finally {
    await client.end()
  }
}
