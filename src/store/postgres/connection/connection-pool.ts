// Connections of our own. Nothing is set for a session, by a startup parameter or a SET: a pooler in transaction mode refuses
// the first and hands the second to others (C15). So limits are set in transactions, by the role, and on this side.
import pg from 'pg'
import { UnstuckError } from '../../../errors/index.ts'
import { destroyClient, END_WAIT_MS, settledWithin } from './end-client.ts'
import { type QueryClient, type SqlClient, toExecutor } from './executor.ts'
import { inTransaction, type TransactionLimits } from './transaction.ts'

export interface ConnectionPoolOptions {
  /** A function is asked at the first use, and again at the next one where it failed. */
  databaseUrl: string | (() => Promise<string>)
  applicationName?: string
  /** For calls, which are short. */
  connections?: number
  /** For `transaction`: none is opened before the first one. */
  transactionConnections?: number
  /** A statement that takes longer is given up, and its connection with it: for sockets that hang. */
  queryTimeoutMs?: number
  /** Limits of `transaction`. */
  txTimeoutMs?: number
}

export interface ConnectionPool {
  client: QueryClient
  transaction: <T>(
    work: (client: SqlClient) => Promise<T>,
    options?: Pick<TransactionLimits, 'beginWithinMs'>,
  ) => Promise<T>
  /** Every query is a read-only transaction with a short limit: for people who look, and must not be felt. */
  reader: QueryClient
  /** Can be called again. What still runs 2 s later is cut off. */
  close: () => Promise<void>
}

const DEFAULT_TX_TIMEOUT_MS = 60_000
const DEFAULT_TRANSACTION_CONNECTIONS = 10
/** A transaction may bring a shorter limit of its own. */
const TRANSACTION_WAIT_MS = 60_000
const READER_CONNECTIONS = 5
const READ_TIMEOUT_MS = 2_000
const LOCK_TIMEOUT_MS = 10_000
/** Every call of the store is bounded work, so one that takes this long hangs. */
const DEFAULT_QUERY_TIMEOUT_MS = 60_000
/** The server's own limits come first, for they say what happened. */
const SERVER_FIRST_MS = 5_000

export function openConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { databaseUrl, connections, transactionConnections = DEFAULT_TRANSACTION_CONNECTIONS } = options
  const limits: TransactionLimits = {
    timeoutMs: options.txTimeoutMs ?? DEFAULT_TX_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  }
  const address = onceMade(async () => (typeof databaseUrl === 'string' ? databaseUrl : databaseUrl()))
  const calls = new LazyPool(async () => poolConfig(await address(), options, limits, connections))
  // Work in a transaction makes calls outside of it too: with one pool, transactions that have all its connections would wait
  // for one more.
  const transactions = new LazyPool(async () => ({
    ...poolConfig(await address(), options, limits, transactionConnections),
    connectionTimeoutMillis: TRANSACTION_WAIT_MS,
  }))
  const readers = new LazyPool(async () => poolConfig(await address(), options, limits, READER_CONNECTIONS))
  const reading = { timeoutMs: READ_TIMEOUT_MS, lockTimeoutMs: READ_TIMEOUT_MS, isReadOnly: true }
  return {
    client: { query: async (text, params) => timed(async () => (await calls.open()).query(text, params)) },
    transaction: (work, options = {}) =>
      timed(async () => inTransaction(await transactions.open(), work, { ...limits, ...options })),
    reader: {
      query: async (text, params) =>
        timed(async () =>
          inTransaction(await readers.open(), (tx) => toExecutor(tx).query(text, params), {
            ...reading,
            graceMs: SERVER_FIRST_MS,
          }),
        ),
    },
    async close() {
      await Promise.all([transactions.close(), calls.close(), readers.close()])
    },
  }
}

function poolConfig(
  connectionString: string,
  { applicationName, queryTimeoutMs }: ConnectionPoolOptions,
  { timeoutMs }: TransactionLimits,
  connections: number | undefined,
): pg.PoolConfig {
  return {
    connectionString,
    application_name: applicationName ?? 'unstuck',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    query_timeout: queryTimeoutMs ?? Math.max(DEFAULT_QUERY_TIMEOUT_MS, timeoutMs) + SERVER_FIRST_MS,
    ...(connections === undefined ? {} : { max: connections }),
  }
}

/** Opened at the first use. */
class LazyPool {
  readonly #clients = new Set<pg.Client>()
  readonly #made: () => Promise<pg.Pool>
  #opening: Promise<pg.Pool> | undefined
  #closing: Promise<void> | undefined

  constructor(config: () => Promise<pg.PoolConfig>) {
    this.#made = onceMade(async () => this.#create(await config()))
  }

  open(): Promise<pg.Pool> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    this.#opening = this.#made()
    return this.#opening
  }

  close(): Promise<void> {
    this.#closing ??= Promise.resolve(this.#opening).then(
      (pool) => pool && this.#end(pool),
      () => {},
    )
    return this.#closing
  }

  #create(config: pg.PoolConfig): pg.Pool {
    const clients = this.#clients
    // The pool tells nothing of clients that are still connecting, and waits for all that are in use.
    class KnownClient extends pg.Client {
      constructor(clientConfig?: pg.ClientConfig) {
        super(clientConfig)
        clients.add(this)
        this.once('end', () => clients.delete(this))
        // One that is destroyed says so, whoever listens.
        this.on('error', () => {})
      }
    }
    const pool = new pg.Pool({ ...config, Client: KnownClient })
    // An idle connection that breaks is replaced by the pool; the next query tells whether the database is there.
    pool.on('error', () => {})
    return pool
  }

  /** What is under way may end. What hangs is cut off, so that it does not hold up a stop (WORK-4). */
  async #end(pool: pg.Pool): Promise<void> {
    const ends = [...this.#clients].map((client) => new Promise((resolve) => client.once('end', resolve)))
    await settledWithin(Promise.all([pool.end(), ...ends]), END_WAIT_MS)
    for (const client of this.#clients) destroyClient(client, closedError())
  }
}

/** Made at the first call, and again at the next one where that failed. */
function onceMade<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined
  return () => {
    making ??= make().catch((error: unknown) => {
      making = undefined
      throw error
    })
    return making
  }
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
