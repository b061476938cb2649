// The cost of idle workers for the server: connections, and statements.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { countQueries, type QueryCounter } from '../../support/query-counter.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const WORKERS = 5
const SECONDS = 40
let database: TestDatabase
let counter: QueryCounter
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  // The connection for heartbeats is closed after two intervals without a job.
  await database.pool.query(`select unstuck.write_policy('native', '{"heartbeat_ms": 500}')`)
  counter = await countQueries(database.url)
  apps = Array.from({ length: WORKERS }, () => {
    return unstuck({ databaseUrl: counter.url }).handle('asr', async () => {})
  })
  const listening = apps.map(
    (app) =>
      new Promise<void>((resolve) => {
        app.on('listen:started', () => resolve())
      }),
  )
  await Promise.all(apps.map((app) => app.start()))
  await Promise.all(listening)
})
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()))
  await counter.close()
  await database.drop()
})

async function connections(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name like 'unstuck%'`,
  )
  return rows[0]?.count ?? 0
}

it('OPS-8 idle workers come down to three connections each', { timeout: 120_000 }, async () => {
  await expect.poll(connections, { timeout: 90_000 }).toBeLessThanOrEqual(3 * WORKERS)
})

it('WORK-1 an idle worker makes at most 0.3 statements a second, and the fleet one look at presence', {
  timeout: 120_000,
}, async () => {
  const before = counter.count()
  const startMs = performance.now()
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000))
  const seconds = (performance.now() - startMs) / 1_000
  const shared = 1 + 0.2
  expect((counter.count() - before) / seconds).toBeLessThanOrEqual(0.3 * WORKERS + shared)
})
