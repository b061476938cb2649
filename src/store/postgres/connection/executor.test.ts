import type pg from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInstalledDatabase } from '../../../../test/support/installed-database.ts'
import type { TestDatabase } from '../../../../test/support/test-database.ts'
import { nativeProfile } from '../../../profile/native.ts'
import type { JobStore } from '../../job-store.ts'
import { createPostgresStore } from '../index.ts'
import { type SqlClient, toExecutor, toTransaction } from './executor.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables

let database: TestDatabase
let client: pg.Client
let sql: postgres.Sql

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table effects (note text)')
  client = await database.connect()
  sql = postgres(database.url, { max: 4, onnotice: () => {} })
})
beforeEach(() => database.pool.query('truncate unstuck.jobs, unstuck.events, effects'))
afterAll(async () => {
  await sql.end()
  await database.drop()
})

/** A wrapper that returns bare rows, as some query builders do. */
const rowsOnly = (): SqlClient => ({
  query: async (text: string, params: unknown[]) => (await database.pool.query(text, params)).rows,
})

const clients: [name: string, client: () => SqlClient][] = [
  ['a pool of pg', () => database.pool],
  ['a client of pg', () => client],
  ['postgres.js', () => sql],
  ['a wrapper that answers rows alone', rowsOnly],
]

const storeOver = (over: SqlClient): JobStore<SqlClient> => createPostgresStore({ client: over, table })
const countEffects = async () => (await database.pool.query('select from effects')).rows.length

async function claimAll(store: JobStore<SqlClient>) {
  return store.claimJobs({ workerId: 'w', queues: ['a', 'b'], limit: 10, types: ['a', 'b'] })
}

