// The reads of `doctor`: the files of sql/doctor and the store itself, over a connection that cannot write.
import type { PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { JobStore } from '../job-store.ts'
import type { Row, SqlClient } from './connection/executor.ts'
import { withReadOnlySession } from './connection/read-only-session.ts'
import { indexStatements } from './migrate/statements/plan.ts'
import { createPostgresStore } from './postgres-store.ts'
import { render } from './render/render.ts'
import { policyToJson } from './rows/policy-row.ts'
import { readSql } from './sql-files.ts'

export interface DoctorReader {
  look(name: string, table: TableProfile, params?: unknown[]): Promise<Row[]>
  indexes(table: TableProfile): Record<'claim' | 'sweep', { name: string; create: string }>
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
  const textOf = (name: string, table: TableProfile) => render(readSql('doctor', name), { schema, table })
  return withReadOnlySession({ databaseUrl, timeoutMs, applicationName: 'unstuck doctor' }, (session) => {
    const client = { query: (text: string, params: unknown[]) => session.look((run) => run(text, params)) }
    return work({
      look: (name, table, params) => session.look((run) => run(textOf(name, table), params)),
      indexes: (table) => ({ claim: indexFor(schema, table, 0), sweep: indexFor(schema, table, 1) }),
      policyText: policyToJson,
      storeOf: (table) => createPostgresStore({ client, table, schema }),
    })
  })
}

/** sql/attach/indexes/indexes.sql has the index of claims first and that of sweeps second. */
function indexFor(schema: string, table: TableProfile, place: number): { name: string; create: string } {
  const found = indexStatements({ schema, table, isConcurrent: true })[place]
  if (found === undefined) throw new Error('sql/attach/indexes/indexes.sql has too few indexes')
  return { name: found.name, create: found.sql.replaceAll(/\s+/g, ' ') }
}
