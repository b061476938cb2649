// @ts-check
// Writes sql/schema.snapshot.sql: the objects of a fresh install of the native profile, one per line. Reviews show what a
// change of sql/ changes, and test/migrate compares every kind of install with it.
//   node scripts/schema-snapshot.mjs [database URL]
// Creates and drops its own database. Default: an embedded server. Needs a build.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const schema = 'unstuck'
const target = fileURLToPath(new URL('../sql/schema.snapshot.sql', import.meta.url))
const query = readFileSync(new URL('./describe_schema.sql', import.meta.url), 'utf8')

/** @param {string} serverUrl */
async function describeFreshInstall(serverUrl) {
  const { migrateUp } = await import('../dist/store/postgres/index.js')
  const { nativeProfile } = await import('../dist/profile/native.js')
  const name = `unstuck_snapshot_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await withClient(serverUrl, (server) => server.query(`create database ${name}`))
  try {
    await migrateUp({ databaseUrl: url.href, schema, profile: nativeProfile(schema) })
    const { rows } = await withClient(url.href, (client) => client.query(query, [schema]))
    return rows.map(({ line }) => String(line))
  } finally {
    await withClient(serverUrl, (server) => server.query(`drop database if exists ${name} with (force)`))
  }
}

/**
 * @template T
 * @param {string} connectionString
 * @param {(client: pg.Client) => Promise<T>} work
 */
async function withClient(connectionString, work) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** @returns {Promise<string[]>} */
async function describeOnEmbeddedServer() {
  const { startPostgres } = await import('../embedded/dist/index.js')
  const server = await startPostgres({ persistent: false, settings: { fsync: 'off' } })
  try {
    return await describeFreshInstall(server.url)
  } finally {
    await server.stop()
  }
}

const givenUrl = process.argv[2]
const lines = givenUrl === undefined ? await describeOnEmbeddedServer() : await describeFreshInstall(givenUrl)
const heading = '-- Written by scripts/schema-snapshot.mjs: the objects of a fresh install, one per line.'
writeFileSync(target, `${[heading, ...lines.map((line) => `-- ${line}`)].join('\n')}\n`)
console.log(`sql/schema.snapshot.sql: ${lines.length} lines`)
