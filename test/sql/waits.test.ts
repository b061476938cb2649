// Ends of jobs notify the processes that wait for them, and nobody else.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore, type SqlClient } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const [table] = nativeProfile('unstuck').tables
let database: TestDatabase
let store: JobStore<SqlClient>
let listener: pg.Client
let payloads: (string | undefined)[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
  listener = await database.connect()
  const { rows } = await listener.query<{ channel: string }>(
    `select unstuck.listen_to_waits('native') as channel`,
  )
  expect(rows).toEqual([{ channel: 'unstuck.native.waits' }])
  listener.on('notification', ({ payload }) => payloads.push(payload))
})
afterAll(() => database.drop())
beforeEach(async () => {
  payloads = []
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.waits')
})

/** Notifications arrive in order: those before this one have arrived with it. */
async function heard(): Promise<(string | undefined)[]> {
  await database.pool.query(`select pg_notify('unstuck.native.waits', 'last')`)
  await expect.poll(() => payloads.at(-1)).toBe('last')
  return payloads.slice(0, -1)
}

async function enqueue(count: number): Promise<string[]> {
  const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'a' })))
  return jobs.map(({ jobId }) => jobId)
}

const claim = () => store.claimJobs({ workerId: 'w', queues: ['a'], limit: 100 })

it('WORK-9 a completion notifies each waiting process once, by its number alone', async () => {
  const [first = '', second = '', third = ''] = await enqueue(3)
  await store.beginWaits?.([first, second], 41, 60_000)
  await store.beginWaits?.([second], 42, 60_000)
  await store.beginWaits?.(['another job'], 43, 60_000)
  await store.completeJobs(await claim())
  expect(await heard()).toEqual(expect.arrayContaining(['41', '42']))
  expect(payloads).toHaveLength(3)
  expect((await store.readEnds([first, second, third])).map(({ status }) => status)).toHaveLength(3)
})

it('WORK-9 nothing is sent for jobs that nobody waits for, or no longer', async () => {
  const [jobId = ''] = await enqueue(2)
  await store.beginWaits?.([jobId], 41, 60_000)
  await store.endWaits?.([jobId], 41)
  await store.completeJobs(await claim())
  expect(await heard()).toEqual([])
})

const refused = { code: 'X', reason: 'x', category: 'PERMANENT', isRetryable: false } as const
const expire = () => database.pool.query(`update unstuck.jobs set lease_expires_at = now() - interval '1 s'`)

const ends: Record<string, (jobId: string) => Promise<unknown>> = {
  'a failure': async () => store.failJobs((await claim()).map((job) => ({ ...job, ...refused }))),
  'a cancel': (jobId) => store.cancelJobs([jobId]),
  'a release of a job that is to be cancelled': async (jobId) => {
    const jobs = await claim()
    await store.cancelJobs([jobId])
    await store.releaseJobs(jobs)
  },
  'a discard': (jobId) => store.discardJobs([jobId]),
  'a reap for the last time': async () => {
    await claim()
    await expire()
    await store.sweepJobs({ policy: { maxCrashes: 1 } })
  },
  'a reap of a job that is to be cancelled': async (jobId) => {
    await claim()
    await store.cancelJobs([jobId])
    await expire()
    await store.sweepJobs()
  },
  'a claim that finds no budget left': async () => {
    await database.pool.query('update unstuck.jobs set failures = max_attempts')
    expect(await claim()).toEqual([])
  },
}

it.each(Object.keys(ends))('WORK-9 %s notifies who waits, and nobody else', async (end) => {
  const [jobId = ''] = await enqueue(2)
  await store.beginWaits?.([jobId], 41, 60_000)
  await store.beginWaits?.(['another job'], 42, 60_000)
  await ends[end]?.(jobId)
  expect(await heard()).toEqual(['41'])
  expect(await store.readEnds([jobId])).toHaveLength(1)
})

