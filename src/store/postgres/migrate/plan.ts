// What an install consists of, in order. `migrate up` runs it, `migrate sql` prints it, `migrate down` knows it again.
import { createHash } from 'node:crypto'
import {
  functionSuffix,
  type Partition,
  partitionIndex,
  type RenderOptions,
  render,
} from '../render/render.ts'
import { readSql, readSqlFolder, type SqlFile } from '../sql-files.ts'
import { withLiterals } from './statement-text.ts'

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
  return namesIn(texts.join('\n'))
}

function namesIn(text: string): OwnNames {
  const made = [...text.matchAll(/^create (table|type|domain)(?: if not exists)? "unstuck"\."?(\w+)/gm)].map(
    ([, kind, name]) => ({ kind: String(kind), name: String(name) }),
  )
  return {
    tables: made.filter(({ kind }) => kind === 'table').map(({ name }) => name),
    types: made.filter(({ kind }) => kind !== 'table').map(({ name }) => name),
  }
}

/** What takes the tables of a migration from those whom default privileges gave them to; run once, right after it. */
export function withheldTables(base: RenderOptions, { name, text }: SqlFile): string[] {
  const isFirst = name === migrations()[0]?.name
  const { tables } = namesIn(isFirst ? `${readSql('attach', 'schema')}\n${text}` : text)
  if (tables.length === 0) return []
  return [withLiterals(render(readSql('attach', 'withhold_tables'), base), [tables])]
}

/** Around everything that binds names when it is created (C28). */
export const searchPathStatements = {
  pin: () => readSql('attach', 'pin_search_path'),
  reset: () => readSql('attach', 'reset_search_path'),
}

/** For an upgrade: lets the migrations and functions that follow change what bound bodies use. */
export function unboundRoutines(base: RenderOptions): string {
  const names = engineFunctions(base).map(({ name }) => name)
  return withLiterals(render(readSql('attach', 'unbind_routines'), base), [names])
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

/** Digest of the text between the dollar quotes. PostgreSQL keeps no text of an SQL-standard body. */
export function bodyDigest({ text }: SqlFile): string {
  const body = text.includes('$$') ? text.slice(text.indexOf('$$') + 2, text.lastIndexOf('$$')) : ''
  return createHash('md5').update(body).digest('hex')
}

export interface IndexStatement {
  name: string
  sql: string
}

/** The engine's, and on request the document's. */
export function wantedIndexes(options: RenderOptions, hasDocumentIndexes = false): IndexStatement[] {
  return [...indexStatements(options), ...(hasDocumentIndexes ? documentIndexStatements(options) : [])]
}

export function indexStatements(options: RenderOptions): IndexStatement[] {
  return overPartitions(options, renderedIndexes)
}

/** Those that the document of the team names, under their own names. */
function documentIndexStatements(options: RenderOptions): IndexStatement[] {
  return overPartitions(options, renderedDocumentIndexes)
}

/** Of a partitioned table several with one name: they are run in their order until it is there and valid. */
function overPartitions(
  options: RenderOptions,
  rendered: (options: RenderOptions) => IndexStatement[],
): IndexStatement[] {
  if (options.partitions === undefined) return rendered(options)
  const { partitions } = options
  // PostgreSQL cannot build that of the whole without blocking writers: it is put together from those of the partitions.
  return rendered({ ...options, isConcurrent: false }).flatMap((whole, place) => {
    const { name } = whole
    const parts = partitions.map((partition) => ({ ...options, partition, index: name }))
    const built = parts.map((part) => rendered(part)[place]?.sql ?? '')
    const attached = parts.map((part) => render(readSql('attach', 'attach_index'), part).trim())
    return [whole.sql, ...parts.map(dropInvalid), ...built, ...attached].map((sql) => ({ name, sql }))
  })

  function dropInvalid({ partition, index }: { partition: Partition; index: string }): string {
    const names = [partitionIndex(index, partition)]
    return withLiterals(readSql('attach', 'drop_invalid_index'), [partition.schema, names])
      .replace(/^--.*\n/gm, '')
      .trim()
  }
}

function renderedIndexes(options: RenderOptions): IndexStatement[] {
  const text = render(readSql('attach', 'indexes'), options)
  return [...text.matchAll(/^create +(?:unique )?index [\s\S]*?exists\s+"([^"]+)"[\s\S]*?;$/gm)].map(
    ([sql, name]) => ({
      name: String(name),
      sql,
    }),
  )
}

function renderedDocumentIndexes(options: RenderOptions): IndexStatement[] {
  return (options.table.documentIndexes ?? []).map((documentIndex) => ({
    name: documentIndex.name,
    sql: render(readSql('attach', 'document_index'), { ...options, documentIndex })
      .replace(/^--.*\n/gm, '')
      .trim(),
  }))
}
