// The pool of an application that brings its own. It is never ended here, and nothing is changed on its connections.
import type pg from 'pg'
import { invalidArgument, UnstuckError } from '../../../errors/index.ts'
import { readQuery } from '../sql-queries.ts'
import { readDatabase } from './connection-identity.ts'
import { type ConnectionPool, transactionLimits } from './connection-pool.ts'
import type { Row } from './executor.ts'
import { translated } from './postgres-errors.ts'
import { inTransaction } from './transaction.ts'

/** pg's Pool, of any version and copy of the package. */
export interface CallersPool {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<{ query: unknown; release: unknown }>
  readonly totalCount: number
}

export function requirePool(pool: unknown): asserts pool is CallersPool {
  const { query, connect, totalCount } = (pool ?? {}) as Partial<CallersPool>
  if (typeof query === 'function' && typeof connect === 'function' && typeof totalCount === 'number') return
  throw invalidArgument('pool', pool, 'a Pool of pg', { withhold: true })
}

export function useCallersPool(
  callers: CallersPool,
  { txTimeoutMs }: { txTimeoutMs?: number } = {},
): Pick<ConnectionPool, 'client' | 'transaction' | 'close'> {
  const pool = callers as unknown as pg.Pool
  const limits = transactionLimits(txTimeoutMs)
  return {
    client: { query: (text, params) => pool.query<Row>(text, params) },
    transaction: (work, options = {}) => inTransaction(pool, work, { ...limits, ...options }),
    close: async () => {},
  }
}

/** Heartbeats in another database would find every lease lost. */
export async function requireUrlOfPool(callers: CallersPool, url: string): Promise<void> {
  const { rows } = await translated(() => callers.query(readQuery('connection_identity'), []))
  const [row] = rows as { database: string }[]
  if (row?.database === (await readDatabase(url))) return
  throw new UnstuckError('INVALID_CONFIG', 'directUrl: points to another database than the pool', {
    hint: 'directUrl, UNSTUCK_DIRECT_URL or databaseUrl beside a pool is the address of the same database, without a pooler.',
  })
}
