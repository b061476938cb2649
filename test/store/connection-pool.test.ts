import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openTable } from '../../src/compose/index.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { inTransaction, openConnectionPool, type SqlClient } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { whenBlocked } from '../support/lock-wait.ts'
import type { TestDatabase } from '../support/test-database.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase

beforeAll(async () => {
  database = await createInstalledDatabase()
  await database.pool.query('create table notes (id int primary key, text text)')
})
afterAll(() => database.drop())
beforeEach(() => database.pool.query("truncate notes; insert into notes values (1, 'old')"))

interface Answer {
  pid?: number
  text?: string
  opened?: number
}

async function ask(client: SqlClient, text: string): Promise<Answer> {
  const answer = await (client as pg.PoolClient).query<Answer>(text)
  return answer.rows[0] ?? {}
}

const noteText = async () => (await ask(database.pool, 'select text from notes')).text
const settings = `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
  current_setting('idle_in_transaction_session_timeout') as idle, pg_backend_pid() as pid`
const limited = { lock: '10s', statement: '30s', idle: '30s' }
const none = { lock: '0', statement: '0', idle: '0' }

describe('a transaction of our own', () => {
  it('C13 C15 has limits for locks, statements and pauses, and leaves none of them on the connection', async () => {
    const pool = openConnectionPool({ databaseUrl: database.url, txTimeoutMs: 30_000 })
    onTestFinished(() => pool.close())
    expect(await pool.transaction((client) => ask(client, settings))).toMatchObject(limited)
    const single = new pg.Pool({ connectionString: database.url, max: 1 })
    onTestFinished(() => single.end())
    const limits = { timeoutMs: 30_000, lockTimeoutMs: 10_000 }
    const inside = await inTransaction(single, (client) => ask(client, settings), limits)
    expect(inside).toMatchObject(limited)
    expect(await ask(single, settings)).toEqual({ ...none, pid: inside.pid })
  })

  it('C13 gives up a wait for a lock, keeps nothing, and gives the connection back', async () => {
    const holder = await database.connect()
    await holder.query('begin')
    await holder.query("update notes set text = 'held'")
    const change = inTransaction(
      database.pool,
      async (client) => {
        await ask(client, 'insert into notes values (2)')
        await ask(client, "update notes set text = 'ours' where id = 1")
      },
      { timeoutMs: 30_000, lockTimeoutMs: 50 },
    )
    await expect(change).rejects.toMatchObject({ code: '55P03' })
    await holder.query('rollback')
    expect(await ask(database.pool, 'select count(*)::int as notes from notes')).toEqual({ notes: 1 })
  })

  it('C13 ends with its limit although its work goes on, and frees the row that it held', async () => {
    let pid = 0
    const gate = createGate()
    let resolveLate: (error: unknown) => void = () => {}
    const late = new Promise((resolve) => {
      resolveLate = resolve
    })
    const change = inTransaction(
      database.pool,
      async (client) => {
        pid = Number(
          (await ask(client, "update notes set text = 'late' returning pg_backend_pid() as pid")).pid,
        )
        await gate.opened
        await ask(client, "update notes set text = 'later'").then(resolveLate, resolveLate)
      },
      { timeoutMs: 300, lockTimeoutMs: 100 },
    )
    await expect(change).rejects.toMatchObject({
      code: 'DATABASE_TIMEOUT',
      message: 'the transaction took longer than 300 ms: it was rolled back',
    })
    await database.pool.query("update notes set text = 'new'")
    expect(await noteText()).toBe('new')
    const { rows } = await database.pool.query('select 1 from pg_stat_activity where pid = $1', [pid])
    expect(rows).toEqual([])
    gate.open()
    expect(await late).toBeInstanceOf(Error)
  })

  it('C13 outlives a connection that the server ended between two statements, and says what happened', async () => {
    const change = inTransaction(database.pool, async (client) => {
      const { pid } = await ask(client, "update notes set text = 'lost' returning pg_backend_pid() as pid")
      await database.pool.query('select pg_terminate_backend($1)', [pid])
      await new Promise((resolve) => (client as pg.PoolClient).once('end', resolve))
      await ask(client, 'select 1')
    })
    await expect(change).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('terminating connection'),
    })
    expect(await noteText()).toBe('old')
  })

  it('C13 ends with its connection although its work goes on', async () => {
    const change = inTransaction(database.pool, async (client) => {
      const { pid } = await ask(client, "update notes set text = 'lost' returning pg_backend_pid() as pid")
      await database.pool.query('select pg_terminate_backend($1)', [pid])
      await forever()
    })
    await expect(change).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    expect(await noteText()).toBe('old')
  })

  it('C13 is ended by the server where its process is stuck, so that no row stays locked', async () => {
    const stuck = await database.connect()
    const { pid } = await ask(stuck, 'select pg_backend_pid() as pid')
    const waiting = await database.connect()
    const { pid: waitingPid } = await ask(waiting, 'select pg_backend_pid() as pid')
    const ended = new Promise((resolve) => stuck.once('end', resolve))
    // As inTransaction does, from a client that then never sends again.
    await stuck.query('begin')
    await stuck.query("select set_config('idle_in_transaction_session_timeout', '1000', true)")
    await stuck.query("update notes set text = 'stuck'")
    const update = waiting.query("update notes set text = 'free'")
    expect(await whenBlocked(database.pool, Number(waitingPid))).toEqual([pid])
    await Promise.all([update, ended])
    expect(await noteText()).toBe('free')
  })
})

