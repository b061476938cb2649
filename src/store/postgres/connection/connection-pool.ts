// The pool never changes session state, by startup parameter or SET: a pooler in transaction mode refuses the first and leaks
// the second to other clients (C15). Limits are set per transaction, by the role, and on this side.

import { UnstuckError } from '../../../errors/index.ts'
import { CallGate } from './call-gate.ts'
import { pg } from './driver.ts'
import { destroyClient, END_WAIT_MS, settledWithin } from './end-client.ts'
import { type PgClient, type QueryClient, toExecutor } from './executor.ts'
import { nameStatements, StatementNames } from './named-statements.ts'
import { inTransaction } from './transaction.ts'
import type { TransactionLimits } from './transaction-limits.ts'

export interface ConnectionPoolOptions {
  /** A function is called at the first use, and again at the next one if it failed. */
  databaseUrl: string | (() => Promise<string>)
  applicationName?: string
  /** Most connections for the calls of the store, which are short. One more is opened only if the others stay busy. Default: 5. */
  connections?: number
  /** For `transaction`; opened with the first one. */
  transactionConnections?: number
  /** A statement that takes longer is abandoned with its connection, in case the socket hangs. */
  queryTimeoutMs?: number
  /** Limits of `transaction`. */
  txTimeoutMs?: number
  /** An unused connection is closed after this time. Default: 10 s. */
  idleTimeoutMs?: number
}

export interface ConnectionPool {
  client: QueryClient
  transaction: <T>(
    work: (client: PgClient) => Promise<T>,
    options?: Pick<TransactionLimits, 'beginWithinMs'>,
  ) => Promise<T>
  /** Runs every query in a read-only transaction with a short limit, for dashboards and reports. */
  reader: QueryClient
  /** Idempotent. Statements that still run after 2 s are cut off. */
  close: () => Promise<void>
}

/** With one for all calls, a process completes a third fewer short jobs. */
const DEFAULT_CONNECTIONS = 5
const DEFAULT_TX_TIMEOUT_MS = 60_000
const DEFAULT_TRANSACTION_CONNECTIONS = 10
/** A transaction may set a shorter limit of its own. */
const TRANSACTION_WAIT_MS = 60_000
const READER_CONNECTIONS = 5
const READ_TIMEOUT_MS = 2_000
const LOCK_TIMEOUT_MS = 10_000
/** Every call of the store is bounded work, so one that takes this long hangs. */
const DEFAULT_QUERY_TIMEOUT_MS = 60_000
/** The server's own limits act first, because they say what happened. */
const SERVER_FIRST_MS = 5_000

export function openConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const {
    databaseUrl,
    connections = DEFAULT_CONNECTIONS,
    transactionConnections = DEFAULT_TRANSACTION_CONNECTIONS,
  } = options
  const limits = transactionLimits(options.txTimeoutMs)
  const address = onceMade(async () => (typeof databaseUrl === 'string' ? databaseUrl : databaseUrl()))
  const gate = new CallGate(connections)
  const names = new StatementNames()
  const calls = new LazyPool(async () => poolConfig(await address(), options, limits, connections), {
    onConnected(client) {
      gate.noteConnected()
      nameStatements(client, names)
    },
    onClosed: () => gate.noteClosed(),
  })
  // Work in a transaction also makes calls outside of it. In a single pool, transactions holding all connections would
  // deadlock waiting for another one.
  const transactions = new LazyPool(async () => ({
    ...poolConfig(await address(), options, limits, transactionConnections),
    connectionTimeoutMillis: TRANSACTION_WAIT_MS,
  }))
  const readers = new LazyPool(async () => poolConfig(await address(), options, limits, READER_CONNECTIONS))
  const reading = { timeoutMs: READ_TIMEOUT_MS, lockTimeoutMs: READ_TIMEOUT_MS, isReadOnly: true }
  return {
    client: {
      query: async (text, params) =>
        timed(async () => {
          const pool = await calls.open()
          return gate.pass(() => pool.query(text, params))
        }),
    },
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

export function transactionLimits(timeoutMs = DEFAULT_TX_TIMEOUT_MS): TransactionLimits {
  return { timeoutMs, lockTimeoutMs: LOCK_TIMEOUT_MS }
}

function poolConfig(
  connectionString: string,
  { applicationName, queryTimeoutMs, idleTimeoutMs }: ConnectionPoolOptions,
  { timeoutMs }: TransactionLimits,
  connections: number,
): pg.PoolConfig {
  return {
    connectionString,
    application_name: applicationName ?? 'unstuck',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    query_timeout: queryTimeoutMs ?? Math.max(DEFAULT_QUERY_TIMEOUT_MS, timeoutMs) + SERVER_FIRST_MS,
    max: connections,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMillis: idleTimeoutMs }),
  }
}

interface PoolWatcher {
  onConnected(client: pg.Client): void
  onClosed(): void
}

/** Opened at the first use. */
class LazyPool {
  readonly #clients = new Set<pg.Client>()
  readonly #made: () => Promise<pg.Pool>
  readonly #watcher: PoolWatcher | undefined
  #opening: Promise<pg.Pool> | undefined
  #closing: Promise<void> | undefined

  constructor(config: () => Promise<pg.PoolConfig>, watcher?: PoolWatcher) {
    this.#watcher = watcher
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
    // The pool does not know clients that are still connecting, and waits for all that are in use.
    class KnownClient extends pg.Client {
      constructor(clientConfig?: pg.ClientConfig) {
        super(clientConfig)
        clients.add(this)
        this.once('end', () => clients.delete(this))
        // A destroyed client emits an error, and needs a listener for it.
        this.on('error', () => {})
      }
    }
    const pool = new pg.Pool({ ...config, Client: KnownClient })
    // The pool replaces an idle connection that breaks; the next query reports whether the database is reachable.
    pool.on('error', () => {})
    pool.on('connect', (client) => this.#watcher?.onConnected(client))
    pool.on('remove', () => this.#watcher?.onClosed())
    return pool
  }

  /** Lets running statements finish, and cuts off those that hang, so that they do not delay a shutdown (WORK-4). */
  async #end(pool: pg.Pool): Promise<void> {
    const ends = [...this.#clients].map((client) => new Promise((resolve) => client.once('end', resolve)))
    await settledWithin(Promise.all([pool.end(), ...ends]), END_WAIT_MS)
    for (const client of this.#clients) destroyClient(client, closedError())
  }
}

/** Created at the first call, and again at the next one if that failed. */
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

/** pg's timeout has no code. Like every lost answer, it leaves open whether the call took effect (C2). */
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
