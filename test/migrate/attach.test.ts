// Attaching to a table that is in use: additive, without stopping its writers, and resumable.
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { migrateStatus, migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { describeRows, describeSchema, schemaExists } from './describe.ts'

const schema = 'unstuck'

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await database.drop()
})

const up = (lockTimeoutMs = 2_000) =>
  migrateUp({ databaseUrl: database.url, schema, profile: clipProfile, lockTimeoutMs })
const isCurrent = async () =>
  (await migrateStatus({ databaseUrl: database.url, schema, profile: clipProfile })).isCurrent

/** An application that knows nothing of leases, from the first statement to the last. */
async function workAsBefore(client: pg.Client | pg.Pool): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `insert into jobs (payload) values ('{"n": 1}') returning id`,
  )
  const id = String(rows[0]?.id)
  await client.query(
    `update jobs set status = 'processing', started_at = now(), attempt_count = attempt_count + 1, updated_at = now()
      where id = $1 and status = 'queued'`,
    [id],
  )
  await client.query('update jobs set last_heartbeat_at = now(), updated_at = now() where id = $1', [id])
  await client.query(`update jobs set status = 'completed', updated_at = now() where id = $1`, [id])
  return id
}

describe('attach', () => {
  it('OPS-7 only adds: every column, constraint and index that was there is there unchanged', async () => {
    await workAsBefore(database.pool)
    const before = await describeSchema(database.pool, 'public')
    const rows = await describeRows(database.pool, 'jobs')
    await up()
    expect(await describeSchema(database.pool, 'public')).toEqual(expect.arrayContaining(before))
    // The rows are where they were: nothing rewrote the table.
    expect(await describeRows(database.pool, 'jobs')).toEqual(rows.map((row) => expect.objectContaining(row)))
  })

  it('OPS-7 every column it adds is nullable or has a default', async () => {
    const before = new Set(await describeSchema(database.pool, 'public'))
    await up()
    const added = (await describeSchema(database.pool, 'public')).filter((line) => !before.has(line))
    const columns = added.filter((line) => line.startsWith('column '))
    expect(columns.length).toBeGreaterThan(40)
    expect(columns.filter((line) => line.includes('not null') && !line.includes(' default '))).toEqual([])
  })

  it('OPS-7 writers that hammer the table meet no error while it goes on, and work on after it', async () => {
    const writers = await Promise.all([1, 2, 3].map(() => database.connect()))
    const stop = new AbortController()
    const work = writers.map(async (writer) => {
      const ids: string[] = []
      while (!stop.signal.aborted) ids.push(await workAsBefore(writer))
      return ids
    })
    await up()
    stop.abort()
    const ids = (await Promise.all(work)).flat()
    const { rows } = await database.pool.query(`select id from jobs where status = 'completed'`)
    expect(rows).toHaveLength(ids.length)
    expect(ids.length).toBeGreaterThan(10)
    expect(await isCurrent()).toBe(true)
    await workAsBefore(database.pool)
  })

  it('OPS-7 old workers and ours share the table: each leaves the other’s running jobs alone', async () => {
    await up()
    const old = await database.pool.query<{ id: string }>(
      `insert into jobs (status, started_at, last_heartbeat_at) values ('processing', now(), now()) returning id`,
    )
    await database.pool.query(`insert into jobs (payload) values ('{}')`)
    const { rows: claimed } = await database.pool.query<{ id: string; lease_id: string }>(
      `select id, lease_id from unstuck.claim_jobs__jobs('w', array['clip'], 10)`,
    )
    expect(claimed).toHaveLength(1)
    const { rowCount } = await database.pool.query(
      `update jobs set status = 'processing' where status = 'queued'`,
    )
    expect(rowCount).toBe(0)
    const { rows: reaped } = await database.pool.query('select * from unstuck.reap_jobs__jobs()')
    expect(reaped).toEqual([])
    await database.pool.query(`update jobs set status = 'completed' where id = $1`, [old.rows[0]?.id])
    const { rows: jobs } = await database.pool.query('select status, attempt_count from jobs order by status')
    expect(jobs).toEqual([
      { status: 'completed', attempt_count: 0 },
      { status: 'processing', attempt_count: 1 },
    ])
  })
})

describe('an attach that could not finish', () => {
  /** What waits between two tries becomes short; the timeout of a connection stays what it is. */
  function hurry(): void {
    const wait = globalThis.setTimeout
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((run: () => void, ms = 0) =>
      wait(run, ms % 250 === 0 && ms <= 2_500 ? 1 : ms),
    )
  }

  it('OPS-7 gives way to a reader that stays: LOCK_TIMEOUT, nothing half-installed, and done when it is gone', async () => {
    hurry()
    const before = await describeSchema(database.pool, 'public')
    const reader = await database.connect()
    await reader.query('begin')
    await reader.query('select from jobs')
    await expect(up(20)).rejects.toMatchObject({
      name: 'UnstuckError',
      code: 'LOCK_TIMEOUT',
      isRetryable: true,
    })
    expect(await schemaExists(database.pool)).toBe(false)
    expect(await describeSchema(database.pool, 'public')).toEqual(before)
    await reader.query('rollback')
    await up(20)
    expect(await isCurrent()).toBe(true)
  })

  it('OPS-7 whose indexes waited for an old snapshot is resumed by the next run', async () => {
    hurry()
    const reader = await database.connect()
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from job_events')
    await expect(up(20)).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' })
    expect(await isCurrent()).toBe(false)
    await workAsBefore(database.pool)
    await reader.query('rollback')
    await up()
    expect(await isCurrent()).toBe(true)
  })

  it('OPS-7 whose index is invalid is mended by the next run', async () => {
    await up()
    await database.pool.query(`
      drop index unstuck_jobs_dedupe;
      insert into jobs (type, dedupe_key) values ('clip', 'k'), ('clip', 'k')`)
    await expect(
      database.pool.query(
        `create unique index concurrently unstuck_jobs_dedupe on jobs (type, dedupe_key)
          where dedupe_key is not null and status in ('queued', 'processing')`,
      ),
    ).rejects.toMatchObject({ code: '23505' })
    const lines = await describeSchema(database.pool, 'public')
    expect(lines).toContainEqual(expect.stringMatching(/unstuck_jobs_dedupe .* \(invalid\)$/))
    expect(await isCurrent()).toBe(false)
    await database.pool.query(
      `delete from jobs where ctid = (select max(ctid) from jobs where dedupe_key = 'k')`,
    )
    await up()
    expect(await isCurrent()).toBe(true)
    await expect(
      database.pool.query(`insert into jobs (type, dedupe_key) values ('clip', 'k')`),
    ).rejects.toMatchObject({ code: '23505' })
  })
})
