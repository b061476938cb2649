// Tables with names and types that are unusual but fine: attached, and a job's whole life run on each.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TableProfile } from '../../../src/profile/profile.ts'
import { featureNames } from '../../../src/profile/profile.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import {
  createPostgresStore,
  migrateDown,
  migrateStatus,
  migrateUp,
  type SqlClient,
} from '../../../src/store/postgres/index.ts'
import { elapse } from '../../support/postgres-harness.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema } from '../describe.ts'
import { clipWords, teamProfile, teamTable } from '../team-table.ts'

interface OddTable {
  name: string
  sql: string
  table: Partial<TableProfile>
}

const oddTables: OddTable[] = [
  {
    name: 'an enum status',
    sql: `create type job_status as enum ('queued', 'processing', 'completed', 'failed');
          create table team_jobs (id uuid primary key, status job_status not null default 'queued');`,
    table: {},
  },
  {
    name: 'an enum with a mixed-case name in another schema, and capital words',
    sql: `create schema "Types";
          create type "Types"."JobStatus" as enum ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED');
          create table team_jobs (id uuid primary key, status "Types"."JobStatus" not null default 'QUEUED');`,
    table: {
      statuses: {
        waiting: 'QUEUED',
        running: ['RUNNING'],
        succeeded: 'DONE',
        dead: 'FAILED',
        cancelled: 'CANCELLED',
      },
    },
  },
  {
    name: 'partitions by the hash of the id',
    sql: `create table team_jobs (id uuid primary key, status text not null default 'queued') partition by hash (id);
          create table team_jobs_0 partition of team_jobs for values with (modulus 2, remainder 0);
          create table team_jobs_1 partition of team_jobs for values with (modulus 2, remainder 1);`,
    table: {},
  },
  {
    name: 'partitions by the time of creation, in a schema of their own',
    sql: `create schema parts;
          create table team_jobs (id uuid, status text not null default 'queued', created_at timestamptz default now(),
                                  primary key (id, created_at)) partition by range (created_at);
          create table parts."Old Jobs" partition of team_jobs for values from (minvalue) to ('2020-01-01');
          create table parts.others partition of team_jobs default;`,
    table: {},
  },
  {
    name: 'mixed-case names',
    sql: `create schema "Shop";
          create table "Shop"."Order" ("Id" uuid primary key, "Status" text not null default 'queued', "attemptCount" int,
                                       "leaseExpiresAt" timestamptz, "createdAt" timestamptz not null default now());`,
    table: {
      schema: 'Shop',
      table: 'Order',
      columns: {
        id: 'Id',
        status: 'Status',
        attempt: 'attemptCount',
        lease_expires_at: 'leaseExpiresAt',
        created_at: 'createdAt',
        worker_id: 'leasedBy',
      },
    },
  },
  {
    name: 'reserved words',
    sql: `create table "user" ("primary" uuid primary key, "check" text not null default 'queued', "order" int not null default 0);`,
    table: {
      table: 'user',
      columns: {
        id: 'primary',
        status: 'check',
        priority: 'order',
        stage: 'select',
        owner: 'from',
        type: 'table',
      },
    },
  },
  {
    name: 'names that want to break out',
    sql: `create table "we""ird; -- '" ("i""d" uuid primary key, "st'at""us" text not null default 'it''s "queued" \\');`,
    table: {
      table: `we"ird; -- '`,
      columns: {
        id: 'i"d',
        status: `st'at"us`,
        owner: `own"er'; drop table jobs; --`,
        result: '/*id*/x',
      },
      statuses: { ...clipWords, waiting: `it's "queued" \\`, dead: '/*dead*/' },
    },
  },
  {
    name: 'numbers that are always generated',
    sql: `create table team_jobs (id bigint generated always as identity primary key, status text not null default 'queued');`,
    table: { idType: 'bigint' },
  },
  {
    name: 'small numbers of a serial, in a column with another name',
    sql: `create table team_jobs ("jobNo" serial primary key, status text not null default 'queued');`,
    table: { idType: 'bigint', columns: { id: 'jobNo' } },
  },
  {
    name: 'text ids',
    sql: `create table team_jobs (id text primary key, status varchar(20) not null default 'queued', queue varchar(30));`,
    table: { idType: 'text' },
  },
  {
    name: 'narrow columns',
    sql: `create table team_jobs (id varchar(64) primary key, status text not null default 'queued', priority smallint not null default 0,
                                  attempt smallint not null default 0, failures smallint, crashes smallint, max_attempts smallint, payload json,
                                  expected_duration_ms bigint, worker_id varchar(50), type varchar(50) not null default 'clip',
                                  traceparent varchar(60));`,
    table: { idType: 'text' },
  },
  {
    name: 'two running words',
    sql: `create table team_jobs (id uuid primary key, status text not null default 'queued');`,
    table: { statuses: { ...clipWords, running: ['running', 'processing'] } },
  },
]

