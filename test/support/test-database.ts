// A database of its own for a test file, so that files run beside each other and fixed table names do not collide.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { asAdmin } from './as-admin.ts'

export interface TestDatabase {
  url: string
  pool: pg.Pool
  /** A connection of its own, for races: ended with the database. */
  connect(): Promise<pg.Client>
  drop(): Promise<void>
}

/** On the server of the run, or on one of the test's own; empty, or a copy of another database. */
export async function createTestDatabase(
  serverUrl = inject('databaseUrl'),
  template = 'template1',
): Promise<TestDatabase> {
  const name = `unstuck_test_${randomBytes(6).toString('hex')}`
  await asAdmin(serverUrl, (client) => client.query(`create database ${name} template ${template}`))
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
      await asAdmin(serverUrl, (client) => client.query(`drop database if exists ${name} with (force)`))
    },
  }
}
