// A team sets what it likes for its roles. Whatever it is, jobs live as they do without it, and the store reads what the server
// writes: regular expressions with other backslashes, times in another style, names in quotes.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { executorProfile } from '../../../src/profile/executor.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore, migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { clearStatements, elapse } from '../../support/postgres-harness.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
const role = `unstuck_test_${randomBytes(6).toString('hex')}`
let database: TestDatabase
let url: string

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query(`create role ${role} login password 'of-a-test' in role current_user`)
  const address = new URL(database.url)
  address.username = role
  address.password = 'of-a-test'
  url = address.href
})
afterAll(async () => {
  await database.pool.query(`drop role ${role}`)
  await database.drop()
})

const settings: [name: string, value: string][] = [
  ['standard_conforming_strings', 'off'],
  ['backslash_quote', 'off'],
  ['transform_null_equals', 'on'],
  ['DateStyle', "'German'"],
  ['DateStyle', "'SQL', 'DMY'"],
  ['DateStyle', "'Postgres', 'MDY'"],
  ['IntervalStyle', 'sql_standard'],
  ['TimeZone', "'Asia/Kathmandu'"],
  ['TimeZone', "'America/St_Johns'"],
  ['bytea_output', 'escape'],
  ['extra_float_digits', '0'],
  ['extra_float_digits', '-15'],
  ['lc_numeric', "'C'"],
  ['client_encoding', 'LATIN1'],
  ['client_min_messages', 'debug5'],
  ['quote_all_identifiers', 'on'],
  ['search_path', 'pg_catalog'],
  ['row_security', 'off'],
  ['statement_timeout', "'20s'"],
  ['lock_timeout', "'10s'"],
  ['idle_in_transaction_session_timeout', "'10s'"],
  ['default_transaction_isolation', "'repeatable read'"],
  ['default_transaction_isolation', "'serializable'"],
  ['default_transaction_deferrable', 'on'],
  ['synchronous_commit', 'off'],
  ['jit_above_cost', '0'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['plan_cache_mode', 'force_custom_plan'],
  ['enable_seqscan', 'off'],
  ['enable_indexscan', 'off'],
  ['enable_bitmapscan', 'off'],
  ['enable_nestloop', 'off'],
  ['enable_hashjoin', 'off'],
  ['enable_mergejoin', 'off'],
  ['enable_sort', 'off'],
  ['work_mem', "'64kB'"],
]

async function openAs(changes: [name: string, value: string][]): Promise<JobStore> {
  await database.pool.query(`alter role ${role} reset all`)
  for (const [name, value] of changes) await database.pool.query(`alter role ${role} set ${name} = ${value}`)
  await database.pool.query(clearStatements(table, 'unstuck'))
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  onTestFinished(() => pool.end())
  const store = createPostgresStore({ client: pool, table })
  if (!changes.some(([name]) => name === 'default_transaction_read_only'))
    await store.writePolicy({ defaultLeaseMs: 60_000 })
  return store
}

const forward = (ms: number) => elapse(database.pool, table, 'unstuck', ms)
const hour = 3_600_000
const payload = { path: String.raw`C:\new\table`, quote: `'"$$`, text: 'é' }

/** Every verb that a worker, a sweep and a person use. */
async function liveThrough(store: JobStore): Promise<void> {
  const startMs = Date.now()
  const runAt = new Date(startMs + 24 * hour)
  const enqueued = await store.enqueueJobs([
    ...Array.from({ length: 4 }, () => ({ type: 'asr', payload })),
    { type: 'later', runAt, dedupeKey: 'once' },
  ])
  const [first, second, third, fourth] = await store.claimJobs({
    workerId: 'w',
    queues: ['asr', 'later'],
    limit: 9,
    leaseMs: 123_456,
  })
  if (!first || !second || !third || !fourth) throw new Error('not all jobs were claimed')
  expect(first).toMatchObject({ payload, leaseMs: 123_456, fence: 1, attempt: 1 })
  expect(Math.abs(first.createdAt.getTime() - startMs)).toBeLessThan(hour)
  expect((await store.getJob(first.jobId))?.createdAt).toEqual(first.createdAt)
  expect((await store.getJob(enqueued[4]?.jobId ?? ''))?.runAt).toEqual(runAt)
  expect((await store.heartbeatJobs([first])).answers).toMatchObject([{ answer: 'kept' }])
  expect(await store.enterStage(first, 'upload')).toMatchObject({ outcome: 'entered', leaseMs: 60_000 })
  expect(await store.reportProgress([{ ...first, value: 0.25, text: null }])).toEqual([true])
  expect(await store.readProgress([first.jobId])).toEqual([{ jobId: first.jobId, value: 0.25, text: null }])
  expect(await store.completeJobs([{ ...first, result: payload }])).toMatchObject([{ outcome: 'completed' }])
  const reason = String.raw`C:\x 'quoted' 42`
  const failure = { ...second, code: 'GW_5XX', reason, isRetryable: false }
  expect(await store.failJobs([failure])).toMatchObject([{ outcome: 'dead' }])
  expect(await store.releaseJobs([third], { delayMs: hour })).toMatchObject([{ outcome: 'released' }])
  expect(await store.cancelJobs([third.jobId])).toMatchObject([{ outcome: 'cancelled' }])
  await store.claimJobs({
    workerId: 'w',
    queues: ['none'],
    limit: 1,
    cursors: new Map([['asr', new Map([[0, runAt]])]]),
  })

  await sweepAll(store, fourth.jobId)
  await lookAround(store, second.jobId, reason)
}

/** Step by step: the cursor of each is read by the next. */
async function sweepAll(store: JobStore, leftId: string): Promise<void> {
  const [extra] = await store.enqueueJobs([{ type: 'asr' }])
  await store.claimJob(extra?.jobId ?? '', { workerId: 'w2' })
  await forward(hour)
  const reaped: string[] = []
  let cursor: string | undefined
  do {
    const request = { reaper: { reaperId: 'r' }, limit: 1, ...(cursor === undefined ? {} : { cursor }) }
    const step = await store.sweepJobs(request)
    reaped.push(...step.reaped.map(({ jobId }) => jobId))
    cursor = step.next ?? undefined
  } while (cursor !== undefined)
  expect(new Set(reaped)).toEqual(new Set([leftId, extra?.jobId]))
  expect(await store.readHealth()).toMatchObject({ overdue: 0, running: 0 })
  expect((await store.listSweeps()).last?.sweptAt.getTime()).toBeGreaterThan(0)
}

async function lookAround(store: JobStore, deadId: string, reason: string): Promise<void> {
  expect(await store.findJobIds(deadId.slice(0, 18))).toContain(deadId)
  expect((await store.listJobs({ status: 'dead' })).jobs).toMatchObject([{ id: deadId, error: { reason } }])
  expect((await store.listEvents(deadId)).at(-1)).toMatchObject({ type: 'failed', at: expect.any(Date) })
  expect((await store.groupDeadJobs()).groups[0]?.lastAt.getTime()).toBeGreaterThan(0)
  expect(await store.retryJobs([deadId], { actor: 'ana' })).toMatchObject([{ outcome: 'retried' }])
  await store.mapDependency('asr', 'gateway')
  expect((await store.recordCalls('gateway', [{ isFailure: false }])).since.getTime()).toBeGreaterThan(0)
  await store.pauseQueue('asr', { durationMs: hour })
  expect((await store.listQueues()).queues.find(({ queue }) => queue === 'asr')).toMatchObject({
    pausedAt: expect.any(Date),
  })
  expect(await store.takeTokens([{ key: 'k', ratePerS: 1, burst: 1 }])).toMatchObject({ granted: 1 })
  const nextRunAt = new Date(Date.now() + hour)
  const schedule = { name: 's', cron: '0 * * * *', timezone: 'UTC', job: { type: 'asr' }, nextRunAt }
  expect((await store.writeSchedule(schedule)).nextRunAt).toEqual(nextRunAt)
  const { now, schedules } = await store.listSchedules()
  expect([now.getTime() > 0, schedules[0]?.nextRunAt]).toEqual([true, nextRunAt])
  await forward(60 * 24 * hour)
  expect((await store.pruneJobs()).deleted).toBe(2)
}

describe('a role with a setting of its own', () => {
  it.each(settings)('OPS-8 a job lives its whole life under %s = %s', async (name, value) => {
    await liveThrough(await openAs([[name, value]]))
  })

  it('OPS-8 a role whose transactions are read-only gets an error that says so', async () => {
    const store = await openAs([['default_transaction_read_only', 'on']])
    await expect(store.enqueueJobs([{ type: 'asr' }])).rejects.toMatchObject({
      code: 'DATABASE_READ_ONLY',
      message: expect.stringContaining('takes no writes') as string,
    })
    expect(await store.readHealth()).toMatchObject({ waiting: 0 })
  })
})

describe('a database with settings of its own', () => {
  const hostile: [name: string, value: string][] = [
    ['standard_conforming_strings', 'off'],
    ['backslash_quote', 'off'],
    ['quote_all_identifiers', 'on'],
    ['DateStyle', "'German'"],
    ['IntervalStyle', 'sql_standard'],
    ['TimeZone', "'America/St_Johns'"],
    ['search_path', 'pg_catalog'],
    ['check_function_bodies', 'off'],
    ['default_transaction_isolation', "'serializable'"],
  ]

  it.each([
    { profile: clipProfile, sql: clipTables },
    { profile: executorProfile, sql: executorTables },
  ])('OPS-8 the tables of $profile.name are attached, and found attached', async ({ profile, sql }) => {
    const own = await createTestDatabase()
    onTestFinished(() => own.drop())
    await own.pool.query(sql)
    const name = new URL(own.url).pathname.slice(1)
    for (const [setting, value] of hostile)
      await own.pool.query(`alter database ${name} set ${setting} = ${value}`)
    const options = { databaseUrl: own.url, schema: 'unstuck', profile }
    await migrateUp(options)
    expect(await migrateStatus(options)).toMatchObject({ isCurrent: true })
  })
})

describe('a claim', () => {
  it.each(['1', '0', '-15'])(
    'LEASE-1 returns created_at to the microsecond with extra_float_digits %s',
    async (digits) => {
      const client = await database.connect()
      await client.query(`set extra_float_digits = ${digits}; set timezone = 'UTC'`)
      await client.query(
        `insert into unstuck.jobs (id, type, created_at) values (gen_random_uuid(), 'old', '2026-01-02 03:04:05.123457+00')`,
      )
      const { rows } = await client.query(
        `select created_at::text as at from unstuck.claim_jobs('w', '{old}', 1)`,
      )
      expect(rows).toEqual([{ at: '2026-01-02 03:04:05.123457+00' }])
    },
  )
})
