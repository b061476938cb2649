import { nativeProfile } from '../../../profile/native.ts'
import { columnName, type Profile } from '../../../profile/profile.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql, type SqlFile } from '../sql-files.ts'
import { assertProfile } from './check-profile.ts'
import { columnStatements } from './column-statements.ts'
import { attachmentFunctions, engineFunctions, functionsDigest, indexStatements, migrations } from './plan.ts'
import { withLiterals } from './statement-text.ts'

/** Everything `migrate up` would run on an empty database, as one text for a review or another migration tool. */
export function migrationSql(schema: string, profile: Profile): string {
  assertProfile(schema, profile)
  const base: RenderOptions = { schema, table: nativeProfile(schema).tables[0], profile: 'native' }
  const attached = profile.name === 'native' ? [] : profile.tables
  const parts = [
    render(readSql('attach', 'schema'), base),
    ...migrations().flatMap(({ name, text }) => [
      `-- migration ${name}\n${render(text, base)}`,
      recorded('record_migration', base, [name]),
    ]),
    ...nativeSql(base),
    ...attached.flatMap((table) => attachedSql({ schema, table, profile: profile.name, isConcurrent: true })),
  ]
  return `${parts.map((part) => part.trim()).join('\n\n')}\n`
}

function nativeSql(base: RenderOptions): string[] {
  const functions = engineFunctions(base)
  return [
    ...functions.map(({ text }) => text),
    `-- table ${base.table.schema}.${base.table.table}`,
    render(readSql('attach', 'register'), base),
    ...indexStatements(base).map(({ sql }) => sql),
    recordedFunctions(base, functions, attachmentFunctions(base)),
  ]
}

function attachedSql(options: RenderOptions): string[] {
  const { table } = options
  const columns = columnStatements()
  const indexes = indexStatements(options)
  const functions = attachmentFunctions(options)
  return [
    `-- table ${table.schema}.${table.table}`,
    render(readSql('attach', 'register'), options),
    recorded('record_columns', options, [columns.map(({ column }) => columnName(table, column))]),
    recorded('record_indexes', options, [indexes.map(({ name }) => name)]),
    ...columns.map(({ sql }) => render(sql, options)),
    ...indexes.map(({ sql }) => sql),
    ...functions.map(({ text }) => text),
    recordedFunctions(options, functions, functions),
  ]
}

function recordedFunctions(options: RenderOptions, digested: SqlFile[], own: SqlFile[]): string {
  return recorded('record_functions', options, [functionsDigest(digested), own.map(({ name }) => name)])
}

/** What `migrate up` notes, so that status, upgrades and removal know an install by hand too. */
function recorded(query: string, options: RenderOptions, values: (string | string[])[]): string {
  return `${withLiterals(render(readSql('queries', query), options).trim(), values)};`
}
