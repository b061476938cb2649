// What an install consists of, in order. `migrate up` runs it, `migrate sql` prints it.
import { createHash } from 'node:crypto'
import { UnstuckError } from '../../../errors/index.ts'
import { logicalColumns, type Profile, type TableProfile } from '../../../profile/profile.ts'
import { assertIdentifier, assertPlainName } from '../identifiers.ts'
import { type RenderOptions, render } from '../render.ts'
import { readSql, readSqlFolder, type SqlFile } from '../sql-files.ts'

/** The longest name of sql/functions and the two underscores leave this much of 63 bytes. */
const longestAttachmentName = 63 - 'unfinished_job__'.length

export function assertProfileNames(schema: string, { tables }: Profile): void {
  assertPlainName('schema', schema)
  for (const table of tables) {
    assertPlainName('attachment', table.attachment, longestAttachmentName)
    assertIdentifier('table schema', table.schema)
    assertIdentifier('table name', table.table)
    for (const [column, name] of Object.entries(table.columns)) assertIdentifier(`column ${column}`, name)
    assertOneColumnEach(table)
  }
}

function assertOneColumnEach(table: TableProfile): void {
  const names = logicalColumns.map((column) => table.columns[column] ?? column)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  const message = `profile of ${table.schema}.${table.table}: column ${twice} plays two roles`
  throw new UnstuckError('TABLE_UNSUPPORTED', message, {
    hint: 'Map each logical column to a column of its own.',
  })
}

export const migrations = (): SqlFile[] => readSqlFolder('migrations')

/**
 * PostgreSQL checks the body of an SQL function when it is made, so what is called comes before its caller: PL/pgSQL
 * functions, checked at their first run, come last.
 */
export function coreFunctions(options: RenderOptions): SqlFile[] {
  return rendered('core', options)
}

export function attachmentFunctions(options: RenderOptions): SqlFile[] {
  return rendered('functions', options)
}

function rendered(folder: 'core' | 'functions', options: RenderOptions): SqlFile[] {
  const files = readSqlFolder(folder).map(({ name, text }) => ({ name, text: render(text, options) }))
  return inCallOrder(files)
}

function inCallOrder(files: SqlFile[]): SqlFile[] {
  const ordered: SqlFile[] = []
  const visit = (file: SqlFile) => {
    if (ordered.includes(file)) return
    for (const other of files) {
      if (other !== file && isCalledBy(other, file)) visit(other)
    }
    ordered.push(file)
  }
  for (const file of files) visit(file)
  return ordered
}

/** No routine calls back, so a textual look is enough. */
function isCalledBy(callee: SqlFile, caller: SqlFile): boolean {
  return new RegExp(`\\.(?:"${callee.name}(?:__\\w+)?"|${callee.name})\\(`).test(
    caller.text.replace(/^--.*$/gm, ''),
  )
}

export function functionsDigest(functions: SqlFile[]): string {
  return createHash('sha256')
    .update(functions.map(({ text }) => text).join('\n'))
    .digest('hex')
    .slice(0, 16)
}

export interface IndexStatement {
  name: string
  sql: string
}

export function indexStatements(options: RenderOptions): IndexStatement[] {
  const text = render(readSql('attach', 'indexes'), options)
  return [...text.matchAll(/^create (?:unique )?index [\s\S]*?exists\s+"([^"]+)"[\s\S]*?;$/gm)].map(
    ([sql, name]) => ({
      name: String(name),
      sql,
    }),
  )
}
