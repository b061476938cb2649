// Reads the facts one after the other, each in its own read-only transaction. Read errors are recorded and the rest goes on:
// stopping at the first missing permission would report least when most is wrong.
import { isUnstuckError } from '../errors/index.ts'
import { type Policy, type PolicyOverride, withOverride } from '../policy/policy.ts'
import { differingSettings, policyDifferences } from '../policy/policy-differences.ts'
import { ageRuleOf } from '../profile/age-rule-of.ts'
import { columnName, type TableProfile } from '../profile/profile.ts'
import type { TimeAhead } from '../profile/time-type.ts'
import { findUnhandledTypes } from '../store/find-unhandled-types.ts'
import type { JobStore } from '../store/job-store.ts'
import type {
  DoctorFacts,
  IndexUse,
  MigrationFacts,
  RouteFacts,
  ServerFacts,
  TableFacts,
  Unreadable,
} from './facts.ts'
import { indexesUsed } from './indexes-used.ts'
import { type Row, toExposedObject, toHiddenRows, toHolder, toRelation, toServer } from './rows.ts'

export interface DoctorSources {
  /** Runs a file of sql/doctor for one table, in a read-only transaction. */
  look(name: string, table: TableProfile, params?: unknown[]): Promise<Row[]>
  migrations(): Promise<MigrationFacts>
  route(): Promise<RouteFacts>
  /** The indexes that attach creates, by purpose. */
  indexes(table: TableProfile): Promise<Record<'claim' | 'sweep', { name: string; create: string }>>
  timesAhead(table: TableProfile): Promise<TimeAhead[]>
  /** As JSON with SQL names; null if nothing is overridden. */
  policyText(override: PolicyOverride): string | null
  tables: { table: TableProfile; store: JobStore }[]
  override: PolicyOverride
  connections: number
  /** The profile is defined in the config file. */
  isOwnProfile: boolean
}

type Attempt = <T>(what: string, read: () => Promise<T>) => Promise<T | null>

export async function readFacts(sources: DoctorSources): Promise<DoctorFacts> {
  const unreadable: Unreadable[] = []
  const attempt: Attempt = async (what, read) => {
    try {
      return await read()
    } catch (error) {
      if (isUnstuckError(error, 'DATABASE_UNREACHABLE') || isUnstuckError(error, 'INTERNAL')) throw error
      unreadable.push({ what, reason: error instanceof Error ? error.message : String(error) })
      return null
    }
  }
  const [first] = sources.tables
  if (first === undefined) throw new Error('a profile has at least one table')
  const server = await readServer(sources, first.table)
  const route = await readRoute(sources, unreadable)
  const migrations = await attempt('migrations', () => sources.migrations())
  const horizon = await attempt('long transactions', async () =>
    (await sources.look('held_horizon', first.table)).map(toHolder),
  )
  const isInstalled = migrations?.isInstalled !== false
  const breakers = isInstalled ? await attempt('breakers', () => first.store.listBreakers()) : null
  const tables: TableFacts[] = []
  for (const { table, store } of sources.tables) {
    const name = `${table.schema}.${table.table}`
    const isAttached = migrations?.tables.find((status) => status.table === name)?.state !== 'not attached'
    if (isInstalled && isAttached) tables.push(await readTable(sources, table, store, attempt))
  }
  const { connections } = sources
  return { server, route, connections, migrations, horizon, breakers, tables, unreadable }
}

async function readServer(sources: DoctorSources, table: TableProfile): Promise<ServerFacts> {
  // The first query also pays for setting up the connection.
  await sources.look('server', table)
  const sentAt = Date.now()
  const startedAt = performance.now()
  const [row] = await sources.look('server', table)
  const tookMs = performance.now() - startedAt
  // A look is five statements, and the third reads the clock.
  return toServer(row ?? {}, { hostClockMs: sentAt + tookMs / 2, roundTripMs: tookMs / 5 })
}

/** The direct URL may be unreachable while the database is not. */
async function readRoute(sources: DoctorSources, unreadable: Unreadable[]): Promise<RouteFacts | null> {
  try {
    return await sources.route()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    unreadable.push({ what: 'the direct connection', reason })
    return null
  }
}