describe.each(oddTables)('$name', ({ sql, table: fields }) => {
  const table = teamTable(fields)
  const profile = teamProfile(fields)
  let database: TestDatabase
  let store: JobStore<SqlClient>
  let before: string[]

  beforeAll(async () => {
    database = await createTestDatabase()
    await database.pool.query(sql)
    before = await describeSchema(database.pool, table.schema)
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile, features: featureNames })
    store = createPostgresStore({ client: database.pool, table })
  })
  afterAll(() => database.drop())

  const claimOne = async () => {
    const [job] = await store.claimJobs({ workerId: 'w', queues: ['clip'], limit: 1 })
    if (job === undefined) throw new Error('nothing was claimed')
    return job
  }
  const enqueueOne = async () => {
    const [job] = await store.enqueueJobs([{ type: 'clip', payload: { n: 1 }, stage: 'asr' }])
    return String(job?.jobId)
  }

  it('LEASE-2 LEASE-4 a job is enqueued, claimed, extended and completed', async () => {
    const jobId = await enqueueOne()
    const claimed = await claimOne()
    expect(claimed).toMatchObject({ jobId, type: 'clip', stage: 'asr', attempt: 1, payload: { n: 1 } })
    expect(await store.heartbeatJobs([claimed])).toMatchObject({ answers: [{ jobId, answer: 'kept' }] })
    expect(await store.completeJobs([{ ...claimed, result: { ok: true } }])).toEqual([
      { jobId, outcome: 'completed' },
    ])
    expect(await store.completeJobs([claimed])).toEqual([{ jobId, outcome: 'already-done' }])
    expect(await store.getJob(jobId)).toMatchObject({
      id: jobId,
      status: 'succeeded',
      result: { ok: true },
      workerId: null,
    })
  })

  it('REAP-1 REAP-2 a job whose lease ran out is swept: waiting again, and dead at its last attempt', async () => {
    const jobId = await enqueueOne()
    for (const attempt of [1, 2, 3]) {
      expect(await claimOne()).toMatchObject({ jobId, attempt })
      await elapse(database.pool, table, 'unstuck', 3_600_000)
      const action = attempt < 3 ? 'requeued' : 'dead'
      expect((await store.sweepJobs()).reaped).toMatchObject([
        { jobId, action, reason: 'lease_expired', stage: 'asr' },
      ])
      await elapse(database.pool, table, 'unstuck', 3_600_000)
    }
    expect(await store.getJob(jobId)).toMatchObject({ status: 'dead', error: { code: 'timeout' } })
    expect((await store.listEvents(jobId)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['reaper:requeued', 'reaper:failed(timeout)']),
    )
    expect(await store.retryJobs([jobId])).toEqual([{ jobId, outcome: 'retried' }])
    expect(await store.cancelJobs([jobId])).toEqual([{ jobId, outcome: 'cancelled' }])
    expect(await store.getJob(jobId)).toMatchObject({ status: 'cancelled' })
  })

  it('FAIL-4 LEASE-6 a job fails and is retried, and is released', async () => {
    const jobId = await enqueueOne()
    const failing = await claimOne()
    expect(await store.failJobs([{ ...failing, code: 'IO_ERROR', retryInMs: 0 }])).toMatchObject([
      { outcome: 'retried' },
    ])
    const released = await claimOne()
    expect(await store.releaseJobs([released])).toMatchObject([{ jobId, outcome: 'released' }])
    const last = await claimOne()
    expect(await store.failJobs([{ ...last, isRetryable: false }])).toMatchObject([
      { jobId, outcome: 'dead' },
    ])
  })

  it('WORK-7 a dedupe key is one unfinished job, and health, preview and retention read the table', async () => {
    const key = randomUUID()
    const job = { type: 'clip', dedupeKey: key }
    const [first] = await store.enqueueJobs([job])
    expect(await store.enqueueJobs([job])).toEqual([{ jobId: first?.jobId, outcome: 'duplicate' }])
    expect(await store.readHealth()).toMatchObject({ waiting: 1, running: 0 })
    expect(await store.previewSweep()).toEqual([])
    await store.completeJobs([await claimOne()])
    await elapse(database.pool, table, 'unstuck', 30 * 86_400_000)
    const { deleted } = await store.pruneJobs()
    expect(deleted).toBeGreaterThan(0)
  })

  it('OPS-5 OPS-7 its status is current, a second run changes nothing, and it comes off again', async () => {
    const schema = 'unstuck'
    await migrateUp({ databaseUrl: database.url, schema, profile, features: featureNames })
    expect(await migrateStatus({ databaseUrl: database.url, schema, profile })).toMatchObject({
      isCurrent: true,
    })
    await migrateDown({ databaseUrl: database.url, schema, isPurge: true })
    expect(await describeSchema(database.pool, table.schema)).toEqual(before)
  })
})