describe.each(clients)('%s', (_, over) => {
  it('LEASE-2 carries jobs from enqueue to completion: arrays, JSON, times and numbers', async () => {
    const store = storeOver(over())
    const runAt = new Date(Date.now() - 60_000)
    const enqueued = await store.enqueueJobs([
      {
        type: 'a',
        payload: { text: `it's "quoted" \\ and {braced}`, list: [1, null, 'x'], nested: { a: [] } },
        runAt,
      },
      { type: 'b', payload: [1, 'two', null], priority: -5, owner: 'o,{}"\\', dedupeKey: 'k' },
    ])
    expect(enqueued.map(({ outcome }) => outcome)).toEqual(['created', 'created'])
    const claimed = await claimAll(store)
    expect(claimed).toMatchObject([
      {
        type: 'b',
        payload: [1, 'two', null],
        priority: -5,
        owner: 'o,{}"\\',
        fence: 1,
        attempt: 1,
        leaseMs: 60_000,
      },
      {
        type: 'a',
        payload: { text: `it's "quoted" \\ and {braced}`, list: [1, null, 'x'], nested: { a: [] } },
      },
    ])
    expect(claimed[0]?.createdAt).toBeInstanceOf(Date)
    const report = await store.heartbeatJobs(claimed)
    expect(report.answers.map(({ answer }) => answer)).toEqual(['kept', 'kept'])
    const results = [{ done: [`it's`, '{"a": 1}', null] }, undefined]
    const completions = claimed.map((job, index) => {
      const result = results[index]
      return result === undefined ? job : { ...job, result }
    })
    expect((await store.completeJobs(completions)).map(({ outcome }) => outcome)).toEqual([
      'completed',
      'completed',
    ])
    expect(await store.getJob(String(claimed[0]?.jobId))).toMatchObject({
      status: 'succeeded',
      result: results[0],
    })
    expect(await store.getJob(String(claimed[1]?.jobId))).toMatchObject({ status: 'succeeded', result: null })
  })

  it('FAIL-1 REAP-11 carries failures, sweeps, health and policy', async () => {
    const store = storeOver(over())
    await store.enqueueJobs([{ type: 'a' }])
    const [job] = await claimAll(store)
    if (job === undefined) throw new Error('nothing was claimed')
    const failure = {
      ...job,
      code: 'IO_ERROR',
      reason: 'no space',
      category: 'TRANSIENT' as const,
      retryInMs: 5_000,
    }
    expect(await store.failJobs([failure])).toEqual([
      { jobId: job.jobId, outcome: 'retried', retryInMs: 5_000 },
    ])
    expect(await store.sweepJobs({ reaper: { reaperId: 'r' } })).toMatchObject({
      reaped: [],
      held: 0,
      next: null,
    })
    expect(await store.readHealth()).toMatchObject({ waiting: 1, due: 0, running: 0 })
    expect(await store.readPolicy()).toEqual(table.policy)
    const [event] = await store.listEvents(job.jobId)
    expect(event).toMatchObject({ type: 'retry', data: { details: { code: 'IO_ERROR' } } })
  })

  it('OPS-8 gives a refused argument as an error of the catalogue', async () => {
    const store = storeOver(over())
    const call = store.claimJobs({ workerId: '', queues: ['a'], limit: 1 })
    await expect(call).rejects.toMatchObject({ name: 'UnstuckError', code: 'INVALID_ARGUMENT' })
    await expect(store.getJob('no uuid')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

/** Runs `work` in a transaction of this client; an error rolls it back. */
type InTransaction = (
  work: (tx: SqlClient, note: (text: string) => Promise<unknown>) => Promise<void>,
) => Promise<void>

const inPgTransaction: InTransaction = async (work) => {
  const tx = await database.pool.connect()
  try {
    await tx.query('begin')
    await work(tx, (text) => tx.query('insert into effects values ($1)', [text]))
    await tx.query('commit')
  } catch (error) {
    await tx.query('rollback')
    throw error
  } finally {
    tx.release()
  }
}

const inPostgresJsTransaction: InTransaction = async (work) => {
  await sql.begin(async (tx) => {
    await work(tx, (text) => tx`insert into effects values (${text})`)
  })
}

describe.each<[name: string, inTransaction: InTransaction]>([
  ['pg', inPgTransaction],
  ['postgres.js', inPostgresJsTransaction],
])('a transaction of %s', (_, inTransaction) => {
  it('WORK-5 completes a job and keeps the caller’s writes, or neither', async () => {
    const store = storeOver(database.pool)
    await store.enqueueJobs([{ type: 'a' }])
    const [job] = await claimAll(store)
    if (job === undefined) throw new Error('nothing was claimed')
    const change = inTransaction(async (tx, note) => {
      await note('undone')
      expect(await store.completeJobs([job], { tx })).toEqual([{ jobId: job.jobId, outcome: 'completed' }])
      throw new Error('second thoughts')
    })
    await expect(change).rejects.toThrow('second thoughts')
    expect(await countEffects()).toBe(0)
    expect(await store.getJob(job.jobId)).toMatchObject({ status: 'running', leaseId: job.leaseId })
    await inTransaction(async (tx, note) => {
      await note('done')
      await store.completeJobs([job], { tx })
    })
    expect(await countEffects()).toBe(1)
    expect(await store.getJob(job.jobId)).toMatchObject({ status: 'succeeded' })
  })

  it('WORK-5 shows a job that was enqueued in it to others only after its commit', async () => {
    const store = storeOver(database.pool)
    await inTransaction(async (tx, note) => {
      await note('ordered')
      const [enqueued] = await store.enqueueJobs([{ type: 'a' }], { tx })
      expect(await store.getJob(String(enqueued?.jobId), { tx })).toMatchObject({ status: 'waiting' })
      expect(await claimAll(store)).toEqual([])
    })
    expect(await claimAll(store)).toHaveLength(1)
  })

  it('WORK-5 a lost lease is an answer, so that the caller can roll back', async () => {
    const store = storeOver(database.pool)
    await store.enqueueJobs([{ type: 'a' }])
    const [job] = await claimAll(store)
    if (job === undefined) throw new Error('nothing was claimed')
    await database.pool.query(`update unstuck.jobs set lease_expires_at = now() - interval '1 s'`)
    await store.sweepJobs()
    const change = inTransaction(async (tx, note) => {
      await note('too late')
      const [completed] = await store.completeJobs([job], { tx })
      if (completed?.outcome !== 'completed') throw new Error(String(completed?.outcome))
    })
    await expect(change).rejects.toThrow('lease-lost')
    expect(await countEffects()).toBe(0)
  })
})

describe('toExecutor', () => {
  it.each([{}, { query: 7 }, { connect: () => {} }, null, 'tx'])(
    'OPS-8 refuses %o, which is no client',
    (stranger) => {
      expect(() => toExecutor(stranger as SqlClient)).toThrow(
        'takes a client of pg, postgres.js, Drizzle, Kysely, Knex, TypeORM or Prisma, or { query(text, params) }',
      )
    },
  )

  it('OPS-8 shows nothing of a client that it refuses: it may hold a password', () => {
    expect(() => toExecutor({ password: 'hunter2' } as unknown as SqlClient)).not.toThrow('hunter2')
  })
})

describe('toTransaction', () => {
  it('WORK-11 answers an unknown client with the recipe for it', () => {
    const refused = () => toTransaction({ commit: () => {} } as unknown as SqlClient)
    expect(refused).toThrow(
      'tx: got an object (withheld), takes an open transaction of pg, postgres.js, Drizzle',
    )
    expect(refused).toThrow(expect.objectContaining({ hint: expect.stringContaining('const tx = { query:') }))
  })

  it('WORK-11 refuses a pool of pg and postgres.js itself: the job would outlive a rollback', () => {
    expect(() => toTransaction(database.pool)).toThrow(
      'takes an open transaction: a client of pool.connect(), after',
    )
    expect(() => toTransaction(sql)).toThrow('takes an open transaction: sql.begin((tx) => …)')
  })
})
