// Every install replaces the functions. Grants and dependent objects stay if PostgreSQL can replace a function in place;
// functions that this version no longer has are dropped.
import { isUnstuckError, UnstuckError } from '../../../errors/index.ts'
import { type RenderOptions, render } from '../render/render.ts'
import { readSql, type SqlFile } from '../sql-files.ts'
import type { MigrationSession } from './session/migration-session.ts'
import { attachmentFunctions } from './statements/plan.ts'
import { withLiterals } from './statements/statement-text.ts'

/** Call in a transaction. `former` are names that an older version recorded. */
export async function replaceFunctions(
  session: MigrationSession,
  options: RenderOptions,
  files: SqlFile[],
  former: string[] = [],
): Promise<void> {
  const names = [...new Set([...files.map(({ name }) => name), ...former])]
  const before = await listRoutines(session, options, names)
  for (const file of files) await replaceFunction(session, options, file, before)
  const after = await listRoutines(session, options, names)
  // Replaced routines have a new row version: the others are overloads, or no longer part of this version.
  const stale = after.filter(({ routine, version }) =>
    before.some((old) => old.routine === routine && old.version === version),
  )
  await dropRoutines(session, options, stale)
}

interface Routine {
  name: string
  routine: string
  body: string
  version: string
}

export async function listRoutines(
  session: MigrationSession,
  options: RenderOptions,
  names: string[],
): Promise<Routine[]> {
  return (await session.query('list_routines', options, [names])) as unknown as Routine[]
}

/** `create or replace` refuses another result, other argument names, and a procedure for a function. */
const refusedReplacements = new Set(['42P13', '42809'])

async function replaceFunction(
  session: MigrationSession,
  options: RenderOptions,
  { name, text }: SqlFile,
  before: Routine[],
): Promise<void> {
  try {
    await session.run(`savepoint replacement;\n${text}\nrelease savepoint replacement`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && refusedReplacements.has(String(error.code))))
      throw error
    await session.run('rollback to savepoint replacement')
    await dropRoutines(
      session,
      options,
      before.filter((routine) => routine.name === name),
    )
    await session.run(`${text}\nrelease savepoint replacement`)
  }
}

async function dropRoutines(
  session: MigrationSession,
  options: RenderOptions,
  routines: Routine[],
): Promise<void> {
  if (routines.length === 0) return
  const names = routines.map(({ routine }) => routine)
  await session.run(withLiterals(render(readSql('attach/engine', 'drop_routines'), options), [names]))
}

/** Runs every function once on copies of its tables, and rolls back. */
export async function rehearse(session: MigrationSession, options: RenderOptions): Promise<void> {
  const { schema, table } = options
  const copy: RenderOptions = {
    ...options,
    table: {
      ...table,
      schema,
      table: 'unstuck_rehearsal_jobs',
      teamEvents: table.teamEvents && { ...table.teamEvents, schema, table: 'unstuck_rehearsal_events' },
    },
  }
  await session.run('savepoint rehearsal')
  try {
    const functions = attachmentFunctions(copy).map(({ text }) => text)
    await session.run(render(readSql('attach/table', 'rehearsal_copy'), options))
    await session.run(functions.join('\n'))
    await session.inTeamsPath(() => session.run(render(readSql('attach/table', 'rehearsal'), copy)))
  } catch (error) {
    throw rehearsalError(options, error)
  }
  await session.run('rollback to savepoint rehearsal')
}

/** Errors unrelated to the table. */
const passing = ['LOCK_TIMEOUT', 'DATABASE_UNREACHABLE', 'DATABASE_CONFLICT', 'PERMISSION_DENIED'] as const

function rehearsalError({ table }: RenderOptions, error: unknown): unknown {
  if (!(error instanceof Error) || passing.some((code) => isUnstuckError(error, code))) return error
  return new UnstuckError(
    'TABLE_UNSUPPORTED',
    `table ${table.schema}.${table.table}: a function does not work on its columns: ${error.message}`,
    { hint: 'Map the column to another one in the profile: it will be added.', cause: error },
  )
}
