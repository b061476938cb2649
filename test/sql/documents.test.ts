// Documents 000 and 001 as their authors would type them: the clip pipeline's own tables, plain SQL, a bare client.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await database.connect()
  await client.query(clipTables)
  // As the documents' team attaches: without further features.
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
})

beforeEach(async () => {
  await client.query('truncate jobs, asr_jobs, job_events, unstuck.events')
})

afterAll(() => database.drop())

describe.each([
  { table: 'jobs', queue: 'clip', factor: 6 },
  { table: 'asr_jobs', queue: 'asr', factor: 12 },
])('$table', ({ table, queue, factor }) => {
  const reap = () => rows(`select * from unstuck.reap_jobs__${table}()`)
  const claim = (worker = 'worker-1', limit = 10) =>
    rows(`select * from unstuck.claim_jobs__${table}($1, array['${queue}'], $2)`, [worker, limit])
  const beat = (id: string, lease: string) =>
    rows(`select * from unstuck.heartbeat_jobs__${table}(array[$1::uuid], array[$2::uuid])`, [id, lease])

  async function rows(text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await client.query(text, params)).rows
  }

  async function insertJob(columns: string, values: string): Promise<string> {
    const [row] = await rows(`insert into ${table} (${columns}) values (${values}) returning id`)
    return String(row?.['id'])
  }

  /** Column names are the documents'. Durations run between times of one write, so that a slow machine changes none. */
  async function readJob(id: string): Promise<Record<string, unknown>> {
    const [row] = await rows(
      `select *, extract(epoch from lease_expires_at - last_heartbeat_at)::float8 as lease_sec,
              floor(extract(epoch from next_earliest_run_at - updated_at))::float8 as next_sec,
              last_heartbeat_at > now() - interval '1 minute' as is_beating
         from ${table} where id = $1`,
      [id],
    )
    return row ?? {}
  }

  const readEvents = () => rows('select job_id, data from job_events order by id')
  /** The end of a lease, or of a backoff, comes nearer. */
  const pass = (id: string, column: string, time: string) =>
    client.query(`update ${table} set ${column} = ${column} - interval '${time}' where id = '${id}'`)

  const expiredJob = (attempts: number, maximum: number) =>
    insertJob(
      'status, locked_by, lease_expires_at, last_heartbeat_at, attempt_count, max_attempts',
      `'processing', 'worker-1', now() - interval '1 second', now() - interval '5 minutes', ${attempts}, ${maximum}`,
    )

  it('REAP-1 000 R1: a lease in the past with attempts left goes back to queued, with an event', async () => {
    const id = await expiredJob(1, 3)
    expect(await reap()).toMatchObject([
      { id, action: 'requeued', reason: 'lease_expired', worker_id: 'worker-1', attempt: 1 },
    ])
    expect(await readJob(id)).toMatchObject({
      status: 'queued',
      locked_by: null,
      lease_expires_at: null,
      lease_id: null,
      attempt_count: 1,
      fail_code: null,
      next_sec: 30,
    })
    expect(await reap()).toEqual([])
  })

  it('REAP-9 001: the event row has type, table, details with reason and locked_by, and a time', async () => {
    const id = await expiredJob(1, 3)
    await reap()
    expect(await readEvents()).toEqual([
      {
        job_id: id,
        data: {
          type: 'reaper:requeued',
          table,
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          details: expect.objectContaining({ reason: 'lease_expired', locked_by: 'worker-1', attempt: 1 }),
        },
      },
    ])
    const { rows: own } = await client.query('select job_id, type, data from unstuck.events')
    expect(own).toMatchObject([{ job_id: id, type: 'reaper:requeued', data: { table } }])
  })

  it.each([
    [3, 3],
    [4, 3],
    [1, 1],
  ])(
    'REAP-2 000 R2: %i of %i attempts used up: failed with a timeout, and an event',
    async (used, maximum) => {
      const id = await expiredJob(used, maximum)
      expect(await reap()).toMatchObject([{ id, action: 'dead', reason: 'lease_expired' }])
      expect(await readJob(id)).toMatchObject({
        status: 'failed',
        fail_code: 'timeout',
        fail_reason: 'lease_expired',
        locked_by: null,
        lease_expires_at: null,
        next_earliest_run_at: null,
        attempt_count: used,
      })
      expect(await readEvents()).toMatchObject([
        {
          job_id: id,
          data: {
            type: 'reaper:failed(timeout)',
            table,
            details: { reason: 'lease_expired', locked_by: 'worker-1' },
          },
        },
      ])
      expect(await claim()).toEqual([])
    },
  )

  it('REAP-3 a job whose lease is valid is not touched, whatever its attempts', async () => {
    const id = await expiredJob(9, 3)
    await pass(id, 'lease_expires_at', '-1 minute')
    expect(await reap()).toEqual([])
    expect(await readJob(id)).toMatchObject({ status: 'processing', locked_by: 'worker-1' })
  })

  it.each([
    [`'clip'`, '100000', 600],
    [`'asr'`, '100000', 1200],
    [`'burnin'`, '100000', 800],
    [`'clip'`, '1000', 300],
    [`'mystery'`, '100000', 300],
    [`'clip'`, 'null', 300],
    ['null', '100000', 100 * factor],
  ])('LEASE-3 000 R3: stage %s that expects %s ms is leased for %i s', async (stage, expected, seconds) => {
    const id = await insertJob('stage, expected_duration_ms', `${stage}, ${expected}`)
    expect(await claim()).toMatchObject([{ id, attempt: 1, lease_ms: seconds * 1000 }])
    expect(await readJob(id)).toMatchObject({
      status: 'processing',
      locked_by: 'worker-1',
      lease_sec: seconds,
      is_beating: true,
      attempt_count: 1,
    })
  })

  it('LEASE-4 000 R4: a heartbeat extends the lease, and the job is not reaped while it goes on', async () => {
    const id = await insertJob('max_attempts', '3')
    const [claimed] = await claim()
    for (let tick = 0; tick < 3; tick++) {
      await pass(id, 'lease_expires_at', '240 seconds')
      await pass(id, 'last_heartbeat_at', '240 seconds')
      expect(await reap()).toEqual([])
      expect(await beat(id, String(claimed?.['lease_id']))).toMatchObject([{ answer: 'kept' }])
      expect(await readJob(id)).toMatchObject({
        lease_sec: 300,
        is_beating: true,
        status: 'processing',
      })
    }
    expect(await beat(id, '00000000-0000-4000-8000-000000000000')).toMatchObject([{ answer: 'lost' }])
    await pass(id, 'lease_expires_at', '301 seconds')
    expect(await reap()).toMatchObject([{ id, action: 'requeued' }])
    expect(await beat(id, String(claimed?.['lease_id']))).toMatchObject([{ answer: 'lost' }])
  })

  it('REAP-5 000 R5: the backoff grows 30 s, 2 min, 10 min, and the claim respects it', async () => {
    const id = await insertJob('max_attempts', '5')
    for (const [seconds, attempt] of [
      [30, 1],
      [120, 2],
      [600, 3],
      [600, 4],
    ] as const) {
      expect(await claim()).toMatchObject([{ id, attempt }])
      await pass(id, 'lease_expires_at', '1 hour')
      expect(await reap()).toMatchObject([{ id, action: 'requeued', attempt }])
      expect(await readJob(id)).toMatchObject({ next_sec: seconds })
      expect(await claim()).toEqual([])
      await pass(id, 'next_earliest_run_at', `${seconds - 10} seconds`)
      expect(await claim()).toEqual([])
      await pass(id, 'next_earliest_run_at', '11 seconds')
    }
    expect(await claim()).toMatchObject([{ id, attempt: 5 }])
    await pass(id, 'lease_expires_at', '1 hour')
    expect(await reap()).toMatchObject([{ id, action: 'dead' }])
  })

  it('REAP-8 000 R8: a worker that sets no lease is judged by its newest time plus the stage lease', async () => {
    const silent = await insertJob(
      'status, started_at, updated_at, last_heartbeat_at',
      `'processing', now() - interval '1 h', now() - interval '1 h', null`,
    )
    const beating = await insertJob(
      'status, started_at, updated_at, last_heartbeat_at',
      `'processing', now() - interval '1 h', now() - interval '1 h', now() - interval '240 s'`,
    )
    // An old heartbeat is evidence of an earlier attempt when the lock is fresh.
    const freshlyLocked = await insertJob(
      'status, started_at, updated_at, last_heartbeat_at',
      `'processing', now() - interval '1 h', now(), now() - interval '2 h'`,
    )
    expect(await reap()).toMatchObject([{ id: silent, action: 'requeued', worker_id: null }])
    for (const id of [beating, freshlyLocked]) {
      expect(await readJob(id)).toMatchObject({ status: 'processing', lease_expires_at: null })
    }
    expect(await readEvents()).toMatchObject([
      { job_id: silent, data: { details: { reason: 'lease_expired', locked_by: null, lease_id: null } } },
    ])
  })

  it('REAP-8 000 R8: a row without any time to judge it by is reported and not touched', async () => {
    await client.query(`alter table ${table} alter column updated_at drop not null`)
    const id = await insertJob('status, updated_at', `'processing', null`)
    expect(await reap()).toEqual([])
    const [sweep] = await rows(`select unstuck.sweep_jobs__${table}() as step`)
    expect(sweep?.['step']).toMatchObject({
      reaped: [{ id, action: 'reported', reason: 'no_lease_to_judge_by' }],
    })
    expect(await readJob(id)).toMatchObject({ status: 'processing' })
    expect(await readEvents()).toEqual([])
  })

  it('REAP-4 000 R9: a row that somebody has locked is skipped, and taken when it is free', async () => {
    const id = await expiredJob(1, 3)
    const holder = await database.connect()
    await holder.query('begin')
    await holder.query(`select from ${table} where id = $1 for update`, [id])
    expect(await reap()).toEqual([])
    await holder.query('rollback')
    expect(await reap()).toMatchObject([{ id }])
  })

  it('REAP-4 000 R9: two reapers at once share the rows and write one event for each', async () => {
    for (let count = 0; count < 4; count++) await expiredJob(1, 3)
    const other = await database.connect()
    await other.query('begin')
    const { rows: first } = await other.query(`select id from unstuck.reap_jobs__${table}(3)`)
    const second = await reap()
    await other.query('commit')
    expect(first).toHaveLength(3)
    expect(second).toHaveLength(1)
    expect(new Set((await readEvents()).map((event) => event['job_id'])).size).toBe(4)
  })

  it('LEASE-1 000 R9: two claims at once never get the same job', async () => {
    for (let count = 0; count < 4; count++) await insertJob('max_attempts', '3')
    const other = await database.connect()
    await other.query('begin')
    const { rows: first } = await other.query(
      `select id from unstuck.claim_jobs__${table}('worker-2', array['${queue}'], 3)`,
    )
    const second = await claim()
    await other.query('commit')
    expect(first).toHaveLength(3)
    expect(second).toHaveLength(1)
    expect(first.map(({ id }) => id)).not.toContain(second[0]?.['id'])
  })

  it('LEASE-5 001: only the holder of the lease finishes a job, and a repeat is recognised', async () => {
    const id = await insertJob('max_attempts', '3')
    const [claimed] = await claim()
    const complete = (lease: unknown) =>
      rows(`select id, outcome from unstuck.complete_jobs__${table}(array[$1::uuid], array[$2::uuid])`, [
        id,
        lease,
      ])
    expect(await complete('00000000-0000-4000-8000-000000000000')).toEqual([{ id, outcome: 'lease-lost' }])
    expect(await complete(claimed?.['lease_id'])).toEqual([{ id, outcome: 'completed' }])
    expect(await complete(claimed?.['lease_id'])).toEqual([{ id, outcome: 'already-done' }])
    expect(await readJob(id)).toMatchObject({ status: 'completed', locked_by: null, lease_expires_at: null })
  })
})
