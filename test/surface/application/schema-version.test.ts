// A worker and a schema of other versions, through the public API.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createInstalledDatabase()
})
afterEach(() => database.drop())

async function start(databaseUrl = database.url): Promise<Unstuck> {
  const app = unstuck({ databaseUrl })
  app.handle('asr', async () => {})
  try {
    await app.start()
  } catch (error) {
    await app.stop()
    throw error
  }
  return app
}

it('OPS-7 a worker refuses to start on a schema that is older than it, in one sentence', async () => {
  await database.pool.query("delete from unstuck.migrations where name = '0004_operations'")
  await expect(start()).rejects.toMatchObject({
    code: 'SCHEMA_BEHIND',
    message: 'schema unstuck is older than this worker: it lacks 0004_operations',
    hint: expect.stringContaining('unstuck migrate up') as string,
  })
})

it('OPS-7 a worker starts on a schema that is newer than it', async () => {
  await database.pool.query("insert into unstuck.migrations (name) values ('9999_later')")
  const app = await start()
  await app.stop()
})

it('OPS-7 a worker refuses to start on a newer schema that says it does not know enough, in one sentence', async () => {
  await database.pool.query(
    `insert into unstuck.migrations (name) values ('9999_later');
     create or replace function unstuck.oldest_client() returns text language sql immutable as $$ select '9999_later' $$`,
  )
  await expect(start()).rejects.toMatchObject({
    code: 'SCHEMA_NEWER',
    message: 'schema unstuck is newer than this worker: it needs 9999_later',
  })
})

it('OPS-7 a role that may not read which migrations were made is not refused for that', async () => {
  const role = `unstuck_test_${randomBytes(6).toString('hex')}`
  await database.pool.query(
    `create role ${role}; grant usage on schema unstuck to ${role};
     grant select, insert, update, delete on all tables in schema unstuck to ${role};
     revoke all on unstuck.migrations from ${role}`,
  )
  const url = new URL(database.url)
  url.searchParams.set('options', `-c role=${role}`)
  try {
    const app = await start(url.href)
    await app.stop()
  } finally {
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
  }
})
