// Installs the engine and attaches tables. Everything but concurrent indexes is one transaction: all of it or nothing. A run
// that was interrupted while it built indexes is resumed by running it again.
import { isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import { nativeProfile } from '../../../profile/native.ts'
import { columnName, type Profile } from '../../../profile/profile.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql } from '../sql-files.ts'
import { columnStatements } from './column-statements.ts'
import { assertStatusWords, inspectTable, type TableFacts } from './inspect-table.ts'
import { holdMigrationLock, type MigrationSession, withMigrationSession } from './migration-session.ts'
import {
  assertProfileNames,
  attachmentFunctions,
  coreFunctions,
  functionsDigest,
  indexStatements,
  migrations,
} from './plan.ts'

export interface MigrateOptions {
  databaseUrl: string
  schema: string
  profile: Profile
  /** How long a statement may wait for a lock before it gives way to the team's traffic. */
  lockTimeoutMs?: number
  onStep?: (step: string) => void
  /** Only migrations up to this name: for tests of upgrades. */
  upTo?: string
}

const oldestServer = 14
const lockRetries = 10

export async function migrateUp(options: MigrateOptions): Promise<void> {
  const { databaseUrl, schema, profile, lockTimeoutMs = 2_000 } = options
  assertProfileNames(schema, profile)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native' }
  await withMigrationSession({ databaseUrl, lockTimeoutMs }, async (session) => {
    await assertServer(session, base)
    await holdMigrationLock(session, base, 60_000)
    const attachments = await attachmentsOf(session, options, base)
    await retryOnLock(options, () =>
      session.transaction(async () => {
        await installCore(session, options, base)
        for (const attachment of attachments) await attachTable(session, attachment, options)
      }),
    )
    for (const { facts, render: table } of attachments) {
      if (table.isConcurrent === true) await buildIndexes(session, table, facts, options)
    }
  })
}

interface Attachment {
  render: RenderOptions
  facts: TableFacts | null
}

/** The native table is always there; a profile's own tables are looked at before anything is written. */
async function attachmentsOf(
  session: MigrationSession,
  options: MigrateOptions,
  base: RenderOptions,
): Promise<Attachment[]> {
  const attachments: Attachment[] = [{ render: base, facts: null }]
  if (options.profile.name === 'native') return attachments
  for (const table of options.profile.tables) {
    const render: RenderOptions = {
      schema: options.schema,
      table,
      profile: options.profile.name,
      isConcurrent: true,
    }
    const facts = await inspectTable(session, render)
    const statusType = facts.statusType === undefined ? {} : { statusType: facts.statusType }
    attachments.push({ render: { ...render, ...statusType }, facts })
  }
  return attachments
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

async function installCore(
  session: MigrationSession,
  options: MigrateOptions,
  base: RenderOptions,
): Promise<void> {
  await session.run(render(readSql('attach', 'schema'), base))
  const applied = new Set((await session.query('list_migrations', base)).map((row) => String(row['name'])))
  const known = migrations()
  const stranger = [...applied].find((name) => !known.some((migration) => migration.name === name))
  if (stranger !== undefined) {
    throw new UnstuckError('SCHEMA_NEWER', `migration ${stranger} is not known to this version of unstuck`, {
      hint: 'The schema was installed by a newer version: upgrade this one.',
    })
  }
  for (const { name, text } of known) {
    if (applied.has(name) || (options.upTo !== undefined && name > options.upTo)) continue
    options.onStep?.(`migration ${name}`)
    await session.run(render(text, base))
    await session.query('record_migration', base, [name])
  }
  if (options.upTo !== undefined) return
  for (const { text } of coreFunctions(base)) await session.run(text)
}

async function attachTable(
  session: MigrationSession,
  attachment: Attachment,
  options: MigrateOptions,
): Promise<void> {
  if (options.upTo !== undefined) return
  const { render: table, facts } = attachment
  const name = `${table.table.schema}.${table.table.table}`
  options.onStep?.(`attach ${name}`)
  await session.run(render(readSql('attach', 'register'), table))
  if (facts !== null) {
    await assertStatusWords(session, table)
    await addColumns(session, table, facts)
  } else {
    for (const { sql } of indexStatements(table)) await session.run(sql)
  }
  const functions = attachmentFunctions(table)
  for (const { text } of functions) await session.run(text)
  await session.query('record_functions', table, [functionsDigest(functions)])
  await rehearse(session, table)
}

async function addColumns(session: MigrationSession, table: RenderOptions, facts: TableFacts): Promise<void> {
  const missing = columnStatements().filter(
    ({ column }) => !(columnName(table.table, column) in facts.columns),
  )
  if (missing.length === 0) return
  for (const { sql } of missing) await session.run(render(sql, table))
  await session.query('record_columns', table, [missing.map(({ column }) => columnName(table.table, column))])
}

/** Every function runs once and leaves nothing behind. */
async function rehearse(session: MigrationSession, table: RenderOptions): Promise<void> {
  await session.run('savepoint rehearsal')
  await session.run(render(readSql('attach', 'rehearsal'), table))
  await session.run('rollback to savepoint rehearsal')
}

/** A build that failed leaves an invalid index, which `if not exists` would take for done: it is dropped first. */
async function buildIndexes(
  session: MigrationSession,
  table: RenderOptions,
  facts: TableFacts | null,
  options: MigrateOptions,
): Promise<void> {
  const built: string[] = []
  for (const { name, sql } of indexStatements(table)) {
    if (facts?.indexes[name] === true) continue
    options.onStep?.(`index ${name}`)
    await retryOnLock(options, async () => {
      const fresh = await inspectTable(session, table)
      if (fresh.indexes[name] === false)
        await session.run(render(readSql('attach', 'drop_index'), { ...table, index: name }))
      await session.run(sql)
    })
    built.push(name)
  }
  if (built.length > 0) await session.query('record_indexes', table, [built])
}

async function retryOnLock(options: MigrateOptions, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isUnstuckError(error, 'LOCK_TIMEOUT') || attempt >= lockRetries) throw error
      options.onStep?.(`a lock was not to be had; waiting to try again (${attempt} of ${lockRetries})`)
      await new Promise((resolve) => setTimeout(resolve, 250 * attempt))
    }
  }
}
