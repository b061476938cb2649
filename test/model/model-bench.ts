// A bench that is made once and serves thousands of runs. What a run costs beside the engine's own work is kept small: one
// statement moves time, rows are deleted and not truncated (a truncated table makes PostgreSQL plan every statement of every
// function anew), plans are made once, and no commit waits for the disk.
import pg from 'pg'
import type { TableProfile } from '../../src/profile/profile.ts'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { quoteIdentifier } from '../../src/store/postgres/render/identifiers.ts'
import {
  type BenchOptions,
  clearStatements,
  createPostgresBench,
  elapseStatement,
} from '../support/postgres-harness.ts'
import { createReplica, type Replica } from '../support/replica.ts'
import type { TestDatabase } from '../support/test-database.ts'

export interface ModelBench extends Pick<StoreHarness<SqlClient>, 'store' | 'elapse' | 'inTransaction'> {
  table: TableProfile
  schema: string
  database: TestDatabase
  /** The connections of the store, for questions of the test's own. */
  pool: pg.Pool
  replica: Replica
  /** As after the install. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** After so many runs what they have deleted is taken out of the tables. 5 cost as much processor time. */
const RUNS_PER_VACUUM = 50

const sessionSettings = ['synchronous_commit=off', 'plan_cache_mode=force_generic_plan', 'jit=off']

export async function createModelBench(options: BenchOptions & { schema: string }): Promise<ModelBench> {
  const { table, schema } = options
  const pools: pg.Pool[] = []
  const openPool = (connectionString: string) => {
    const pool = new pg.Pool({
      connectionString,
      options: sessionSettings.map((set) => `-c ${set}`).join(' '),
    })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  const bench = await createPostgresBench({ ...options, openPool })
  const [pool = bench.database.pool] = pools
  const { store, inTransaction } = await bench.open()
  const replica = await createReplica(pool, table, schema)
  // No verb of a run reads the time of an old sweep.
  const engine = quoteIdentifier(schema)
  const elapseText = await elapseStatement(pool, [
    jobsOf(table),
    `${engine}.sweeps`,
    `${engine}.events`,
    `${engine}.kept_workers`,
    `${engine}.workers`,
    `${engine}.breakers`,
    `${engine}.probes`,
    `${engine}.rate_limits`,
  ])
  const resetText = clearStatements(table, quoteIdentifier(schema), writtenTables)
  let runs = 0
  return {
    table,
    schema,
    database: bench.database,
    pool,
    store,
    replica,
    ...(inTransaction === undefined ? {} : { inTransaction }),
    elapse: async (ms) => void (await pool.query({ name: 'elapse', text: elapseText, values: [ms] })),
    async reset() {
      await pool.query(resetText)
      if (runs++ % RUNS_PER_VACUUM === 0) await pool.query('vacuum')
      await store.writePolicy(table.policy)
    },
    close: () => bench.close(),
  }
}

const jobsOf = (table: TableProfile) => `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)}`

/** Tables besides the jobs that the commands of a run write. */
const writtenTables = [
  'events',
  'sweeps',
  'sweep_history',
  'audit_entries',
  'causes',
  'kept_workers',
  'queue_limits',
  'probes',
  'dependencies',
  'breakers',
  'rate_limits',
  'workers',
]
