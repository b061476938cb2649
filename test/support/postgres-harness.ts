// The conformance suite's view of a PostgreSQL store: real tables, time moved by shifting what is stored.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Job } from '../../src/job/job.ts'
import { clipProfile } from '../../src/profile/clip.ts'
import {
  columnName,
  type Feature,
  featureNames,
  type LogicalColumn,
  type Profile,
  type TableProfile,
  timeColumns,
  timeZoneOf,
} from '../../src/profile/profile.ts'
import type { StoreCapability } from '../../src/store/capability.ts'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createPostgresStore, inTransaction, migrateUp } from '../../src/store/postgres/index.ts'
import { quoteIdentifier } from '../../src/store/postgres/render/identifiers.ts'
import { createAttachedDatabase, createInstalledDatabase } from './installed-database.ts'
import { clipTables } from './tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from './test-database.ts'

export interface PostgresBench {
  database: TestDatabase
  open(): Promise<StoreHarness<SqlClient>>
  close(): Promise<void>
}

export interface BenchOptions {
  profile: Profile
  /** Which of the profile's tables. */
  table: TableProfile
  schema?: string
  /** The application's own tables, made before the install. */
  applicationSql?: string
  /** Where to install it, beside what is there. Default: a database of its own. */
  database?: TestDatabase
  /** Number of the shard. */
  shard?: number
  /** Features whose columns are added. Default: all. */
  features?: readonly Feature[]
  /** The store's connections, where they take another way than the test's own. */
  openPool?: (databaseUrl: string) => pg.Pool
  /** Capabilities that PostgreSQL has and this server does not. */
  lacks?: readonly StoreCapability[]
  /** An install that the test made itself. */
  installed?: TestDatabase
  /** Where stored times can be shifted, if not through the pool of the test, and the name of a table there. */
  shifts?: { pool: pg.Pool; nameOf: (table: string) => string }
  /** Where the install connects, if not as the test does. */
  installUrl?: (databaseUrl: string) => string
}

/** One database and one install for a test file; `open` empties the tables and restores the profile's policy. */
export async function createPostgresBench(options: BenchOptions): Promise<PostgresBench> {
  const { table, schema = 'unstuck', openPool, shifts } = options
  const database = options.installed ?? (await createBenchDatabase(options))
  const pool = openPool?.(database.url) ?? database.pool
  const store = { ...createPostgresStore({ client: pool, table, schema }), lacks: new Set(options.lacks) }
  const clearText = clearStatements(table, schema)
  let opens = 0
  let elapseText: string | undefined
  return {
    database,
    async open() {
      await database.pool.query(clearText)
      if (++opens % OPENS_PER_VACUUM === 0)
        await database.pool.query(`vacuum ${qualified(table)}, ${schema}.events`)
      await store.writePolicy(table.policy)
      return {
        store,
        elapse: async (ms) => {
          const { pool: shifted, nameOf } = shifts ?? { pool: database.pool, nameOf: (name: string) => name }
          elapseText ??= await elapseStatement(shifted, timedTablesOf(table, schema).map(nameOf), table)
          await shifted.query({ name: `elapse_${schema}`, text: elapseText, values: [ms] })
        },
        plantJob: (fields) => plantJob(database.pool, table, fields),
        hasTransactions: true,
        inTransaction: (work) => inTransaction(pool, work),
        close: async () => {},
      }
    },
    async close() {
      if (pool !== database.pool) await pool.end()
      if (options.database === undefined) await database.drop()
    },
  }
}

/** A copy where there is one to be had. */
async function createBenchDatabase({
  profile,
  schema = 'unstuck',
  applicationSql,
  features = featureNames,
  installUrl = (databaseUrl) => databaseUrl,
  database: given,
  shard,
}: BenchOptions): Promise<TestDatabase> {
  if (given !== undefined) {
    const numbered = shard === undefined ? {} : { shard }
    await migrateUp({ databaseUrl: given.url, schema, profile, features, ...numbered })
    return given
  }
  if (profile === clipProfile && applicationSql === clipTables) return createAttachedDatabase()
  if (profile.name === 'native' && schema === 'unstuck' && applicationSql === undefined)
    return createInstalledDatabase()
  const database = await createTestDatabase()
  if (applicationSql !== undefined) await database.pool.query(applicationSql)
  await migrateUp({ databaseUrl: installUrl(database.url), schema, profile, features })
  return database
}

const qualified = (table: TableProfile) => `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)}`

/** After so many tests what they have deleted is taken out of the tables. */
const OPENS_PER_VACUUM = 50

