// Connections of our own. Nothing is set for a session, by a startup parameter or a SET: a pooler in transaction mode refuses
// the first and hands the second to others (C15). So limits are set in transactions, by the role, and on this side.
import pg from 'pg'
import { UnstuckError } from '../../errors/index.ts'
import type { QueryClient, SqlClient } from './executor.ts'
import { inTransaction, type TransactionLimits } from './transaction.ts'

export interface ConnectionPoolOptions {
  /** A function is asked at the first use, and again at the next one where it failed. */
  databaseUrl: string | (() => Promise<string>)
  applicationName?: string
  connections?: number
  /** A statement that takes longer is given up, and its connection with it: for sockets that hang. */
  queryTimeoutMs?: number
  /** Limits of `transaction`. */
  txTimeoutMs?: number
}

export interface ConnectionPool {
  client: QueryClient
  transaction: <T>(work: (client: SqlClient) => Promise<T>) => Promise<T>
  /** Can be called again. */
  close: () => Promise<void>
}

const DEFAULT_TX_TIMEOUT_MS = 60_000
const LOCK_TIMEOUT_MS = 10_000
/** Every call of the store is bounded work, so one that takes this long hangs. */
const DEFAULT_QUERY_TIMEOUT_MS = 60_000
/** The server's own limits come first, for they say what happened. */
const SERVER_FIRST_MS = 5_000

export function openConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const limits: TransactionLimits = {
    timeoutMs: options.txTimeoutMs ?? DEFAULT_TX_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  }
  let opening: Promise<pg.Pool> | undefined
  let closing: Promise<void> | undefined

  function open(): Promise<pg.Pool> {
    if (closing !== undefined) return Promise.reject(closedError())
    opening ??= createPool(options, limits.timeoutMs).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    client: { query: async (text, params) => timed(async () => (await open()).query(text, params)) },
    transaction: (work) => timed(async () => inTransaction(await open(), work, limits)),
    close() {
      closing ??= Promise.resolve(opening).then(
        (pool) => pool?.end(),
        () => {},
      )
      return closing
    },
  }
}

async function createPool(options: ConnectionPoolOptions, txTimeoutMs: number): Promise<pg.Pool> {
  const { databaseUrl, applicationName, connections, queryTimeoutMs } = options
  const pool = new pg.Pool({
    connectionString: typeof databaseUrl === 'string' ? databaseUrl : await databaseUrl(),
    application_name: applicationName ?? 'unstuck',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    query_timeout: queryTimeoutMs ?? Math.max(DEFAULT_QUERY_TIMEOUT_MS, txTimeoutMs) + SERVER_FIRST_MS,
    ...(connections === undefined ? {} : { max: connections }),
  })
  // An idle connection that breaks is replaced by the pool; the next query tells whether the database is there.
  pool.on('error', () => {})
  return pool
}

/** pg gives its own timeout no code. Like every lost answer it leaves open whether the call took effect (C2). */
async function timed<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof Error && error.message === 'Query read timeout')) throw error
    throw new UnstuckError('DATABASE_UNREACHABLE', 'the database did not answer in time', { cause: error })
  }
}

function closedError(): UnstuckError {
  return new UnstuckError('DATABASE_UNREACHABLE', 'the connections were closed by stop or close')
}
