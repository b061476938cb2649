// Attaches one table in three steps, so that it is locked only while columns are added, and never while waiting for another
// lock: registration and columns; indexes, built concurrently; functions, tested on a copy. A failed step is undone, or
// resumed by the next run.
import { isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import { columnName } from '../../../profile/profile.ts'
import { hasUniqueKeys, replacedDedupeIndex, replacedIndexes } from '../render/index-names.ts'
import { type RenderOptions, render } from '../render/render.ts'
import { readSql } from '../sql-files.ts'
import { usableIndexes } from './inspect/index-forms.ts'
import { readTable, type TableFacts } from './inspect/inspect-table.ts'
import { unsupported } from './inspect/unsupported.ts'
import { rehearse, replaceFunctions } from './install-functions.ts'
import type { MigrationSession } from './session/migration-session.ts'
import {
  defaultLockTimeoutMs,
  type LockPatience,
  lockNotGranted,
  retryOnLock,
  whileBuilding,
} from './session/retry-on-lock.ts'
import { columnStatements } from './statements/column-statements.ts'
import {
  attachmentFunctions,
  dropStatement,
  functionsDigest,
  type IndexStatement,
  indexStatements,
  wantedIndexes,
} from './statements/plan.ts'
import { installTeamObjects } from './team-objects.ts'

export interface Attachment {
  options: RenderOptions
  facts: TableFacts
  /** Not attached yet, or only partly. */
  isNew: boolean
  /** Function names recorded by an older version. */
  formerFunctions: string[]
  /** Phases of the team's objects. Default: all. */
  phases?: number[]
  /** Also create the indexes that the team's document names. */
  hasDocumentIndexes?: boolean
  /** A new attachment starts in mode observe. */
  startsObserved?: boolean
}

export const nameOf = ({ table }: RenderOptions): string => `${table.schema}.${table.table}`

export async function attachTable(
  session: MigrationSession,
  attachment: Attachment,
  patience: LockPatience,
): Promise<void> {
  const { options } = attachment
  const indexes = wantedIndexes({ ...options, isConcurrent: true }, attachment.hasDocumentIndexes)
  const name = nameOf(options)
  patience.onStep?.(`attach ${name}`)
  const locked = (error: unknown, what: string) =>
    isUnstuckError(error, 'LOCK_TIMEOUT')
      ? told(error, `table ${name}: ${lockNotGranted(patience)}; ${what}`, runAgain)
      : error
  try {
    await retryOnLock(patience, () => session.transaction(() => addColumns(session, attachment, indexes)))
  } catch (error) {
    throw locked(error, 'nothing was changed on it')
  }
  try {
    await buildIndexes(session, options, patience, indexes)
    patience.onStep?.(`functions of ${name}`)
    await retryOnLock(patience, () =>
      session.transaction(() => installFunctions(session, attachment, patience)),
    ).catch((error: unknown) => {
      throw locked(error, 'it has its columns and indexes, but not the functions of this version')
    })
    await dropReplacedIndexes(session, options, patience)
  } catch (error) {
    // A lock timeout can be resumed, so that an hour of index builds is not thrown away.
    if (isUnstuckError(error, 'LOCK_TIMEOUT') || !attachment.isNew) throw error
    throw await takenBack(session, options, patience, error)
  }
}

const runAgain = 'Run it again when the table is less busy: it continues where it stopped.'

async function addColumns(
  session: MigrationSession,
  { options, facts }: Attachment,
  indexes: IndexStatement[],
): Promise<void> {
  const statements = columnStatements(options.absent)
  const nameIn = ({ column }: (typeof statements)[number]) => columnName(options.table, column)
  await session.run(render(readSql('attach/table', 'register'), options))
  await session.query('record_columns', options, [statements.map(nameIn)])
  await session.query('record_indexes', options, [indexes.map(({ name }) => name)])
  const missing = statements.filter((statement) => !(nameIn(statement) in facts.columns))
  // In one message, because the table is locked from the first statement to the commit.
  const changes = missing.map(({ sql }) => render(sql, options))
  if (changes.length > 0) await session.inTeamsPath(() => session.run(changes.join('\n')))
}

/** Builds missing indexes, and those again that are invalid or of a former profile: `if not exists` would accept them. */
export async function buildIndexes(
  session: MigrationSession,
  options: RenderOptions,
  patience: LockPatience,
  wanted = indexStatements({ ...options, isConcurrent: true }),
): Promise<void> {
  const indexes = usableIndexes(await readTable(session, options), wanted)
  const usual = { ...patience, lockTimeoutMs: patience.lockTimeoutMs ?? defaultLockTimeoutMs }
  try {
    for (const index of wanted) {
      if (indexes[index.name] === true) continue
      patience.onStep?.(`index ${index.name}`)
      const building = isConcurrent(index) ? whileBuilding(usual) : usual
      await limitLocks(session, building.lockTimeoutMs)
      await retryOnLock(patience, () => buildIndex(session, options, index)).catch(async (error: unknown) => {
        throw await indexError(session, options, index, building, error)
      })
    }
  } finally {
    // The following statements may block others. Ignore a lost connection, which runs nothing more.
    await limitLocks(session, usual.lockTimeoutMs).catch(() => {})
  }
}

const isConcurrent = ({ sql }: IndexStatement) => /^create\s+(unique\s+)?index\s+concurrently\b/.test(sql)

async function limitLocks(session: MigrationSession, timeoutMs: number): Promise<void> {
  await session.run(readSql('attach/session', 'set_lock_timeout'), [String(timeoutMs)])
}

async function buildIndex(
  session: MigrationSession,
  options: RenderOptions,
  index: IndexStatement,
): Promise<void> {
  const indexes = usableIndexes(await readTable(session, options), [index])
  if (indexes[index.name] === false) await dropIndex(session, options, index.name)
  await session.inTeamsPath(() => session.run(index.sql))
}

/** Last, because the former functions used them. */
export async function dropReplacedIndexes(
  session: MigrationSession,
  options: RenderOptions,
  patience: LockPatience,
): Promise<void> {
  const { indexes } = await readTable(session, options)
  const replaced = replacedIndexes(options).filter((name) => name in indexes)
  if (replaced.length === 0) return
  const usual = { ...patience, lockTimeoutMs: patience.lockTimeoutMs ?? defaultLockTimeoutMs }
  await limitLocks(session, whileBuilding(usual).lockTimeoutMs)
  try {
    for (const name of replaced) {
      patience.onStep?.(`index ${name} dropped: ${whyReplaced(options, name)}`)
      await retryOnLock(patience, () => dropIndex(session, options, name))
    }
  } finally {
    await limitLocks(session, usual.lockTimeoutMs).catch(() => {})
  }
}

function whyReplaced(options: RenderOptions, name: string): string {
  if (name !== replacedDedupeIndex(options)) return 'one with the columns of now has taken its place'
  return hasUniqueKeys(options)
    ? 'a unique one has taken its place'
    : 'it was unique, and the profile does not call dedupe keys unique'
}

async function dropIndex(session: MigrationSession, options: RenderOptions, index: string): Promise<void> {
  await session.run(dropStatement({ ...options, isConcurrent: true }, index))
}

async function indexError(
  session: MigrationSession,
  options: RenderOptions,
  { name }: IndexStatement,
  patience: LockPatience,
  error: unknown,
): Promise<unknown> {
  if (isUnstuckError(error, 'LOCK_TIMEOUT')) {
    return told(
      error,
      `index ${name}: ${lockNotGranted(patience)}; ${nameOf(options)} has its columns, but not all indexes yet`,
      `A transaction is open for long. ${runAgain}`,
    )
  }
  // It would slow down every writer and serve no query. If the drop fails, the next run does it.
  await dropIndex(session, options, name).catch(() => {})
  if (!isUnstuckError(error, 'ROW_REFUSED') || error.details?.['sqlState'] !== '23505') return error
  const { detail } = error.cause as { detail?: string }
  return unsupported(
    options.table,
    `index ${name} cannot be built, for two unfinished jobs have one dedupe key${detail === undefined ? '' : `: ${detail}`}`,
    'End one of them, or leave hasUniqueDedupeKey out of the profile.',
  )
}

async function installFunctions(
  session: MigrationSession,
  { options, formerFunctions, phases, isNew, startsObserved }: Attachment,
  { onStep }: LockPatience,
): Promise<void> {
  const functions = attachmentFunctions(options)
  await replaceFunctions(session, options, functions, formerFunctions)
  await session.query('record_functions', options, [
    functionsDigest(functions),
    functions.map(({ name }) => name),
  ])
  onStep?.(`test run of ${nameOf(options)}`)
  await rehearse(session, options)
  await session.inTeamsPath(() => session.query('refresh_mode', options))
  if (isNew && startsObserved === true) await session.run(render(readSql('attach/table', 'observe'), options))
  await installTeamObjects(session, options, phases)
}

async function takenBack(
  session: MigrationSession,
  options: RenderOptions,
  patience: LockPatience,
  error: unknown,
): Promise<unknown> {
  const isBack = await retryOnLock(patience, () =>
    session.transaction(() => session.query('detach_table', options, [options.table.attachment])),
  ).then(
    () => true,
    () => false,
  )
  if (!isUnstuckError(error)) return error
  const end = isBack
    ? `What was added to ${nameOf(options)} was taken back.`
    : `What was added to ${nameOf(options)} could not be taken back: unstuck migrate down does it.`
  return told(error, error.message, [error.hint, end].filter(Boolean).join(' '))
}

/** The same error, with a message that says what was changed. */
export function told(error: UnstuckError, message: string, hint?: string): UnstuckError {
  const said = hint ?? error.hint
  return new UnstuckError(error.code, message, {
    cause: error,
    details: error.details,
    ...(said === undefined ? {} : { hint: said }),
  })
}