/** The probes and the queues of a breaker go with it. */
const clearedTables = [
  'events',
  'sweeps',
  'sweep_history',
  'breakers',
  'pauses',
  'queue_limits',
  'rate_limits',
  'dedupe_windows',
  'schedules',
  'dispatches',
  'kept_workers',
  'audit_entries',
  'workers',
  'webhooks',
  'deliveries',
  'operations',
  'causes',
]

/**
 * Deletes, in one round trip: a truncate costs new files, 11 ms of processor time, and makes PostgreSQL plan every statement
 * of every function anew, another 10 ms.
 */
export function clearStatements(table: TableProfile, schema: string, tables = clearedTables): string {
  const names = [qualified(table), ...tables.map((name) => `${schema}.${name}`)]
  if (table.teamEvents !== null)
    names.push(`${quoteIdentifier(table.teamEvents.schema)}.${quoteIdentifier(table.teamEvents.table)}`)
  return [
    ...names.map((name) => `delete from ${name}`),
    // The maps of a policy are merged by writePolicy, so what a test put into them is taken out here.
    `update ${schema}.policies set stage_leases_ms = '{}', stage_factors = '{}', stage_deadlines_ms = '{}', type_runtimes_ms = '{}', type_keep_completed = '{}'`,
    `insert into ${schema}.sweeps (attachment) select name from ${schema}.attachments`,
  ].join('; ')
}

/** Where the engine keeps times, beside the jobs. */
const timedTables = [
  'sweeps',
  'breakers',
  'probes',
  'pauses',
  'rate_limits',
  'dedupe_windows',
  'events',
  'schedules',
  'dispatches',
  'kept_workers',
  'workers',
  'webhooks',
  'deliveries',
  'operations',
  'causes',
  'observations',
  'sweep_history',
  'audit_entries',
]

const timedTablesOf = (table: TableProfile, schema: string) => [
  qualified(table),
  ...timedTables.map((name) => `${schema}.${name}`),
]

/** Every stored time goes back by `ms`, which is the same as the clock going on by it. */
export async function elapse(pool: pg.Pool, table: TableProfile, schema: string, ms: number): Promise<void> {
  await pool.query(await elapseStatement(pool, timedTablesOf(table, schema)), [ms])
}

/** One statement for these tables, with `$1` for the milliseconds: whoever moves time often asks the catalogue once. */
export async function elapseStatement(
  pool: pg.Pool,
  names: string[],
  epochs?: TableProfile,
): Promise<string> {
  const { rows } = await pool.query<{
    name: string
    columns: string[] | null
    lists: string[] | null
    spans: string[] | null
    epochs: string[] | null
  }>(
    `select name,
            array_agg(attname::text) filter (where atttypid in ('timestamptz'::regtype, 'timestamp'::regtype)) as columns,
            array_agg(attname::text) filter (where atttypid = 'bigint'::regtype) as epochs,
            array_agg(attname::text) filter (where atttypid = 'timestamptz[]'::regtype) as lists,
            array_agg(attname::text) filter (where atttypid = 'tstzmultirange'::regtype) as spans
       from unnest($1::text[]) name join pg_attribute on attrelid = name::regclass
      where (atttypid in ('timestamptz'::regtype, 'timestamp'::regtype, 'timestamptz[]'::regtype,
                          'tstzmultirange'::regtype)
             or name = $2 and attname = any ($3) and atttypid = 'bigint'::regtype)
        and attnum > 0 and not attisdropped and attname <> 'server_started_at'
      group by name`,
    [
      names,
      epochs === undefined ? null : qualified(epochs),
      epochs === undefined ? [] : timeColumns.map((column) => columnName(epochs, column)),
    ],
  )
  const unitMs = epochs?.epochUnit === 's' ? 1000 : 1
  const shifts = rows.map(({ name, columns, lists, spans, epochs: counted }, index) => {
    const sets = [
      ...(counted ?? [])
        .map(quoteIdentifier)
        .map((column) => `${column} = ${column} - ($1::float8 / ${unitMs})::bigint`),
      ...(columns ?? []).map(quoteIdentifier).map((column) => `${column} = ${column} - $1 * interval '1 ms'`),
      ...(lists ?? [])
        .map(quoteIdentifier)
        .map(
          (column) =>
            `${column} = array(select at - $1 * interval '1 ms' from unnest(${column}) with ordinality each(at, n) order by n)`,
        ),
      ...(spans ?? [])
        .map(quoteIdentifier)
        .map(
          (column) =>
            `${column} = coalesce((select range_agg(tstzrange(lower(span) - $1 * interval '1 ms', upper(span) - $1 * interval '1 ms')) from unnest(${column}) span), '{}')`,
        ),
    ]
    return `shift_${index} as (update ${name} set ${sets.join(', ')})`
  })
  return `with ${shifts.join(', ')} select 1`
}

