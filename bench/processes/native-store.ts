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
  close(): Promise<void>
}

const profile = nativeProfile('unstuck')

export function installNative(url: string): Promise<void> {
  return migrateUp({ databaseUrl: url, schema: 'unstuck', profile })
}

function openNativeStore(url: string): NativeStore {
  const pool = openConnectionPool({ databaseUrl: url, connections: 1 })
  const store = createPostgresStore({ client: pool.client, table: profile.tables[0], schema: 'unstuck' })
  return {
    store,
    async query<Row>(text: string, values: unknown[] = []) {
      const answer = await pool.client.query(text, values)
      return ('rows' in answer ? answer.rows : answer) as Row[]
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
