// Removes an install table by table, and nothing else. Rows and columns of the application stay; so do native jobs,
// unless purged.
import { isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import { nativeProfile } from '../../../profile/native.ts'
import type { Row } from '../connection/executor.ts'
import { type RenderOptions, render } from '../render/render.ts'
import { readSql } from '../sql-files.ts'
import { told } from './attach-table.ts'
import { assertEngineSchema } from './inspect/check-profile.ts'
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
import { engineFunctions, migrations, ownNames } from './statements/plan.ts'
import { withLiterals } from './statements/statement-text.ts'

export interface MigrateDownOptions extends LockPatience {
  databaseUrl: string
  schema: string
  /** Drop native jobs and their events too. */
  isPurge?: boolean
  /** Only these tables, as schema.table; the engine stays. Default: all tables, and the engine. */
  only?: string[]
}

/** Returns false if nothing was installed. */
export async function migrateDown(options: MigrateDownOptions): Promise<boolean> {
  const { databaseUrl, schema, isPurge = false, only, lockTimeoutMs = defaultLockTimeoutMs } = options
  assertEngineSchema(schema)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], isPurge }
  return withMigrationSession({ databaseUrl, lockTimeoutMs }, async (session) => {
    await holdMigrationLock(session, base, 60_000)
    const [facts = {}] = await session.query('server_facts', base)
    if (facts['is_installed'] !== true) return isPurge && purgeKept(session, base, facts, options)
    await assertKnown(session, base)
    const attached = await session.query('list_attachments', base)
    const done: string[] = []
    const nameOf = (row: Row) => `${String(row['table_schema'])}.${String(row['table_name'])}`
    const isWanted = (row: Row) => row['name'] !== 'native' && (only?.includes(nameOf(row)) ?? true)
    const wanted = attached.reverse().filter(isWanted)
    if (only !== undefined) assertAttached(only, wanted.map(nameOf))
    for (const row of wanted) {
      const table = nameOf(row)
      options.onStep?.(`detach ${table}`)
      await inTurn(session, options, table, done, () => session.query('detach_table', base, [row['name']]))
      done.push(table)
    }
    if (only !== undefined) return true
    options.onStep?.('remove the engine')
    await inTurn(session, options, 'the engine', done, () => removeEngine(session, base))
    return true
  })
}

function assertAttached(asked: string[], attached: string[]): void {
  const stranger = asked.find((table) => !attached.includes(table))
  if (stranger === undefined) return
  throw new UnstuckError('TABLE_NOT_FOUND', `table ${stranger}: not attached`, {
    hint: 'unstuck migrate status lists the attached ones.',
  })
}

/** One transaction per table, so that waiting for one table holds no lock on another. */
async function inTurn(
  session: MigrationSession,
  options: MigrateDownOptions,
  what: string,
  done: string[],
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await retryOnLock(options, () => session.transaction(work))
  } catch (error) {
    if (!isUnstuckError(error, 'LOCK_TIMEOUT')) throw error
    const before = done.length === 0 ? 'nothing was changed' : `only ${done.join(', ')} was taken off before`
    throw told(
      error,
      `${what}: ${lockNotGranted(options)}; ${before}`,
      'Run it again: it continues where it stopped.',
    )
  }
}

/** This version does not know the names that a newer one created. */
async function assertKnown(session: MigrationSession, base: RenderOptions): Promise<void> {
  const known = new Set(migrations().map(({ name }) => name))
  const stranger = (await appliedMigrations(session, base)).find((name) => !known.has(name))
  if (stranger !== undefined) throw newerSchema(stranger)
}

async function appliedMigrations(session: MigrationSession, base: RenderOptions): Promise<string[]> {
  return (await session.query('list_migrations', base)).map((row) => String(row['name']))
}

/** Call in a transaction. Drops the names in the files of this version and those that the install recorded. */
export async function removeEngine(session: MigrationSession, base: RenderOptions): Promise<void> {
  const { tables, types } = ownNames(await appliedMigrations(session, base))
  const attached = await session.query('list_attachments', base)
  const recorded = attached.flatMap(({ functions }) => functions as string[])
  const routines = [...engineFunctions(base).map(({ name }) => name), ...recorded]
  await drop(session, base, [routines, tables, types])
}

/** Drops the tables that an earlier removal kept. */
async function purgeKept(
  session: MigrationSession,
  base: RenderOptions,
  facts: Row,
  options: MigrateDownOptions,
): Promise<boolean> {
  const kept = [
    ...(facts['has_jobs'] === true ? ['jobs'] : []),
    ...(facts['has_events'] === true ? ['events'] : []),
  ]
  if (kept.length === 0) return false
  options.onStep?.('drop the jobs that were kept')
  await inTurn(session, options, 'the jobs that were kept', [], () => drop(session, base, [[], kept, []]))
  return true
}

async function drop(session: MigrationSession, base: RenderOptions, names: string[][]): Promise<void> {
  await session.run(withLiterals(render(readSql('attach/engine', 'remove_engine'), base), names))
}
