import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openTable } from '../../src/compose/index.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { translated } from '../../src/store/postgres/connection/postgres-errors.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

const raise = (state: string) =>
  database.pool.query(`do $$ begin raise exception 'for a moment' using errcode = '${state}'; end $$`)

/** Every call of it meets this SQLSTATE. */
const storeThatMeets = (state: string) =>
  createPostgresStore({ client: { query: () => raise(state) }, table })

describe('nothing installed', () => {
  it.each(['3F000', '42P01', '42883', '42704', 'UN002'])(
    'OPS-7 SQLSTATE %s says what installs it, and that the schema may have another name',
    async (sqlState) => {
      await expect(storeThatMeets(sqlState).readPolicy()).rejects.toMatchObject({
        code: 'NOT_INSTALLED',
        hint: 'unstuck migrate up installs it; UNSTUCK_SCHEMA names another schema.',
      })
    },
  )
})

describe('a NUL, which PostgreSQL takes in no text', () => {
  const id = 'a\0b'
  const leaseId = '00000000-0000-4000-8000-000000000001'
  const lease = { jobId: id, leaseId }

  it.each<[string, (store: JobStore) => Promise<unknown>]>([
    ['getJob', (store) => store.getJob(id)],
    ['listEvents', (store) => store.listEvents(id)],
    ['findJobIds', (store) => store.findJobIds(id)],
    ['claimJob', (store) => store.claimJob(id, { workerId: 'w' })],
    ['claimJobs, of the worker', (store) => store.claimJobs({ workerId: id, queues: ['q'], limit: 1 })],
    ['claimJobs, of a queue', (store) => store.claimJobs({ workerId: 'w', queues: [id], limit: 1 })],
    ['heartbeatJobs', (store) => store.heartbeatJobs([lease])],
    ['heartbeatJobs, of the lease', (store) => store.heartbeatJobs([{ jobId: leaseId, leaseId: id }])],
    ['completeJobs', (store) => store.completeJobs([lease])],
    ['failJobs', (store) => store.failJobs([{ ...lease, code: 'X' }])],
    ['releaseJobs', (store) => store.releaseJobs([lease])],
    ['enterStage', (store) => store.enterStage(lease, 'x')],
    ['cancelJobs', (store) => store.cancelJobs([id])],
    ['retryJobs', (store) => store.retryJobs([id])],
    ['discardJobs', (store) => store.discardJobs([id])],
    ['listJobs, as cursor', (store) => store.listJobs({}, { cursor: id })],
    ['pauseQueue', (store) => store.pauseQueue(id)],
    ['holdBreaker', (store) => store.holdBreaker(id)],
  ])('C19 in an id or name is refused in our words by %s', async (_, call) => {
    const store = createPostgresStore({ client: database.pool, table })
    await expect(call(store)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/takes .*(text without this character|(no|without) \\u0000)/) as string,
    })
  })
})

describe('a server that does not answer', () => {
  it.each(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN'])(
    'OPS-8 %s asks for the server and its address',
    async (code) => {
      const error = Object.assign(new Error('it failed'), { code })
      await expect(translated(() => Promise.reject(error))).rejects.toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        message: 'it failed',
        hint: 'Is the server running, and are host and port in DATABASE_URL right?',
      })
    },
  )

  it('OPS-8 a name with several addresses that all refuse is reported with the error of the first', async () => {
    const first = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })
    const error = new AggregateError([first, new Error('connect ECONNREFUSED 127.0.0.1:1')])
    await expect(translated(() => Promise.reject(error))).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: 'connect ECONNREFUSED ::1:1',
    })
  })
})

describe('trouble of the server', () => {
  it.each([
    ['53000', 'the database lacks resources: for a moment'],
    ['53100', 'the database has no disk space left: for a moment'],
    ['53200', 'the database has no memory left: for a moment'],
    ['53300', 'the database takes no more connections: for a moment'],
    ['53400', 'the database lacks resources: for a moment'],
    ['58000', 'the system of the database failed: for a moment'],
    ['58030', 'the system of the database failed: for a moment'],
    ['58P01', 'the system of the database failed: for a moment'],
    ['XX000', 'the database failed inside: for a moment'],
  ])('C2 SQLSTATE %s can be tried again, and says what happened', async (sqlState, message) => {
    await expect(storeThatMeets(sqlState).readPolicy()).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      isRetryable: true,
      message,
      details: { sqlState },
    })
  })

  it.each(['22001', '23502', '23505', '23514', '44000', '54000', 'P0001'])(
    'WORK-5 SQLSTATE %s is what the table refuses, and no reason to try again',
    async (sqlState) => {
      await expect(storeThatMeets(sqlState).readPolicy()).rejects.toMatchObject({
        code: 'ROW_REFUSED',
        isRetryable: false,
        details: { sqlState },
      })
    },
  )

  it('C2 a cancelled statement stays a timeout', async () => {
    await expect(storeThatMeets('57014').readPolicy()).rejects.toMatchObject({ code: 'DATABASE_TIMEOUT' })
  })

  it.each(['XX001', 'XX002'])('C2 damaged data, SQLSTATE %s, is reported unchanged', async (code) => {
    await expect(storeThatMeets(code).readPolicy()).rejects.toMatchObject({ name: 'error', code })
  })

  it.each(['25006', '53400', '58P01', 'XX000'])(
    'REAP-13 SQLSTATE %s at one look is told as it is, for it says nothing of the others',
    async (code) => {
      await expect(translated(() => raise(code), { isLook: true })).rejects.toMatchObject({ code })
    },
  )

  it('OPS-16 C2 a server that takes no writes is reported as such, and can be asked again', async () => {
    const url = new URL(database.url)
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const { store, close } = openTable({ databaseUrl: url.href, schema: 'unstuck', table })
    onTestFinished(close)
    await expect(store.enqueueJobs([{ type: 'a' }])).rejects.toMatchObject({
      code: 'DATABASE_READ_ONLY',
      isRetryable: true,
      message: expect.stringMatching(/^the database takes no writes here: cannot execute .* read-only/),
      hint: expect.stringContaining('standby'),
    })
  })

  it('C2 a server that takes no more connections can be asked again, by a call and by a transaction', async () => {
    const role = `unstuck_test_${randomBytes(6).toString('hex')}`
    await database.pool.query(`create role ${role} login password 'secret' connection limit 0`)
    onTestFinished(() => void database.pool.query(`drop role ${role}`))
    const url = new URL(database.url)
    url.username = role
    url.password = 'secret'
    const open = openTable({ databaseUrl: url.href, schema: 'unstuck', table })
    onTestFinished(open.close)
    const refused = {
      code: 'DATABASE_UNREACHABLE',
      message: `the database takes no more connections: too many connections for role "${role}"`,
    }
    await expect(open.store.readPolicy()).rejects.toMatchObject(refused)
    await expect(open.transaction(async () => {})).rejects.toMatchObject(refused)
  })
})
