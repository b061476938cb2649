import { nativeProfile } from '../../../../profile/native.ts'
import { columnName, type Profile } from '../../../../profile/profile.ts'
import { type RenderOptions, render } from '../../render/render.ts'
import { readSql, type SqlFile } from '../../sql-files.ts'
import { readQuery } from '../../sql-queries.ts'
import { assertProfile } from '../inspect/check-profile.ts'
import { teamObjectValues } from '../team-objects.ts'
import { type ColumnStatement, columnStatements } from './column-statements.ts'
import {
  attachmentFunctions,
  engineFunctions,
  functionsDigest,
  type IndexStatement,
  indexStatements,
  migrations,
  searchPathStatements,
  tableGrants,
  unboundRoutines,
} from './plan.ts'
import { commentText, withLiterals } from './statement-text.ts'

/** All statements of `migrate up` on an empty database, for review or another migration tool. */
export function migrationSql(schema: string, profile: Profile, shard = 0): string {
  assertProfile(schema, profile)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native', shard }
  const attached = profile.name === 'native' ? [] : profile.tables
  const parts = [
    ...migrationsSql(base, migrations()),
    ...nativeSql(base),
    ...attached.flatMap((table) => attachedSql({ schema, table, profile: profile.name, isConcurrent: true })),
  ]
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}

export function migrationsSql(base: RenderOptions, pending: SqlFile[]): string[] {
  return [
    searchPathStatements.pin(),
    unboundRoutines(base),
    render(readSql('attach/engine', 'schema'), base),
    ...pending.flatMap((migration) => [
      `-- migration ${migration.name}\n${render(migration.text, base)}`,
      ...tableGrants(base, migration),
      recorded('record_migration', base, [migration.name]),
    ]),
    searchPathStatements.reset(),
  ]
}

/** Shared functions and the native table, with its indexes if the table is new. */
export function nativeSql(base: RenderOptions, isNewTable = true): string[] {
  const functions = engineFunctions(base)
  return [
    searchPathStatements.pin(),
    ...functions.map(({ text }) => text),
    searchPathStatements.reset(),
    commentText(`table ${base.table.schema}.${base.table.table}`),
    render(readSql('attach/table', 'register'), base),
    ...(isNewTable ? indexStatements(base).map(({ sql }) => sql) : []),
    recordedFunctions(base, functions, attachmentFunctions(base)),
  ]
}

function attachedSql(options: RenderOptions): string[] {
  const { table } = options
  const indexes = indexStatements(options)
  return [
    commentText(`table ${table.schema}.${table.table}`),
    ...columnsSql(options, indexes),
    ...indexes.map(({ sql }) => sql),
    ...functionsSql(options),
  ]
}

/** Records come first: they register only columns and indexes that do not exist yet. */
export function columnsSql(
  options: RenderOptions,
  indexes: IndexStatement[],
  isThere: (column: string) => boolean = () => false,
): string[] {
  const nameIn = ({ column }: ColumnStatement) => columnName(options.table, column)
  const columns = columnStatements(options.absent)
  return [
    render(readSql('attach/table', 'register'), options),
    recorded('record_columns', options, [columns.map(nameIn)]),
    recorded('record_indexes', options, [indexes.map(({ name }) => name)]),
    ...columns.filter((column) => !isThere(nameIn(column))).map(({ sql }) => render(sql, options)),
  ]
}

export function functionsSql(options: RenderOptions, startsObserved = false): string[] {
  const functions = attachmentFunctions(options)
  return [
    searchPathStatements.pin(),
    ...functions.map(({ text }) => text),
    searchPathStatements.reset(),
    recordedFunctions(options, functions, functions),
    ...(startsObserved ? [render(readSql('attach/table', 'observe'), options)] : []),
    ...teamObjectValues(options).map((values) => recorded('place_team_object', options, values)),
  ]
}

function recordedFunctions(options: RenderOptions, digested: SqlFile[], own: SqlFile[]): string {
  return recorded('record_functions', options, [functionsDigest(digested), own.map(({ name }) => name)])
}

/** Records of `migrate up`, so that status, upgrades and removal recognize a manual install. */
function recorded(query: string, options: RenderOptions, values: (string | string[])[]): string {
  return `${withLiterals(render(readQuery(query), options).trim(), values)};`
}