it('WORK-9 a failure or a reap that is followed by another attempt is no end', async () => {
  const jobIds = await enqueue(1)
  await store.beginWaits?.(jobIds, 41, 60_000)
  await store.failJobs(
    (await claim()).map((job) => ({
      ...job,
      ...refused,
      category: 'TRANSIENT',
      isRetryable: true,
      retryInMs: 0,
    })),
  )
  expect(await claim()).toHaveLength(1)
  await expire()
  await store.sweepJobs()
  expect(await heard()).toEqual([])
})

it('WORK-9 C20 a role that only enqueues needs no right to the waits', async () => {
  await store.writePolicy({ events: 'all' })
  const client = await database.connect()
  await client.query('begin')
  await client.query(`
    create role enqueuer_of_waits;
    grant usage on schema unstuck to enqueuer_of_waits;
    grant select on unstuck.jobs, unstuck.policies, unstuck.attachments to enqueuer_of_waits;
    grant select (id, attachment, events, is_active) on unstuck.webhooks to enqueuer_of_waits;
    grant insert on unstuck.jobs, unstuck.events, unstuck.deliveries to enqueuer_of_waits;
    set local role enqueuer_of_waits`)
  const [enqueued] = await store.enqueueJobs([{ type: 'a' }], { tx: client })
  expect(enqueued).toMatchObject({ outcome: 'created' })
  await client.query('rollback')
  await store.writePolicy({ events: 'recovery' })
})

it('WORK-9 a rolled-back completion sends nothing', async () => {
  const [jobId = ''] = await enqueue(1)
  await store.beginWaits?.([jobId], 41, 60_000)
  const [job] = await claim()
  const client = await database.connect()
  await client.query('begin')
  await store.completeJobs([job ?? { jobId: '', leaseId: '' }], { tx: client })
  await client.query('rollback')
  expect(await heard()).toEqual([])
})

it('WORK-9 waits of processes that died are over by themselves, and deleted with the next', async () => {
  const [jobId = ''] = await enqueue(1)
  await store.beginWaits?.([jobId], 41, 60_000)
  await database.pool.query(`update unstuck.waits set ends_at = now() - interval '1 s'`)
  await store.completeJobs(await claim())
  expect(await heard()).toEqual([])
  await store.beginWaits?.(['other'], 42, 60_000)
  const { rows } = await database.pool.query('select channel from unstuck.waits')
  expect(rows).toEqual([{ channel: 42 }])
})

it.each([
  [['x'], 7, 0, 'for_ms: got 0, takes milliseconds from 1 to 3600000'],
  [['x'], 7, 3_600_001, 'for_ms: got 3600001'],
  [['x'], null, 1, 'channel: got NULL, takes a number'],
  [[null], 7, 1, 'job_ids: got {NULL}, takes ids of jobs'],
])('OPS-8 WORK-9 refuses a wait for %o by %o for %o ms', async (jobIds, channel, forMs, message) => {
  const call = database.pool.query(`select unstuck.begin_waits('native', $1, $2, $3)`, [
    jobIds,
    channel,
    forMs,
  ])
  await expect(call).rejects.toThrow(message)
})

it('WORK-9 reading the ends of many jobs searches the primary key for each', async () => {
  await enqueue(50)
  const { rows } = await database.pool.query<{ id: string }>('select id from unstuck.jobs limit 3')
  await database.pool.query('analyze unstuck.jobs')
  const client = await database.connect()
  await client.query(`load 'auto_explain'`)
  await client.query('set auto_explain.log_min_duration = 0')
  await client.query('set auto_explain.log_nested_statements = on')
  await client.query(`set client_min_messages = 'log'`)
  const plans: string[] = []
  client.on('notice', ({ message = '' }) => plans.push(message))
  await client.query('select unstuck.read_ends($1::uuid[])', [rows.map(({ id }) => id)])
  expect(plans.join('\n')).toContain('jobs_pkey')
  expect(plans.join('\n')).not.toContain('Seq Scan on jobs')
})
