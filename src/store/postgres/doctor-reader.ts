// The reads of `doctor`: the files of sql/doctor and the store itself, over a connection that cannot write.
import type { PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { TimeAhead } from '../../profile/time-type.ts'
import type { JobStore } from '../job-store.ts'
import type { Row, SqlClient } from './connection/executor.ts'
import { withReadOnlySession } from './connection/read-only-session.ts'
import { readTable, renderFacts } from './migrate/inspect/inspect-table.ts'
import { timesAhead } from './migrate/inspect/inspect-times.ts'
import { indexStatements } from './migrate/statements/plan.ts'
import { createPostgresStore } from './postgres-store.ts'
import { type RenderOptions, render } from './render/render.ts'
import { policyToJson } from './rows/policy-row.ts'
import { readSql } from './sql-files.ts'
import { readQuery } from './sql-queries.ts'

export interface DoctorReader {
  look(name: string, table: TableProfile, params?: unknown[]): Promise<Row[]>
  indexes(table: TableProfile): Promise<Record<'claim' | 'sweep', { name: string; create: string }>>
  timesAhead(table: TableProfile): Promise<TimeAhead[]>
  policyText(override: PolicyOverride): string | null
  /** The database refuses verbs that write. */
  storeOf(table: TableProfile): JobStore<SqlClient>
}

export interface DoctorReaderOptions {
  databaseUrl: string
  schema: string
  timeoutMs: number
}

export function withDoctorReader<T>(
  { databaseUrl, schema, timeoutMs }: DoctorReaderOptions,
  work: (reader: DoctorReader) => Promise<T>,
): Promise<T> {
  return withReadOnlySession({ databaseUrl, timeoutMs, applicationName: 'unstuck doctor' }, (session) => {
    const run = (text: string, params: unknown[] = []) => session.look((look) => look(text, params))
    const client = { query: run }
    // Functions and indexes depend on the types of the columns.
    const known = new Map<TableProfile, Promise<RenderOptions>>()
    const optionsOf = (table: TableProfile) => {
      const found = known.get(table) ?? readOptions(run, { schema, table })
      known.set(table, found)
      return found
    }
    return work({
      look: async (name, table, params) =>
        run(render(readSql('doctor', name), await optionsOf(table)), params),
      indexes: async (table) => {
        const options = await optionsOf(table)
        return { claim: indexFor(options, 0), sweep: indexFor(options, 1) }
      },
      timesAhead: async (table) => timesAhead({ run }, await optionsOf(table)),
      policyText: policyToJson,
      storeOf: (table) => createPostgresStore({ client, table, schema }),
    })
  })
}

type Run = (text: string, params?: unknown[]) => Promise<Row[]>

/** Without the facts of a table that is not there or not readable: each check reports that itself. */
async function readOptions(run: Run, options: RenderOptions): Promise<RenderOptions> {
  const query = (name: string, of: RenderOptions, params?: unknown[]) =>
    run(render(readQuery(name), of), params)
  const facts = await readTable({ query }, options).catch(() => null)
  if (facts === null) return options
  const { timeTypes = {}, absent = new Set() } = renderFacts(options.table, facts)
  return { ...options, timeTypes, absent }
}

/** sql/attach/indexes/indexes.sql has the index of claims first and that of sweeps second. */
function indexFor(options: RenderOptions, place: number): { name: string; create: string } {
  const found = indexStatements({ ...options, isConcurrent: true })[place]
  if (found === undefined) throw new Error('sql/attach/indexes/indexes.sql has too few indexes')
  return { name: found.name, create: found.sql.replaceAll(/\s+/g, ' ') }
}
