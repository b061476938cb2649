// Two or more real connections to one table, native unless a file asks for another. Where one side has to wait, the test goes on when PostgreSQL
// reports the lock wait and who is waited for; nothing here sleeps.
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { PolicyOverride } from '../../src/policy/policy.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import { plainPolicy } from '../../src/store/conformance/builders.ts'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { whenBlocked } from '../support/lock-wait.ts'
import { type BenchOptions, createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

export const isolationLevels = ['read committed', 'repeatable read', 'serializable'] as const
export type IsolationLevel = (typeof isolationLevels)[number]

/** One backend. The verbs of its store run in the transaction it has open, or in one of their own. */
export interface Connection {
  pid: number
  client: pg.Client
  store: JobStore<SqlClient>
  begin: (isolation?: IsolationLevel) => Promise<void>
  commit: () => Promise<void>
  rollback: () => Promise<void>
  query: (text: string, params?: unknown[]) => Promise<pg.QueryResultRow[]>
}

export interface Race extends StoreHarness<SqlClient> {
  pool: pg.Pool
  /** Ended with the test, and its open transaction with it. */
  connect: () => Promise<Connection>
  connectMany: (count: number) => Promise<Connection[]>
  /** Starts a call that has to wait for `holder`, and resolves once it does. */
  startBlocked: <T>(waiter: Connection, holder: Connection, call: () => Promise<T>) => Promise<Pending<T>>
}

/** In an object, because `await` would wait for a bare promise. */
export interface Pending<T> {
  answer: Promise<T>
}

export interface RaceOptions {
  /** Default: the native table. */
  bench?: BenchOptions
  /** Over the plain policy. */
  policy?: PolicyOverride
  /** Additional objects of the file: tables of a user, triggers. */
  setUp?: (pool: pg.Pool) => Promise<unknown>
  /** After each test, when its connections are gone and their locks with them. */
  cleanUp?: (pool: pg.Pool) => Promise<unknown>
}

const native = nativeProfile('unstuck')
const nativeBench: BenchOptions = { profile: native, table: native.tables[0] }

/** Registers the hooks of a test file: one install for the file, empty tables and fresh connections for each test. */
export function raceBench({ bench: on = nativeBench, policy, setUp, cleanUp }: RaceOptions = {}): () => Race {
  const { table } = on
  let bench: PostgresBench
  let race: Race
  let connections: Connection[] = []

  async function connect(): Promise<Connection> {
    const client = await bench.database.connect()
    // A call that waits where it must not fails with the statement's name instead of running into the test's timeout.
    await client.query("set lock_timeout = '5s'")
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const connection: Connection = {
      pid: Number(rows[0]?.pid),
      client,
      store: createPostgresStore({ client, table }),
      begin: async (isolation = 'read committed') => {
        await client.query(`begin isolation level ${isolation}`)
      },
      commit: async () => {
        await client.query('commit')
      },
      rollback: async () => {
        await client.query('rollback')
      },
      query: async (text, params) => (await client.query<pg.QueryResultRow>(text, params)).rows,
    }
    connections.push(connection)
    return connection
  }

  beforeAll(async () => {
    bench = await createPostgresBench(on)
    await setUp?.(bench.database.pool)
  })
  beforeEach(async () => {
    const harness = await bench.open()
    await harness.store.writePolicy({ ...plainPolicy, ...policy })
    const { pool } = bench.database
    race = {
      ...harness,
      pool,
      connect,
      connectMany: (count) => Promise.all(Array.from({ length: count }, connect)),
      startBlocked: async (waiter, holder, call) => {
        const answer = call()
        const isSettled = answer.then(
          () => 'settled without waiting',
          (error: unknown) => `failed without waiting: ${String(error)}`,
        )
        expect(await Promise.race([isSettled, whenBlocked(pool, waiter.pid)])).toEqual([holder.pid])
        return { answer }
      },
    }
  })
  afterEach(async () => {
    await Promise.all(connections.map(({ client }) => client.end()))
    connections = []
    await cleanUp?.(bench.database.pool)
  })
  afterAll(() => bench.close())
  return () => race
}
