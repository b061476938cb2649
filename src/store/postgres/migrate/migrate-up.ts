// Installs the engine in one transaction, then attaches each table on its own (attach-table.ts). A failed run leaves
// nothing half-installed; an interrupted one is resumed by the next.
import { invalidArgument, isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import { nativeProfile } from '../../../profile/native.ts'
import type { Feature, Profile } from '../../../profile/profile.ts'
import type { Row } from '../connection/executor.ts'
import { type RenderOptions, render } from '../render/render.ts'
import { readSql, type SqlFile } from '../sql-files.ts'
import {
  type Attachment,
  attachTable,
  buildIndexes,
  dropReplacedIndexes,
  nameOf,
  told,
} from './attach-table.ts'
import { assertCitus, assertOnlyNative, isDistributedSchema } from './distribution.ts'
import { assertProfile } from './inspect/check-profile.ts'
import { inspectTable, renderFacts } from './inspect/inspect-table.ts'
import { unsupported } from './inspect/unsupported.ts'
import { rehearse, replaceFunctions } from './install-functions.ts'
import { removeEngine } from './migrate-down.ts'
import { newerSchema } from './newer-schema.ts'
import {
  holdMigrationLock,
  type MigrationSession,
  withMigrationSession,
} from './session/migration-session.ts'
import {
  defaultLockTimeoutMs,
  type LockPatience,
  lockNotGranted,
  retryOnLock,
} from './session/retry-on-lock.ts'
import { withShard } from './shard-number.ts'
import {
  attachmentFunctions,
  engineFunctions,
  functionsDigest,
  indexStatements,
  migrations,
  ownNames,
  tableGrants,
  unboundRoutines,
} from './statements/plan.ts'
import { statementsOf } from './statements/statement-text.ts'

export interface MigrateOptions extends LockPatience {
  databaseUrl: string
  schema: string
  profile: Profile
  /** Number of the shard. Default: the installed one, else 0. */
  shard?: number
  /** Phases of the team's objects to install, always including the first. Default: all. */
  phases?: number[]
  /** Also create the indexes that the team's document names. */
  hasDocumentIndexes?: boolean
  /** Features whose columns are added, beside those that the profile uses. */
  features?: readonly Feature[]
  /** Newly attached tables start in mode observe. Default: reap. */
  startsObserved?: boolean
  /** Distributes the schema over a Citus cluster, if it is not yet. */
  distributes?: boolean
  /** Default: those of sql/migrations. Tests of upgrades add the next one. */
  migrations?: SqlFile[]
}

const oldestServer = 14

export async function migrateUp(options: MigrateOptions): Promise<void> {
  const { databaseUrl, schema, profile, lockTimeoutMs = defaultLockTimeoutMs } = options
  assertProfile(schema, profile)
  const native: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native' }
  await withMigrationSession({ databaseUrl, lockTimeoutMs }, async (session) => {
    await assertServer(session, native)
    await holdMigrationLock(session, native, 60_000)
    const [facts = {}] = await session.query('server_facts', native)
    const isFresh = facts['is_installed'] !== true
    if (isFresh) await assertSchemaIsFree(session, native, facts)
    const attached = isFresh ? [] : await session.query('list_attachments', native)
    if (options.distributes === true) assertCitus(facts)
    const isPlaced = await isDistributedSchema(session, native, facts)
    const numbered = await withShard(session, native, facts, options.shard)
    const base = { ...numbered, isDistributed: isPlaced || options.distributes === true }
    if (base.isDistributed) assertOnlyNative(schema, profile, attached)
    const attachments = await inspectTables(session, options, attached)
    const formerFunctions = functionsOf(attached.find(({ name }) => name === 'native'))
    const hasJobs = facts['has_jobs'] === true
    await installEngine(session, options, base, { formerFunctions, hasJobs, isPlaced })
    try {
      // Built concurrently, because the table may be in use.
      if (hasJobs) {
        await buildIndexes(session, base, options)
        await dropReplacedIndexes(session, base, options)
      }
      await attachTables(session, attachments, options)
    } catch (error) {
      throw isFresh ? await withoutEngine(session, base, error) : error
    }
  })
}

async function assertServer(session: MigrationSession, base: RenderOptions): Promise<void> {
  const [facts] = await session.query('server_facts', base)
  const version = String(facts?.['version'])
  if (Number(facts?.['version_number']) < oldestServer * 10_000) {
    throw new UnstuckError(
      'TABLE_UNSUPPORTED',
      `PostgreSQL ${version}: unstuck needs ${oldestServer} or newer`,
    )
  }
  if (facts?.['is_standby'] === true || facts?.['is_read_only'] === true) {
    throw new UnstuckError(
      'PERMISSION_DENIED',
      'this server is read-only: a standby, or default_transaction_read_only',
      {
        hint: 'Give the address of the primary.',
      },
    )
  }
}

/** An existing schema must not contain objects with names of the engine: they would be mistaken for ours. */
export async function assertSchemaIsFree(
  session: MigrationSession,
  base: RenderOptions,
  facts: Row,
): Promise<void> {
  const { tables, types } = ownNames(migrations().map(({ name }) => name))
  const routines = engineFunctions(base).map(({ name }) => name)
  const kept = new Set([
    ...(facts['has_jobs'] === true ? ['jobs'] : []),
    ...(facts['has_events'] === true ? ['events'] : []),
  ])
  const namesakes = await session.query('list_namesakes', base, [[...tables, ...types], routines])
  const stranger = namesakes.find(({ name }) => !kept.has(String(name)))
  if (stranger === undefined) return
  const found = `${base.schema}, which has a ${String(stranger['kind'])} ${String(stranger['name'])} of its own`
  throw invalidArgument('schema', found, 'a schema without names of the engine')
}

/** Inspects the tables of the profile before anything is written. */
async function inspectTables(
  session: MigrationSession,
  {
    schema,
    profile,
    phases,
    features = [],
    hasDocumentIndexes = false,
    startsObserved = false,
  }: MigrateOptions,
  attached: Row[],
): Promise<Attachment[]> {
  const attachments: Attachment[] = []
  if (profile.name === 'native') return attachments
  for (const table of profile.tables) {
    const options: RenderOptions = { schema, table, profile: profile.name, isConcurrent: true }
    const row = attached.find(({ name }) => name === table.attachment)
    const facts = await inspectTable(session, options, { isAttached: row !== undefined })
    assertNotTaken(options, attached)
    attachments.push({
      options: { ...options, ...renderFacts(table, facts, features) },
      facts,
      isNew: (row?.['functions_digest'] ?? null) === null,
      formerFunctions: functionsOf(row),
      ...(phases === undefined ? {} : { phases }),
      hasDocumentIndexes,
      startsObserved,
    })
  }
  return attachments
}

const functionsOf = (attached: Row | undefined) => (attached?.['functions'] ?? []) as string[]

/** Refuses a table attached under another name, and an attachment name of another existing table. */
export function assertNotTaken(options: RenderOptions, attached: Row[]): void {
  const { table } = options
  const hint = (name: string) =>
    `Take it off first, with the SQL function ${options.schema}.detach_table('${name}').`
  for (const row of attached) {
    const name = String(row['name'])
    const isSameTable = row['table_schema'] === table.schema && row['table_name'] === table.table
    if (isSameTable && name !== table.attachment) {
      throw unsupported(table, `it is attached as ${name} already`, hint(name))
    }
    if (!isSameTable && name === table.attachment && row['has_table'] === true) {
      const other = `${String(row['table_schema'])}.${String(row['table_name'])}`
      throw unsupported(table, `the attachment ${name} is that of ${other}`, hint(name))
    }
  }
}

interface EngineFacts {
  formerFunctions: string[]
  /** The native table existed before this run, with or without the engine. */
  hasJobs: boolean
  /** Citus has distributed the schema before this run. */
  isPlaced: boolean
}

async function installEngine(
  session: MigrationSession,
  options: MigrateOptions,
  base: RenderOptions,
  facts: EngineFacts,
): Promise<void> {
  try {
    await retryOnLock(options, () =>
      session.transaction(async () => {
        await applyMigrations(session, options, base, facts)
        // Before the functions: Citus distributes no table on whose columns a bound body depends.
        if (base.isDistributed === true && !facts.isPlaced) {
          options.onStep?.(`distribute schema ${base.schema}`)
          await session.query('distribute_schema', base)
        }
        await installNative(session, options, base, facts)
      }),
    )
  } catch (error) {
    if (!isUnstuckError(error, 'LOCK_TIMEOUT')) throw error
    throw told(error, `schema ${base.schema}: ${lockNotGranted(options)}; nothing was changed`)
  }
}

async function applyMigrations(
  session: MigrationSession,
  options: MigrateOptions,
  base: RenderOptions,
  { isPlaced }: EngineFacts,
): Promise<void> {
  await session.run(unboundRoutines(base))
  await session.run(render(readSql('attach/engine', 'schema'), base))
  const applied = new Set((await session.query('list_migrations', base)).map((row) => String(row['name'])))
  const known = options.migrations ?? migrations()
  const stranger = [...applied].find((name) => !known.some((migration) => migration.name === name))
  if (stranger !== undefined) throw newerSchema(stranger)
  for (const migration of known) {
    const { name, text } = migration
    if (applied.has(name)) continue
    options.onStep?.(`migration ${name}`)
    const statements = render(text, base)
    if (isPlaced) for (const statement of statementsOf(statements)) await session.run(statement)
    else await session.run(statements)
    for (const statement of tableGrants(base, migration)) await session.run(statement)
    await session.query('record_migration', base, [name])
  }
}

async function installNative(
  session: MigrationSession,
  { onStep }: MigrateOptions,
  base: RenderOptions,
  { formerFunctions, hasJobs }: EngineFacts,
): Promise<void> {
  onStep?.(`attach ${nameOf(base)}`)
  const functions = engineFunctions(base)
  await replaceFunctions(session, base, functions, formerFunctions)
  await session.run(render(readSql('attach/table', 'register'), base))
  if (!hasJobs) for (const { sql } of indexStatements(base)) await session.run(sql)
  const native = attachmentFunctions(base).map(({ name }) => name)
  await session.query('record_functions', base, [functionsDigest(functions), native])
  // Its columns are ours: the test run would tell nothing that its copies on every node are worth.
  if (base.isDistributed !== true) {
    onStep?.(`test run of ${nameOf(base)}`)
    await rehearse(session, base)
  }
  await session.inTeamsPath(() => session.query('refresh_mode', base))
}

async function attachTables(
  session: MigrationSession,
  attachments: Attachment[],
  options: MigrateOptions,
): Promise<void> {
  const done: string[] = []
  for (const attachment of attachments) {
    try {
      await attachTable(session, attachment, options)
    } catch (error) {
      if (done.length === 0 || !isUnstuckError(error)) throw error
      throw told(error, error.message, joined(error.hint, `${done.join(', ')} stays attached.`))
    }
    done.push(nameOf(attachment.options))
  }
}

/** Removes an engine that this run installed if no table of the profile was attached. */
async function withoutEngine(
  session: MigrationSession,
  base: RenderOptions,
  error: unknown,
): Promise<unknown> {
  let end = 'The engine was taken out again.'
  try {
    const attached = await session.query('list_attachments', base)
    if (attached.some(({ name }) => name !== 'native')) return error
    await session.transaction(() => removeEngine(session, base))
  } catch {
    // Report the first error.
    end = `The engine stays in schema ${base.schema}: unstuck migrate down takes it out.`
  }
  return isUnstuckError(error) ? told(error, error.message, joined(error.hint, end)) : error
}

const joined = (...sentences: (string | undefined)[]) => sentences.filter(Boolean).join(' ')
