// What an install consists of, in order. `migrate up` runs it, `migrate sql` prints it, `migrate down` knows it again.
import { createHash } from 'node:crypto'
import { functionSuffix, type RenderOptions, render } from '../render.ts'
import { readSql, readSqlFolder, type SqlFile } from '../sql-files.ts'

export const migrations = (): SqlFile[] => readSqlFolder('migrations')

export interface OwnNames {
  tables: string[]
  types: string[]
}

/** The tables and types that these migrations made. Nothing else in the schema is ours, whatever it is called. */
export function ownNames(applied: Iterable<string>): OwnNames {
  const names = new Set(applied)
  const texts = [
    readSql('attach', 'schema'),
    ...migrations()
      .filter(({ name }) => names.has(name))
      .map(({ text }) => text),
  ]
  const made = [
    ...texts.join('\n').matchAll(/^create (table|type|domain)(?: if not exists)? "unstuck"\."?(\w+)/gm),
  ].map(([, kind, name]) => ({ kind: String(kind), name: String(name) }))
  return {
    tables: made.filter(({ kind }) => kind === 'table').map(({ name }) => name),
    types: made.filter(({ kind }) => kind !== 'table').map(({ name }) => name),
  }
}

export function attachmentFunctions(options: RenderOptions): SqlFile[] {
  return rendered('functions', options)
}

/** What the engine itself consists of: the native table's functions, and those that all tables share. */
export function engineFunctions(base: RenderOptions): SqlFile[] {
  return [...rendered('core', base), ...rendered('functions', base)]
}

/** Files with the name that the routine has in the database. */
function rendered(folder: 'core' | 'functions', options: RenderOptions): SqlFile[] {
  const files = readSqlFolder(folder).map(({ name, text }) => ({ name, text: render(text, options) }))
  const suffix = folder === 'core' ? '' : functionSuffix(options.table)
  return inCallOrder(files).map(({ name, text }) => ({ name: name + suffix, text }))
}

/**
 * PostgreSQL checks the body of an SQL function when it is made, so what is called comes before its caller: PL/pgSQL
 * functions, checked at their first run, come last.
 */
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

/** Of the text between the dollar quotes, which PostgreSQL keeps as it is. */
export function bodyDigest({ text }: SqlFile): string {
  const body = text.slice(text.indexOf('$$') + 2, text.lastIndexOf('$$'))
  return createHash('md5').update(body).digest('hex')
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
