// Checks of a profile that need no database.
import { invalidArgument, UnstuckError } from '../../../../errors/index.ts'
import { logicalColumns, type Profile, stateTimes, type TableProfile } from '../../../../profile/profile.ts'
import { assertIdentifier, assertPlainName } from '../../render/identifiers.ts'
import { readRoutines } from '../../sql-files.ts'

/** Shared schemas, or PostgreSQL's own, in which the engine could not be told apart. */
const systemSchemas = new Set(['public', 'information_schema'])

export function assertEngineSchema(schema: string): void {
  assertPlainName('schema', schema)
  if (systemSchemas.has(schema)) {
    throw invalidArgument('schema', schema, 'a schema for the engine, such as unstuck')
  }
}

export function assertProfile(schema: string, profile: Profile): void {
  assertEngineSchema(schema)
  for (const table of profile.tables) {
    assertNames(table)
    assertOneColumnEach(table)
    assertOneRoleEach(table)
    if (profile.name !== 'native') assertNotNative(schema, table)
  }
  assertOnce(profile.tables, 'attachment', ({ attachment }) => attachment)
  assertOnce(profile.tables, 'table', ({ schema: place, table }) => `${place}.${table}`)
}

/** The rest of 63 bytes after the longest name of a function and the two underscores. */
function longestAttachmentName(): number {
  const names = readRoutines().flatMap(({ name, isPerTable }) => (isPerTable ? [name] : []))
  return 63 - '__'.length - Math.max(...names.map(({ length }) => length))
}

function assertNames(table: TableProfile): void {
  assertPlainName('attachment', table.attachment, longestAttachmentName())
  assertName('table schema', table.schema)
  assertName('table name', table.table)
  for (const [column, name] of Object.entries(table.columns)) assertName(`column ${column}`, name)
  for (const [key, name] of Object.entries(table.payload ?? {})) {
    assertName(`payload ${key}`, name)
    assertNoDollars('payload key', key)
  }
  for (const [state, name] of stateTimes(table)) assertName(`stateColumns ${state}`, name)
  if (table.teamEvents !== null) {
    const { schema, table: name, jobIdColumn, dataColumn } = table.teamEvents
    assertName('teamEvents schema', schema)
    assertName('teamEvents table', name)
    assertName('teamEvents jobIdColumn', jobIdColumn)
    assertName('teamEvents dataColumn', dataColumn)
  }
  for (const { name } of table.teamObjects ?? []) assertPlainName('teamObjects name', name)
  if (table.lastError !== undefined) {
    assertName('lastError column', table.lastError.column)
    assertNoDollars('lastError text', table.lastError.requeued + table.lastError.dead)
  }
  const { running, ...others } = table.statuses
  for (const word of [...running, ...Object.values(others)]) assertNoDollars('status word', word)
  assertNoDollars('default type', table.defaultType)
}

function assertName(what: string, name: string): void {
  assertIdentifier(what, name)
  assertNoDollars(what, name)
}

/** Function bodies are quoted by $$. */
function assertNoDollars(what: string, text: string | null): void {
  if (text?.includes('$$')) throw invalidArgument(what, text, 'text without $$')
}

function assertOneColumnEach(table: TableProfile): void {
  const own = logicalColumns.filter((column) => column !== 'status' || table.stateColumns === undefined)
  const twice = firstRepeated([
    ...own.map((column) => table.columns[column] ?? column),
    ...stateTimes(table).map(([, name]) => name),
    ...(table.lastError === undefined ? [] : [table.lastError.column]),
  ])
  if (twice === undefined) return
  throw refused(table, `column ${twice} plays two roles`, 'Map each logical column to a column of its own.')
}

function assertOneRoleEach(table: TableProfile): void {
  const { running, cancelled, ...others } = table.statuses
  const words = [...Object.values(others), ...new Set(running), ...(cancelled === null ? [] : [cancelled])]
  const twice = firstRepeated(words)
  if (twice === undefined) return
  const hint =
    'Give waiting, running, succeeded and dead a word each. A null for cancelled means dead with a code.'
  throw refused(table, `the status word '${twice}' plays two roles`, hint)
}

function assertNotNative(schema: string, table: TableProfile): void {
  if (table.attachment === 'native' || (table.schema === schema && table.table === 'jobs')) {
    throw refused(
      table,
      'the attachment native and its table are the engine’s own',
      'Choose another name for the attachment.',
    )
  }
}

function assertOnce(tables: TableProfile[], what: string, of: (table: TableProfile) => string): void {
  const twice = firstRepeated(tables.map(of))
  if (twice === undefined) return
  throw new UnstuckError('TABLE_UNSUPPORTED', `profile: ${what} ${twice} is there twice`, {
    hint: 'Give each table one attachment of its own.',
  })
}

function firstRepeated(texts: string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) !== index)
}

function refused(table: TableProfile, problem: string, hint: string): UnstuckError {
  return new UnstuckError('TABLE_UNSUPPORTED', `profile of ${table.schema}.${table.table}: ${problem}`, {
    hint,
  })
}
