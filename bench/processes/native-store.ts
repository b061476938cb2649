// The native table for measures of single statements, on one connection, so that nothing runs in parallel.
import { type JobStore, nativeProfile } from '../../dist/index.js'
import {
  createPostgresStore,
  migrateUp,
  openConnectionPool,
  type SqlClient,
} from '../../dist/store/postgres/index.js'

export interface NativeStore {
  store: JobStore<SqlClient>
  /** On the store's connection. */
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>
  /** Pages that the statement of a call touches. Explains it and rolls it back; the call itself fails. */
  pages: (call: (store: JobStore<SqlClient>) => Promise<unknown>) => Promise<number>
  close(): Promise<void>
}

const profile = nativeProfile('unstuck')

export function installNative(url: string): Promise<void> {
  return migrateUp({ databaseUrl: url, schema: 'unstuck', profile })
}

/** The caller closes it. */
export function openNativeStore(url: string): NativeStore {
  const pool = openConnectionPool({ databaseUrl: url, connections: 1 })
  const store = createPostgresStore({ client: pool.client, table: profile.tables[0], schema: 'unstuck' })
  const query = async <Row>(text: string, values: unknown[] = []) => {
    const answer = await pool.client.query(text, values)
    return ('rows' in answer ? answer.rows : answer) as Row[]
  }
  return {
    store,
    query,
    async pages(call) {
      const isExplained = new Error('the statement was explained')
      let pages = 0
      const client: SqlClient = {
        async query(text, params) {
          await query('begin')
          const [row] = await query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
            `explain (analyze, buffers, timing off, format json) ${text}`,
            params,
          )
          await query('rollback')
          const { Plan: plan } = row?.['QUERY PLAN'][0] ?? { Plan: {} }
          pages = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
          throw isExplained
        },
      }
      await call(createPostgresStore({ client, table: profile.tables[0], schema: 'unstuck' })).catch(
        (error: unknown) => {
          if (error !== isExplained) throw error
        },
      )
      return pages
    },
    close: () => pool.close(),
  }
}

/** Closes the store even if the work fails. */
export async function withNativeStore<T>(url: string, work: (native: NativeStore) => Promise<T>): Promise<T> {
  const native = openNativeStore(url)
  try {
    return await work(native)
  } finally {
    await native.close()
  }
}

const CLAIM_LIMIT = 10_000

/** Claims all jobs of one queue with leases of this length. Default: that of the stage. */
export async function claimAll({ store }: NativeStore, queue: string, leaseMs?: number) {
  const claimed: { jobId: string; leaseId: string }[] = []
  for (;;) {
    const jobs = await store.claimJobs({
      workerId: 'bench',
      queues: [queue],
      limit: CLAIM_LIMIT,
      ...(leaseMs === undefined ? {} : { leaseMs }),
    })
    if (jobs.length === 0) return claimed
    claimed.push(...jobs.map(({ jobId, leaseId }) => ({ jobId, leaseId })))
  }
}
