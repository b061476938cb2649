// The parts of an install, in order: `migrate up` runs them, `migrate sql` prints them, `migrate down` removes them.
import { createHash } from 'node:crypto'
import { withPlpgsqlBodies } from '../../render/distributed-bodies.ts'
import { neededColumn, partitionIndex } from '../../render/index-names.ts'
import { functionSuffix, type Partition, type RenderOptions, render } from '../../render/render.ts'
import { type Routine, readRoutines, readSql, readSqlFolder, type SqlFile } from '../../sql-files.ts'
import { withLiterals } from './statement-text.ts'

export const migrations = (): SqlFile[] => readSqlFolder('migrations')

export interface OwnNames {
  tables: string[]
  types: string[]
}

/** Tables and types that these migrations created. Nothing else in the schema is ours, whatever its name. */
export function ownNames(applied: Iterable<string>): OwnNames {
  const names = new Set(applied)
  const texts = [
    readSql('attach/engine', 'schema'),
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

/**
 * Grants of the tables of a migration, run once, right after it. Nobody has them by default privileges. A line `-- grants: b, c as a`
 * gives roles that may use table a the same rights to b and c: their calls need these tables from now on.
 */
export function tableGrants(base: RenderOptions, { name, text }: SqlFile): string[] {
  const isFirst = name === migrations()[0]?.name
  const { tables } = namesIn(isFirst ? `${readSql('attach/engine', 'schema')}\n${text}` : text)
  const shared = [...text.matchAll(/^-- grants: (.+) as (\w+)$/gm)]
  const grantsSql = (file: string, values: (string | string[])[]) =>
    withLiterals(render(readSql('attach/grants', file), base), values)
  return [
    ...(tables.length === 0 ? [] : [grantsSql('withhold_tables', [tables])]),
    ...shared.map(([, names = '', like = '']) => grantsSql('share_grants', [names.split(', '), like])),
  ]
}

/** Around statements that bind names at creation (C28). */
export const searchPathStatements = {
  pin: () => readSql('attach/session', 'pin_search_path'),
  reset: () => readSql('attach/session', 'reset_search_path'),
}

/** For upgrades: lets migrations and functions change objects that bound bodies use. */
export function unboundRoutines(base: RenderOptions): string {
  const names = engineFunctions(base).map(({ name }) => name)
  return withLiterals(render(readSql('attach/engine', 'unbind_routines'), base), [names])
}

/** The functions of one job table. */
export function attachmentFunctions(options: RenderOptions): SqlFile[] {
  return rendered(
    readRoutines().filter(({ isPerTable }) => isPerTable),
    options,
  )
}

/** The functions that all tables share, and those of the native table. */
export function engineFunctions(base: RenderOptions): SqlFile[] {
  return rendered(readRoutines(), base)
}

/** Named as in the database. */
function rendered(routines: Routine[], options: RenderOptions): SqlFile[] {
  const suffix = functionSuffix(options.table)
  return inCallOrder(routines).map(({ name, text, isPerTable }) => ({
    name: isPerTable ? name + suffix : name,
    text: render(options.isDistributed === true ? withPlpgsqlBodies(text) : text, options),
  }))
}

/**
 * PostgreSQL checks the body of an SQL function when it is created, so a callee precedes its callers, by the text of the
 * calls. Routines in PL/pgSQL, whose bodies are not checked, may call each other.
 */
function inCallOrder(routines: Routine[]): Routine[] {
  const byName = new Map(routines.map((routine) => [routine.name, routine]))
  const visited = new Set<Routine>()
  const ordered = new Set<Routine>()
  const visit = (routine: Routine) => {
    if (visited.has(routine)) return
    visited.add(routine)
    for (const name of calledNames(routine)) {
      const callee = byName.get(name)
      if (callee !== undefined && callee !== routine) visit(callee)
    }
    ordered.add(routine)
  }
  for (const routine of routines) visit(routine)
  return [...ordered]
}

function calledNames({ text }: Routine): string[] {
  const calls = text.replaceAll(/^--.*$/gm, '').matchAll(/\."?(\w+)"?\(/g)
  return [...calls].map(([, name]) => String(name))
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

/** Indexes of the engine, and optionally those of the team's document. */
export function wantedIndexes(options: RenderOptions, hasDocumentIndexes = false): IndexStatement[] {
  return [...indexStatements(options), ...(hasDocumentIndexes ? documentIndexStatements(options) : [])]
}

/** PostgreSQL cannot drop the index of a partitioned table concurrently. */
export function dropStatement({ isConcurrent = false, ...options }: RenderOptions, index: string): string {
  const drops = { ...options, isConcurrent: isConcurrent && options.partitions === undefined, index }
  return render(readSql('attach/indexes', 'drop_index'), drops).trim()
}

export function indexStatements(options: RenderOptions): IndexStatement[] {
  return overPartitions(options, renderedIndexes)
}

/** Indexes that the team's document names, under their own names. */
function documentIndexStatements(options: RenderOptions): IndexStatement[] {
  return overPartitions(options, renderedDocumentIndexes)
}

/** A partitioned table has several statements per index, run in order until the index is valid. */
function overPartitions(
  options: RenderOptions,
  rendered: (options: RenderOptions) => IndexStatement[],
): IndexStatement[] {
  if (options.partitions === undefined) return rendered(options)
  const { partitions } = options
  // PostgreSQL cannot build the parent index concurrently: it is assembled from those of the partitions.
  return rendered({ ...options, isConcurrent: false }).flatMap((whole, place) => {
    const { name } = whole
    const parts = partitions.map((partition) => ({ ...options, partition, index: name }))
    const built = parts.map((part) => rendered(part)[place]?.sql ?? '')
    const attached = parts.map((part) => render(readSql('attach/indexes', 'attach_index'), part).trim())
    return [whole.sql, ...parts.map(dropInvalid), ...built, ...attached].map((sql) => ({ name, sql }))
  })

  function dropInvalid({ partition, index }: { partition: Partition; index: string }): string {
    const names = [partitionIndex(index, partition)]
    return withLiterals(readSql('attach/indexes', 'drop_invalid_index'), [partition.schema, names])
      .replace(/^--.*\n/gm, '')
      .trim()
  }
}

function renderedIndexes(options: RenderOptions): IndexStatement[] {
  const statements = readSql('attach/indexes', 'indexes').split(/(?<=;\n)/)
  const isFor = (sql: string) => {
    const needed = neededColumn(/exists "(\w+)"/.exec(sql)?.[1] ?? '')
    return needed === null || options.absent?.has(needed) !== true
  }
  const text = render(statements.filter(isFor).join(''), options)
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
    sql: render(readSql('attach/indexes', 'document_index'), { ...options, documentIndex })
      .replace(/^--.*\n/gm, '')
      .trim(),
  }))
}
