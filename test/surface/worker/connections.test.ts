// How many connections a worker holds, and how it starts while the server has none left.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let apps: Unstuck[] = []
/** A role whose connections are limited: superusers are not. */
const role = `few_${process.pid}`

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query(`create role ${role} login password 'few'`)
  await database.pool.query(`do $$ begin execute format('grant %I to ${role}', current_user); end $$`)
})
afterAll(async () => {
  await database.pool.query(`drop role ${role}`)
  await database.drop()
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
  apps = []
  await limit(-1)
})

const limit = (connections: number) =>
  database.pool.query(`alter role ${role} connection limit ${connections}`)

function open(options: UnstuckOptions = {}): Unstuck {
  const url = new URL(database.url)
  url.username = role
  url.password = 'few'
  const app = unstuck({ databaseUrl: url.href, ...options }).handle('asr', async () => {})
  apps.push(app)
  return app
}

async function connections(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where usename = $1`,
    [role],
  )
  return rows[0]?.count ?? 0
}

it('OPS-8 a worker with one connection for calls holds four: also for heartbeats, presence and hints', async () => {
  const app = open({ connections: 1 })
  const listening = new Promise<void>((resolve) => {
    app.on('listen:started', () => resolve())
  })
  await app.start()
  await listening
  const jobs = Array.from({ length: 50 }, () => app.enqueue({ type: 'asr' }))
  const held = await Promise.all(jobs.map(() => connections()))
  await Promise.all(jobs)
  expect(Math.max(...held)).toBeLessThanOrEqual(4)
})

it('OPS-8 workers that start while the server has no free slot start when it has', async () => {
  await limit(0)
  const starting = [open(), open(), open()].map((app) => app.start())
  // Tried after them, so they have been refused too.
  await expect(open({ startTimeoutMs: 0 }).start()).rejects.toThrow('startTimeoutMs (0)')
  await limit(-1)
  await Promise.all(starting)
})

it('OPS-8 a start that finds no slot in time says so, and names its limit', async () => {
  await limit(0)
  const refused = open({ startTimeoutMs: 300 }).start()
  await expect(refused).rejects.toMatchObject({
    code: 'DATABASE_UNREACHABLE',
    message: expect.stringContaining(
      'startTimeoutMs (300): the database takes no more connections',
    ) as string,
  })
})

it('OPS-8 an option that is no number of connections is refused by name', () => {
  for (const connections of [0, 1.5, 1_001])
    expect(() => unstuck({ connections })).toThrow(
      `connections: got ${connections}, takes a whole number from 1 to 1000`,
    )
})
