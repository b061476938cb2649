// The hand-rolled table, without leases, in its own schema. Its SQL is in sql/demo.
import { readFileSync } from 'node:fs'
import { openTable, type SqlClient } from '../../compose/index.ts'
import { nativeProfile } from '../../profile/native.ts'
import type { Kind } from '../demo-settings.ts'

export type HandRolledStatus = 'waiting' | 'processing' | 'done' | 'failed'

export interface HandRolledJob {
  n: number
  kind: Kind
  status: HandRolledStatus
  worker: string | null
  /** Time since the claim. */
  ageMs: number | null
}

export interface HandRolledTable {
  create(): Promise<void>
  add(job: { n: number; kind: Kind; durationMs: number }): Promise<void>
  claim(worker: string): Promise<{ n: number; kind: Kind; durationMs: number } | undefined>
  end(n: number, status: HandRolledStatus): Promise<void>
  list(): Promise<HandRolledJob[]>
  drop(): Promise<void>
  close(): Promise<void>
}

type Row = Record<string, unknown>

/** `schema` has plain letters, digits and underscores only. */
export function openHandRolledTable(databaseUrl: string, schema: string): HandRolledTable {
  const own = `${schema}_by_hand`
  // Uses the engine's pool, not its functions.
  const { transaction, close } = openTable({ databaseUrl, schema, table: nativeProfile(schema).tables[0] })
  const run = (file: string, params: unknown[] = []) => {
    const text = readFileSync(new URL(`../../../sql/demo/${file}.sql`, import.meta.url), 'utf8')
    return transaction((client) => rowsOf(client, text.replaceAll('"demo"', `"${own}"`), params))
  }
  return {
    async create() {
      await run('create_table')
    },
    async add({ n, kind, durationMs }) {
      await run('add_job', [n, kind, durationMs])
    },
    async claim(worker) {
      const [row] = await run('claim_job', [worker])
      if (row === undefined) return undefined
      return { n: Number(row['id']), kind: row['kind'] as Kind, durationMs: Number(row['duration_ms']) }
    },
    async end(n, status) {
      await run('end_job', [n, status])
    },
    async list() {
      return (await run('list_jobs')).map(toJob)
    },
    async drop() {
      await run('drop_table')
    },
    close,
  }
}

async function rowsOf(client: SqlClient, text: string, params: unknown[]): Promise<Row[]> {
  if (!('query' in client)) throw new TypeError('expected a client of pg')
  const answer = await client.query(text, params)
  // Several statements return a list.
  return ('rows' in answer ? answer.rows : []) as Row[]
}

function toJob(row: Row): HandRolledJob {
  return {
    n: Number(row['id']),
    kind: row['kind'] as Kind,
    status: row['status'] as HandRolledStatus,
    worker: row['worker'] as string | null,
    ageMs: row['age_ms'] as number | null,
  }
}
