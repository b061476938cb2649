import type pg from 'pg'
import { UnstuckError } from '../../errors/index.ts'
import type { SqlClient } from './executor.ts'
import { translated } from './postgres-errors.ts'
import { readSql } from './sql-files.ts'

/** So that no open transaction keeps a job row, and no half-open connection keeps a transaction (C13). */
export interface TransactionLimits {
  /** From begin to commit. The server holds each statement and each pause to it too, if this process no longer can. */
  timeoutMs: number
  /** One wait for a lock. */
  lockTimeoutMs: number
  isReadOnly?: boolean
  /** How much longer than the server this process waits, so that the server says what happened. */
  graceMs?: number
}

/**
 * Commits what `work` did, or rolls it back and throws on. A connection that broke is not given back to the pool, and work on
 * it is not waited for.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: SqlClient) => Promise<T>,
  limits?: TransactionLimits,
): Promise<T> {
  const client = await translated(() => pool.connect())
  let broken: Error | undefined
  let giveUp: (error: Error) => void = () => {}
  const brokenOff = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  brokenOff.catch(() => {})
  // Without a listener, a connection that ends between two statements would end the process.
  const onError = (error: Error) => {
    broken ??= error
    giveUp(error)
  }
  client.on('error', onError)
  const giveBack = (error?: Error) => {
    // One that is thrown away may still report how it ended.
    if (error === undefined) client.off('error', onError)
    client.release(error)
  }
  try {
    await client.query(limits?.isReadOnly === true ? 'begin transaction read only' : 'begin')
    if (limits !== undefined) await setLimits(client, limits)
    const limitMs = limits === undefined ? undefined : limits.timeoutMs + (limits.graceMs ?? 0)
    const result = await withinLimit(Promise.race([work(client), brokenOff]), limitMs)
    await client.query('commit')
    giveBack()
    return result
  } catch (error) {
    if (error instanceof TransactionTimeout) {
      // Nothing more gets through on it, and the server rolls back as it goes.
      giveBack(error)
      throw tookTooLong(error.timeoutMs)
    }
    await client.query('rollback').then(
      () => giveBack(),
      (failed: unknown) => giveBack(failed instanceof Error ? failed : new Error(String(failed))),
    )
    throw broken === undefined ? error : whyBroken(broken, limits)
  }
}

function setLimits(client: pg.PoolClient, { lockTimeoutMs, timeoutMs }: TransactionLimits): Promise<unknown> {
  return client.query(readSql('queries', 'limit_transaction'), [lockTimeoutMs, timeoutMs].map(String))
}

class TransactionTimeout extends Error {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super('the transaction took too long')
    this.timeoutMs = timeoutMs
  }
}

function withinLimit<T>(work: Promise<T>, timeoutMs: number | undefined): Promise<T> {
  if (timeoutMs === undefined) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TransactionTimeout(timeoutMs)), timeoutMs)
    void work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The server may notice first that the limit is over, and ends the connection. */
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