const columnOfField: Partial<Record<keyof Job, LogicalColumn>> = {
  id: 'id',
  type: 'type',
  queue: 'queue',
  payload: 'payload',
  priority: 'priority',
  owner: 'owner',
  dedupeKey: 'dedupe_key',
  stage: 'stage',
  expectedDurationMs: 'expected_duration_ms',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  queuedAt: 'queued_at',
  runAt: 'run_at',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
  lastAttemptAt: 'last_attempt_at',
  workerId: 'worker_id',
  leaseId: 'lease_id',
  leaseExpiresAt: 'lease_expires_at',
  heartbeatAt: 'heartbeat_at',
  deadlineAt: 'deadline_at',
  fence: 'fence',
  finishedLeaseId: 'finished_lease_id',
  attempt: 'attempt',
  failures: 'failures',
  crashes: 'crashes',
  timeouts: 'timeouts',
  releases: 'releases',
  interruptions: 'interruptions',
  maxAttempts: 'max_attempts',
  generation: 'generation',
  cancelRequestedAt: 'cancel_requested_at',
  reapedAt: 'reaped_at',
  result: 'result',
  traceparent: 'traceparent',
  backoffStepsMs: 'backoff_steps_ms',
  expiresAt: 'expires_at',
  group: 'group_key',
}

/** The status of a row, or the time that says it. */
function stateOf(
  table: TableProfile,
  { status = 'waiting' }: Partial<Job>,
  word: string,
): [string, unknown][] {
  if (table.stateColumns === undefined) return [[columnName(table, 'status'), word]]
  if (status === 'waiting') return []
  const name = table.stateColumns[status === 'cancelled' ? 'dead' : status]
  return name === undefined ? [] : [[name, new Date()]]
}

/** A row in any state, as an old worker or a hand would have left it. */
async function plantJob(pool: pg.Pool, table: TableProfile, fields: Partial<Job>): Promise<string> {
  const id = fields.id ?? randomUUID()
  const { waiting, running, succeeded, dead, cancelled } = table.statuses
  const words = { waiting, running: running[0], succeeded, dead, cancelled: cancelled ?? dead }
  const values = new Map<string, unknown>([
    [columnName(table, 'id'), id],
    ...stateOf(table, fields, words[fields.status ?? 'waiting']),
    [columnName(table, 'type'), fields.type ?? 'planted'],
  ])
  for (const [field, column] of Object.entries(columnOfField)) {
    const value = fields[field as keyof Job]
    if (value === undefined || field === 'id' || field === 'type') continue
    values.set(
      columnName(table, column),
      field === 'payload' || field === 'result' ? JSON.stringify(value) : value,
    )
  }
  // Where a lock has a time of its own, an old worker began at it.
  if (table.hasLockTime === true && fields.startedAt !== undefined)
    values.set(columnName(table, 'last_attempt_at'), fields.startedAt)
  if (fields.error !== undefined && fields.error !== null) {
    for (const [part, value] of Object.entries(fields.error)) {
      values.set(columnName(table, `error_${part}` as LogicalColumn), value)
    }
  }
  const names = [...values.keys()].map(quoteIdentifier)
  const { rows: types } = await pool.query<{ attname: string; type: string }>(
    `select attname, atttypid::regtype::text as type from pg_attribute where attrelid = $1::regclass`,
    [qualified(table)],
  )
  const isTime = (name: string) =>
    Object.values(table.stateColumns ?? {}).includes(name) ||
    timeColumns.some((column) => columnName(table, column) === name)
  const places = [...values.keys()].map((name, index) => {
    const type = types.find(({ attname }) => attname === name)?.type
    if (type === 'timestamp without time zone')
      return `$${index + 1}::timestamptz at time zone interval '${timeZoneOf(table)}'`
    if (type === 'bigint' && isTime(name))
      return `floor(extract(epoch from $${index + 1}::timestamptz) * ${table.epochUnit === 's' ? 1 : 1000})`
    return `$${index + 1}`
  })
  await pool.query(`insert into ${qualified(table)} (${names.join(', ')}) values (${places.join(', ')})`, [
    ...values.values(),
  ])
  return id
}
