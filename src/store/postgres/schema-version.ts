// Checks, once when a worker starts, that this version of the package fits the schema in the database.
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { CallQuery } from './connection/call-query.ts'
import { listSql } from './sql-files.ts'

/** A newer schema is fine, unless it requires newer workers. */
export async function requireSchemaVersion(call: CallQuery, schema: string): Promise<void> {
  const applied = await readApplied(call)
  if (applied === null) return
  const known = listSql('migrations')
  const missing = known.filter((name) => !applied.includes(name))
  if (missing.length > 0) throw schemaBehind(schema, missing[0] ?? '')
  if (applied.every((name) => known.includes(name))) return
  const [row] = await call('oldest_client', [])
  const oldest = String(row?.['oldest'])
  if (!known.includes(oldest)) throw schemaNewer(schema, oldest)
}

/** Null if the role may not read it: its first calls will report that. */
async function readApplied(call: CallQuery): Promise<string[] | null> {
  try {
    return (await call('list_migrations', [])).map((row) => String(row['name']))
  } catch (error) {
    if (isUnstuckError(error, 'PERMISSION_DENIED')) return null
    throw error
  }
}

function schemaBehind(schema: string, missing: string): UnstuckError {
  return new UnstuckError(
    'SCHEMA_BEHIND',
    `schema ${schema} is older than this worker: it lacks ${missing}`,
    {
      hint: 'Run unstuck migrate up with this version; workers of the version before go on meanwhile.',
    },
  )
}

function schemaNewer(schema: string, oldest: string): UnstuckError {
  return new UnstuckError('SCHEMA_NEWER', `schema ${schema} is newer than this worker: it needs ${oldest}`, {
    hint: 'Upgrade the package of this worker.',
  })
}
