// An application with its own pool of pg, and handlers that complete in transactions of their own client.
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Unstuck, type UnstuckOptions, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let pool: pg.Pool
let apps: Unstuck[]

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table effects (job_id uuid)')
})
afterAll(() => database.drop())
beforeEach(async () => {
  apps = []
  pool = new pg.Pool({ connectionString: database.url, application_name: 'own pool' })
  await database.pool.query('truncate unstuck.jobs, unstuck.events, effects')
})
afterEach(async () => {
  await Promise.all(apps.map((app) => app.stop()))
  await pool.end()
})

function open(options: UnstuckOptions): Unstuck {
  const app = unstuck({ pollMs: [20, 40], ...options })
  apps.push(app)
  return app
}

const endOf = (app: Unstuck) =>
  new Promise<{ end: string; reason?: string }>((resolve) => app.on('job:ended', (event) => resolve(event)))
const countEffects = async () => (await database.pool.query('select from effects')).rows.length

async function inTransaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  try {
    await tx.query('begin')
    const value = await work(tx)
    await tx.query('commit')
    return value
  } catch (error) {
    await tx.query('rollback')
    throw error
  } finally {
    tx.release()
  }
}

it('WORK-11 a worker runs over the pool alone, with heartbeats of the main thread and a warning', async () => {
  const app = open({ pool })
  const warnings: string[] = []
  app.on('config:warned', ({ warning }) => warnings.push(warning))
  const names: unknown[] = []
  app.handle('mail', (job, { tx }) =>
    tx(async (client) => {
      await client.query('insert into effects values ($1)', [job.jobId])
      const { rows } = await client.query(`select current_setting('application_name') as name`)
      names.push(rows[0]?.['name'])
      return 'sent'
    }),
  )
  const ended = endOf(app)
  await app.start()
  const { jobId } = await app.enqueue({ type: 'mail' })
  expect(await ended).toMatchObject({ end: 'completed' })
  expect(await app.store.getJob(jobId)).toMatchObject({ status: 'succeeded', result: 'sent' })
  expect(names).toEqual(['own pool'])
  expect(warnings).toContainEqual(expect.stringContaining('heartbeats run on the main thread'))
  await app.stop()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

it('WORK-11 a URL beside the pool gives heartbeats their thread, and must be of the same database', async () => {
  const app = open({ pool, databaseUrl: database.url })
  const warnings: string[] = []
  app.on('config:warned', ({ warning }) => warnings.push(warning))
  app.handle('mail', async () => {})
  await app.start()
  expect(warnings.filter((warning) => warning.includes('main thread'))).toEqual([])
  const { rows } = await database.pool.query(
    `select from pg_stat_activity where datname = current_database() and application_name = 'unstuck heartbeat'`,
  )
  expect(rows).toHaveLength(1)
  const other = await createTestDatabase()
  try {
    const stranger = open({ pool, directUrl: other.url }).handle('mail', async () => {})
    await expect(stranger.start()).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: 'directUrl: points to another database than the pool',
    })
  } finally {
    await other.drop()
  }
})

it.each([
  [{ pool: {} }, 'pool: got an object (withheld), takes a Pool of pg'],
  [{ pool: null }, 'pool: got null, takes a Pool of pg'],
])('WORK-11 OPS-8 refuses %o', (options, message) => {
  expect(() => unstuck(options as unknown as UnstuckOptions)).toThrow(message)
})

it('WORK-11 OPS-8 refuses numbers of connections beside a pool, which has its own', () => {
  expect(() => unstuck({ pool, txConnections: 3 })).toThrow(
    'txConnections: got 3, takes nothing beside `pool`',
  )
  expect(() => unstuck({ pool, connections: 3 })).toThrow('connections: got 3, takes nothing beside `pool`')
})

it('WORK-11 a transaction of the handler that ends without completing the job fails the attempt', async () => {
  const app = open({ databaseUrl: database.url })
  app.handle('mail', (job, { ownTx }) =>
    ownTx(() => inTransaction((tx) => tx.query('insert into effects values ($1)', [job.jobId]))),
  )
  const ended = endOf(app)
  const { jobId } = await app.enqueue({ type: 'mail', maxAttempts: 1 })
  await app.start()
  await ended
  expect(await app.store.getJob(jobId)).toMatchObject({
    status: 'dead',
    error: { reason: expect.stringContaining('takes complete(tx, result) as its last step') },
  })
})

it('WORK-11 a transaction of the handler that takes too long is not completed', async () => {
  const app = open({ databaseUrl: database.url, txTimeoutMs: 200 })
  let late: unknown
  const tried = new Promise<void>((resolve) => {
    app.handle('mail', (job, { ownTx }) =>
      ownTx((complete) =>
        inTransaction(async (tx) => {
          await tx.query('insert into effects values ($1)', [job.jobId])
          await tx.query('select pg_sleep(1)')
          return complete(tx).catch((error: unknown) => {
            late = error
            resolve()
            throw error
          })
        }),
      ),
    )
  })
  const ended = endOf(app)
  await app.enqueue({ type: 'mail', maxAttempts: 1 })
  await app.start()
  expect((await ended).end).not.toBe('completed')
  await tried
  expect(late).toMatchObject({ code: 'DATABASE_TIMEOUT' })
  await app.stop()
  expect(await countEffects()).toBe(0)
})

it('WORK-11 a lost lease rolls the own transaction back', async () => {
  const app = open({ databaseUrl: database.url })
  app.handle('mail', (job, { ownTx }) =>
    ownTx((complete) =>
      inTransaction(async (tx) => {
        await tx.query('insert into effects values ($1)', [job.jobId])
        await database.pool.query('update unstuck.jobs set lease_id = gen_random_uuid() where id = $1', [
          job.jobId,
        ])
        return complete(tx)
      }),
    ),
  )
  const ended = endOf(app)
  await app.enqueue({ type: 'mail', maxAttempts: 1 })
  await app.start()
  expect(await ended).toMatchObject({ end: 'lost' })
  expect(await countEffects()).toBe(0)
})
