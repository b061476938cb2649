// A database of its own for a test file, so that files run beside each other and fixed table names do not collide.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  url: string
  pool: pg.Pool
  /** A connection of its own, for races: ended with the database. */
  connect(): Promise<pg.Client>
  drop(): Promise<void>
}

/** On the server of the run, or on one of the test's own. */
export async function createTestDatabase(serverUrl = inject('databaseUrl')): Promise<TestDatabase> {
  const name = `unstuck_test_${randomBytes(6).toString('hex')}`
  await asAdmin(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const pool = new pg.Pool({ connectionString: url.href, max: 8 })
  pool.on('error', () => {})
  const clients: pg.Client[] = []
  return {
    url: url.href,
    pool,
    async connect() {
      const client = new pg.Client({ connectionString: url.href })
      client.on('error', () => {})
      await client.connect()
      clients.push(client)
      return client
    },
    async drop() {
      await Promise.all(clients.map((client) => client.end()))
      await pool.end()
      await asAdmin(serverUrl, `drop database if exists ${name} with (force)`)
    },
  }
}

async function asAdmin(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