describe('connections of our own', () => {
  it('C13 give up a statement that the server never answers, as an unknown outcome', async () => {
    const { url, server } = await startSilentServer()
    onTestFinished(() => void server.close())
    const { store, close } = openTable({ databaseUrl: url, schema: 'unstuck', table, queryTimeoutMs: 200 })
    onTestFinished(close)
    await expect(store.readPolicy()).rejects.toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      isRetryable: true,
    })
  })

  it('C13 distinguish a statement that the role does not allow to continue from a lost connection', async () => {
    const holder = await database.connect()
    await holder.query('begin')
    await holder.query('lock table unstuck.policies')
    const { username } = new URL(database.url)
    await database.pool.query(
      `alter role ${username} in database ${new URL(database.url).pathname.slice(1)} set statement_timeout = '100ms'`,
    )
    const { store, close } = openTable({ databaseUrl: database.url, schema: 'unstuck', table })
    onTestFinished(close)
    await expect(store.readPolicy()).rejects.toMatchObject({ code: 'DATABASE_TIMEOUT', isRetryable: true })
    await holder.query('rollback')
    await database.pool.query(
      `alter role ${username} in database ${new URL(database.url).pathname.slice(1)} reset statement_timeout`,
    )
  })

  it('OPS-8 ask for an address at the first use, once, and again where that failed', async () => {
    let asked = 0
    const databaseUrl = async () => {
      if (++asked === 1) throw new Error('not yet')
      return database.url
    }
    const { store, close } = openTable({ databaseUrl, schema: 'unstuck', table })
    expect(asked).toBe(0)
    await expect(store.readPolicy()).rejects.toThrow('not yet')
    await Promise.all([store.readPolicy(), store.readPolicy()])
    expect(asked).toBe(2)
    await Promise.all([close(), close()])
    await expect(store.readPolicy()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })

  it('OPS-8 ask for one address for calls and transactions', async () => {
    let asked = 0
    const databaseUrl = async () => {
      asked++
      return database.url
    }
    const { store, transaction, close } = openTable({ databaseUrl, schema: 'unstuck', table })
    onTestFinished(close)
    await Promise.all([store.readPolicy(), transaction(async () => {})])
    expect(asked).toBe(1)
  })

  it('WORK-5 let 12 transactions make calls outside of themselves, all connections for transactions being in use', async () => {
    const { store, transaction, close } = openTable({ databaseUrl: database.url, schema: 'unstuck', table })
    onTestFinished(close)
    let begun = 0
    const gate = createGate()
    const work = async (client: SqlClient) => {
      await ask(client, 'select 1')
      if (++begun === 10) gate.open()
      await gate.opened
      return (await store.enqueueJobs([{ type: 'a' }]))[0]?.outcome
    }
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => transaction(work)))
    expect(outcomes).toEqual(Array.from({ length: 12 }, () => 'created'))
  })

  it('WORK-5 open none for transactions before the first one, and then no more than they may', async () => {
    const options = { applicationName: 'counted', transactionConnections: 2 }
    const pool = openConnectionPool({ databaseUrl: database.url, ...options })
    onTestFinished(() => pool.close())
    const opened = async () => {
      const text = `select count(*)::int as opened from pg_stat_activity where application_name = 'counted'`
      return (await ask(pool.client, text)).opened
    }
    expect(await opened()).toBe(1)
    await Promise.all([1, 2, 3].map(() => pool.transaction((client) => ask(client, 'select 1'))))
    expect(await opened()).toBe(3)
  })

  it('WORK-4 are cut off 2 s after the close where a transaction or a statement hangs', async () => {
    const pool = openConnectionPool({ databaseUrl: database.url, applicationName: 'hanging' })
    const begun = createGate()
    const change = pool.transaction(async (client) => {
      await ask(client, "update notes set text = 'hanging'")
      begun.open()
      await forever()
    })
    const sleeping = pool.client.query('select pg_sleep(60)', [])
    const ends = Promise.allSettled([change, sleeping])
    await begun.opened
    const startedAt = performance.now()
    await pool.close()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    const closed = expect.stringContaining('the connections were closed by stop or close')
    const reason = { code: 'DATABASE_UNREACHABLE', message: closed }
    expect(await ends).toMatchObject([{ reason }, { reason }])
    await database.pool.query("update notes set text = 'free'")
    expect(await noteText()).toBe('free')
  })

  it('WORK-4 are cut off 2 s after the close where the server does not even let them in', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const pool = openConnectionPool({ databaseUrl: `postgresql://nobody@127.0.0.1:${port}/none` })
    const tried = once(server, 'connection')
    const ends = Promise.allSettled([pool.client.query('select 1', [])])
    await tried
    const startedAt = performance.now()
    await pool.close()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(await ends).toMatchObject([{ reason: { code: 'DATABASE_UNREACHABLE' } }])
  })

  it('WORK-4 let what is under way end within the close', async () => {
    const pool = openConnectionPool({ databaseUrl: database.url })
    const begun = createGate()
    const change = pool.transaction(async (client) => {
      begun.open()
      await ask(client, 'select pg_sleep(0.2)')
      await ask(client, "update notes set text = 'done'")
    })
    await begun.opened
    await Promise.all([pool.close(), change])
    expect(await noteText()).toBe('done')
  })
})

const forever = () => new Promise<never>(() => {})

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Lets a client in and then never answers, as a server behind a broken network would. */
async function startSilentServer(): Promise<{ url: string; server: Server }> {
  const ready = Buffer.concat([
    Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1'),
    Buffer.from('Z\0\0\0\x05I', 'latin1'),
  ])
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(ready))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `postgresql://nobody@127.0.0.1:${port}/none`, server }
}
