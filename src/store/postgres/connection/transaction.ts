import type pg from 'pg'
import { UnstuckError } from '../../../errors/index.ts'
import { readQuery } from '../sql-queries.ts'
import type { PgClient } from './executor.ts'
import { conflictOf, translated } from './postgres-errors.ts'
import type { TransactionLimits } from './transaction-limits.ts'

/**
 * Commits the work of `work`, or rolls it back and rethrows; a conflict with another transaction becomes DATABASE_CONFLICT.
 * A broken connection is not returned to the pool, and work on it is not awaited.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: PgClient) => Promise<T>,
  limits?: TransactionLimits,
): Promise<T> {
  const begunBy = performance.now() + (limits?.beginWithinMs ?? Number.POSITIVE_INFINITY)
  const client = await connect(pool, limits, begunBy)
  let broken: Error | undefined
  let giveUp: (error: Error) => void = () => {}
  const brokenOff = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  brokenOff.catch(() => {})
  // Without a listener, losing the connection between two statements would crash the process.
  const onError = (error: Error) => {
    broken ??= error
    giveUp(error)
  }
  client.on('error', onError)
  const giveBack = (error?: Error) => {
    // A discarded client may still emit an error.
    if (error === undefined) client.off('error', onError)
    client.release(error)
  }
  try {
    await begin(client, limits, begunBy)
    const result = await worked(Promise.race([work(client), brokenOff]), limits)
    await client.query('commit')
    giveBack()
    return result
  } catch (error) {
    if (error instanceof GivenUp) {
      // The server rolls back when the connection closes.
      giveBack(error)
      throw error.reported
    }
    await client.query('rollback').then(
      () => giveBack(),
      (failed: unknown) => giveBack(failed instanceof Error ? failed : new Error(String(failed))),
    )
    throw broken === undefined ? (conflictOf(error) ?? error) : whyBroken(broken, limits)
  }
}

async function connect(
  pool: pg.Pool,
  limits: TransactionLimits | undefined,
  begunBy: number,
): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  try {
    return await translated(() => inTime(connecting, limits, begunBy))
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error
    // A connection that arrives late goes back to the pool.
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw error.reported
  }
}

/** A pooler in transaction mode accepts every connection, and waits here instead. */
async function begin(
  client: pg.PoolClient,
  limits: TransactionLimits | undefined,
  begunBy: number,
): Promise<void> {
  const statement = limits?.isReadOnly === true ? 'begin transaction read only' : 'begin'
  await inTime(client.query(statement), limits, begunBy)
  if (limits === undefined) return
  const { lockTimeoutMs, timeoutMs } = limits
  await client.query(readQuery('limit_transaction'), [lockTimeoutMs, timeoutMs].map(String))
}

function worked<T>(work: Promise<T>, limits: TransactionLimits | undefined): Promise<T> {
  if (limits === undefined) return work
  const { timeoutMs, graceMs = 0 } = limits
  return withinLimit(work, timeoutMs + graceMs, () => tookTooLong(timeoutMs))
}

async function inTime<T>(
  step: Promise<T>,
  limits: TransactionLimits | undefined,
  begunBy: number,
): Promise<T> {
  const { beginWithinMs } = limits ?? {}
  if (beginWithinMs === undefined) return step
  try {
    return await withinLimit(step, begunBy - performance.now(), () => poolExhausted(beginWithinMs))
  } catch (error) {
    throw isPoolFull(error) ? new GivenUp(poolExhausted(beginWithinMs, error)) : error
  }
}

/** In the words of the server, a pooler, or our own pool. */
function isPoolFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isServerFull = 'code' in error && error.code === '53300'
  const others = /timeout exceeded when trying to connect|query_wait_timeout|max_client_conn/
  return isServerFull || others.test(error.message)
}

/** Work on the connection may hang: it is no longer awaited, and the connection is discarded. */
class GivenUp extends Error {
  readonly reported: UnstuckError

  constructor(reported: UnstuckError) {
    super(reported.message)
    this.reported = reported
  }
}

function withinLimit<T>(work: Promise<T>, limitMs: number, report: () => UnstuckError): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new GivenUp(report()))
    // After a blocked event loop, answers that have arrived are read first.
    const timer = setTimeout(() => setImmediate(giveUp), limitMs)
    void work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function poolExhausted(beginWithinMs: number, cause?: unknown): UnstuckError {
  return new UnstuckError(
    'POOL_EXHAUSTED',
    `no database connection was free for a transaction within ${beginWithinMs} ms`,
    {
      details: { beginWithinMs },
      hint: 'Lower the concurrency of the workers, shorten the transactions, or raise txConnections and the pool size of the pooler.',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

/** The server may enforce the limit first, and end the connection. */
function whyBroken(broken: Error, limits: TransactionLimits | undefined): UnstuckError {
  const isLimit = 'code' in broken && (broken.code === '25P03' || broken.code === '25P04')
  return isLimit && limits !== undefined ? tookTooLong(limits.timeoutMs) : connectionBroke(broken)
}

function tookTooLong(timeoutMs: number): UnstuckError {
  return new UnstuckError(
    'DATABASE_TIMEOUT',
    `the transaction took longer than ${timeoutMs} ms: it was rolled back`,
    { details: { timeoutMs }, hint: 'Do the slow part before the transaction, or raise txTimeoutMs.' },
  )
}

function connectionBroke(cause: Error): UnstuckError {
  return new UnstuckError(
    'DATABASE_UNREACHABLE',
    `the connection broke during the transaction: ${cause.message}`,
    {
      cause,
    },
  )
}
