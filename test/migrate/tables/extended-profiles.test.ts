// Tables that are nearly those of a document: another schema, other names, other words. The document's functions work on them.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { extendProfile } from '../../../src/profile/extend-profile.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { cronWrappers } from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema, schemaExists } from '../describe.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(async () => {
  if (await schemaExists(database.pool)) await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  await database.pool.query(
    'drop schema if exists ops cascade; drop schema public cascade; create schema public',
  )
})
afterAll(() => database.drop())

const rows = async (text: string): Promise<Record<string, unknown>[]> =>
  (await database.pool.query(text)).rows
const options = (profile: Profile) => ({ databaseUrl: database.url, schema: 'unstuck', profile })

it('OPS-13 OPS-3 the executor in another schema, with another word and other names, has the functions of its document', async () => {
  const sql = (executorTables + cronWrappers)
    .replaceAll('executor_jobs', 'work_items')
    .replaceAll(/\bpublic\b(?!;)/g, 'ops')
    .replace('FROM PUBLIC', 'FROM public')
    .replaceAll("'dead'", "'buried'")
    .replaceAll('process_orchestrator_jobs', 'run_orchestrator')
  await database.pool.query(`create schema ops; ${sql}`)
  const before = await describeSchema(database.pool, 'ops')
  const profile = extendProfile({
    name: 'ops',
    extends: 'executor',
    tables: [
      {
        schema: 'ops',
        table: 'work_items',
        statuses: { dead: 'buried' },
        teamObjects: {
          process_orchestrator_jobs: 'run_orchestrator',
          reclaim_stale_jobs: 'reclaim_work',
          jobs_stale_monitor: 'work_health',
        },
      },
    ],
  })
  await migrateUp(options(profile))
  const stuck = (attempts: number) =>
    rows(`insert into ops.work_items (type, status, locked_at, locked_by, attempts)
          values ('run_tsa', 'running', now() - interval '35 minutes', 'dead-worker', ${attempts})`)
  await stuck(1)
  await stuck(10)
  expect(await rows(`select count(*)::int as stale from ops.work_health where health = 'stale'`)).toEqual([
    { stale: 2 },
  ])
  await rows('select ops.run_orchestrator()')
  expect(await rows('select status, attempts, last_error from ops.work_items order by attempts')).toEqual([
    { status: 'queued', attempts: 2, last_error: expect.stringMatching(/^RECLAIMED_TTL: /) },
    { status: 'buried', attempts: 10, last_error: expect.stringMatching(/Max attempts reached/) },
  ])
  expect(await rows('select * from ops.reclaim_work()')).toEqual([])
  expect(await rows('select * from ops.work_items_stale_validation')).toEqual([])
  expect(await migrateStatus(options(profile))).toMatchObject({ isCurrent: true })
  await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  expect(await describeSchema(database.pool, 'ops')).toEqual(before)
})

it('OPS-13 a converter with camelCase columns has the policy of its document', async () => {
  await database.pool.query(`create table "ConversionJob" (
    id text primary key, status text not null default 'queued', "attemptCount" integer not null default 0,
    "retryAfter" timestamp(3), "leasedBy" text, "leaseExpiresAt" timestamp(3), "errorCode" text, "errorMessage" text,
    "createdAt" timestamp(3) not null default current_timestamp, "updatedAt" timestamp(3));
    insert into "ConversionJob" (id, status, "leaseExpiresAt") values ('a', 'processing', now() at time zone 'UTC' - interval '1 s')`)
  const before = await describeSchema(database.pool, 'public')
  const profile = extendProfile({
    name: 'convert',
    extends: 'converter',
    tables: [
      {
        table: 'ConversionJob',
        columns: {
          attempt: 'attemptCount',
          run_at: 'retryAfter',
          worker_id: 'leasedBy',
          lease_expires_at: 'leaseExpiresAt',
          error_code: 'errorCode',
          error_reason: 'errorMessage',
          created_at: 'createdAt',
          updated_at: 'updatedAt',
        },
      },
    ],
  })
  await migrateUp(options(profile))
  expect(await rows('select id, action, retry_in_ms from unstuck.reap_jobs__conversion_job()')).toEqual([
    // The document requeues at once.
    { id: 'a', action: 'requeued', retry_in_ms: 0 },
  ])
  expect(
    await rows(`select heartbeat_ms, max_crashes from unstuck.policies where attachment = 'conversion_job'`),
  ).toEqual([{ heartbeat_ms: expect.anything(), max_crashes: 5 }])
  await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
})