async function readTable(
  sources: DoctorSources,
  table: TableProfile,
  store: JobStore,
  attempt: Attempt,
): Promise<TableFacts> {
  const { override } = sources
  const name = `${table.schema}.${table.table}`
  const of = (what: string) => `${what} of ${name}`
  const overrideText = sources.policyText(override)
  const stored = await attempt(of('policy'), () => store.readPolicy())
  return {
    name,
    stored,
    override,
    storeOverride: await attempt(of('policy'), () => storePolicy(sources, table, override)),
    profileDrift: await attempt(of('policy'), () => readProfileDrift(sources, table, stored)),
    ownMaxima: await attempt(of('maxima'), () => readOwnMaxima(sources, table, stored)),
    ageRule: stored === null ? null : ageRuleOf(table, withOverride(stored, override)),
    health: await attempt(of('health'), () => store.readHealth({ policy: override })),
    mode: await attempt(of('mode'), async () => (await store.readMode()).mode),
    longOverdue: await attempt(of('overdue jobs'), async () => {
      const [row] = await sources.look('long_overdue', table, [overrideText])
      const oldestMs = row?.['oldest_ms'] as number | null
      return { jobs: Number(row?.['jobs']), ids: (row?.['ids'] ?? []) as string[], oldestMs }
    }),
    releasedOften: await attempt(of('released jobs'), async () => {
      const [row] = await sources.look('released_often', table)
      const ids = (row?.['ids'] ?? []) as string[]
      return { jobs: Number(row?.['jobs']), ids, most: Number(row?.['most'] ?? 0) }
    }),
    timesAhead: await attempt(of('times'), () => sources.timesAhead(table)),
    unknownWords: await attempt(of('status words'), async () =>
      (await sources.look('unknown_words', table)).map((row) => ({
        word: row['word'] as string | null,
        jobs: Number(row['jobs']),
      })),
    ),
    relation: await attempt(of('storage'), async () => {
      const beaten = [columnName(table, 'lease_expires_at'), columnName(table, 'heartbeat_at')]
      const [row] = await sources.look('relation', table, [beaten, columnName(table, 'id')])
      return row === undefined ? null : toRelation(row)
    }),
    ...(await readRights(sources, table, attempt, of)),
    claim: await attempt(of('claim'), () => readIndexUse(sources, table, 'claim')),
    sweep: await attempt(of('sweep'), () => readIndexUse(sources, table, 'sweep')),
    searchIndexes: await attempt(of('search indexes'), async () =>
      (await sources.look('search_indexes', table)).map((row) => ({
        column: String(row['searched']),
        create: String(row['statement']),
      })),
    ),
    dispatchesWaiting:
      stored !== null && withOverride(stored, override).dispatch !== 'off'
        ? await attempt(of('dispatches'), () => store.countDispatches())
        : null,
    unhandled: await attempt(of('waiting jobs'), () =>
      findUnhandledTypes(store, ({ isPaused, due }) => !isPaused && due > 0),
    ),
    workers: await attempt(of('workers'), async () =>
      (await store.listWorkers()).filter(({ state }) => state !== 'gone' && state !== 'stopped'),
    ),
  }
}

async function readRights(
  sources: DoctorSources,
  table: TableProfile,
  attempt: Attempt,
  of: (what: string) => string,
): Promise<Pick<TableFacts, 'missingRights' | 'hiddenRows' | 'exposedObjects'>> {
  const events = [table.teamEvents?.schema ?? null, table.teamEvents?.table ?? null]
  return {
    missingRights: await attempt(of('permissions'), async () =>
      (await sources.look('missing_rights', table, events)).map((row) => ({
        object: String(row['object']),
        missing: String(row['missing']),
        fix: String(row['fix']),
      })),
    ),
    hiddenRows: await attempt(of('row security'), async () =>
      (await sources.look('hidden_rows', table, events)).map(toHiddenRows),
    ),
    exposedObjects: await attempt(of('exposure'), async () =>
      (await sources.look('exposed_objects', table)).map(toExposedObject),
    ),
  }
}

/** Returns the statement that stores it. */
async function storePolicy(
  sources: DoctorSources,
  table: TableProfile,
  change: PolicyOverride,
): Promise<string | null> {
  const text = sources.policyText(change)
  if (text === null) return null
  const [row] = await sources.look('store_policy', table, [text])
  return String(row?.['statement'])
}

async function readProfileDrift(
  sources: DoctorSources,
  table: TableProfile,
  stored: Policy | null,
): Promise<TableFacts['profileDrift']> {
  if (!sources.isOwnProfile || stored === null) return null
  const differences = policyDifferences(table.policy, stored)
  const statement = await storePolicy(sources, table, differingSettings(table.policy, differences))
  return { differences, statement }
}

async function readOwnMaxima(
  sources: DoctorSources,
  table: TableProfile,
  stored: Policy | null,
): Promise<TableFacts['ownMaxima']> {
  if (stored === null || table.judgesWaiting === true || table.stateColumns !== undefined) return []
  const { maxAttempts } = withOverride(stored, sources.override)
  const names = [columnName(table, 'max_attempts'), columnName(table, 'status')]
  const words = [table.statuses.waiting, ...table.statuses.running]
  const rows = await sources.look('own_maximum', table, [maxAttempts, ...names, words])
  return rows.map((row) => ({
    maximum: Number(row['maximum']),
    jobs: Number(row['jobs']),
    isDefault: row['is_default'] === true,
    fix: String(row['fix']),
  }))
}

async function readIndexUse(
  sources: DoctorSources,
  table: TableProfile,
  verb: 'claim' | 'sweep',
): Promise<IndexUse> {
  const { name: expected, create } = (await sources.indexes(table))[verb]
  const [row] = await sources.look(`explain_${verb}`, table)
  const used = indexesUsed(row?.['QUERY PLAN'], table.table)
  const [there] = await sources.look('has_index', table, [expected])
  return { expected, create, isThere: there?.['is_there'] === true, used }
}
