// Gathers the history of a run: rows and events by SQL, ledgers from their files.
import { readFileSync } from 'node:fs'
import type pg from 'pg'
import type { TableProfile } from 'unstuck'
import type { Disturbances } from '../faults/disturbances.ts'
import { type ChaosDatabase, queryRows, readSql } from '../processes/database.ts'
import type { StallMeter } from '../processes/stall-meter.ts'
import { LEASE_MS, LIMITED_QUEUES, POLL_MS, SWEEP_MS } from '../settings.ts'
import type { JobFeeder } from '../workload/job-feeder.ts'
import type { EventRow, JobRow, LedgerLine } from './history.ts'
import type { TableSampler } from './table-sampler.ts'

export type EffectFields = { job_id: string; lease_id: string }
export type EventFields = {
  id: string
  job_id: string
  type: string
  at_ms: number
  details: Record<string, unknown> | null
}
export type DeliveryFields = {
  webhook_id: string
  job_id: string
  type: string
  timestamp: string
  count: number
}
export type HoldFields = { at_ms: number; hold_reason: string | null }

export interface Sources {
  database: ChaosDatabase
  table: TableProfile
  sampler: TableSampler
  feeder: JobFeeder
  recorded: Recorded
  /** Default: that of all scenarios but one. */
  leaseMs?: number
}

/** Records outside of the database. */
export type Recorded = ReturnType<typeof readRecords>

export function readRecords({
  scene,
  feeder,
  disturbances,
  stalls,
}: {
  scene: { ledgers: string[] }
  feeder: JobFeeder
  disturbances: Disturbances
  stalls: StallMeter
}) {
  return {
    ...feeder.outcome(),
    ledger: readLedgers(scene.ledgers),
    disturbances: disturbances.list,
    stalls: stalls.stalls,
  }
}

/** Everything a run is judged by. */
export async function readHistory({
  database,
  table,
  sampler,
  feeder,
  recorded,
  leaseMs = LEASE_MS,
}: Sources) {
  return {
    ...(await database.withClient((client) => readDatabase(client, table))),
    ...recorded,
    policy: { ...table.policy, ...feeder.storedPolicy },
    limits: LIMITED_QUEUES,
    times: { leaseMs, sweepMs: SWEEP_MS, pollMs: POLL_MS[1] },
    samples: sampler.samples,
  }
}

export async function readDatabase(client: pg.Client, table: TableProfile) {
  const read = async (name: string, params: unknown[] = [table.attachment]) =>
    queryRows(client, await readSql(name), params)
  const jobs = await queryRows(client, `select to_jsonb(job) as row from ${table.schema}.${table.table} job`)
  const events = (await read('read_events')) as EventFields[]
  const effects = (await read('read_effects', [])) as EffectFields[]
  const deliveries = (await read('read_deliveries')) as DeliveryFields[]
  const holds = (await read('read_holds')) as HoldFields[]
  return {
    jobs: (jobs as { row: Record<string, unknown> }[]).map(({ row }) => toJobRow(row, table)),
    events: events.map(toEventRow),
    txEffects: effects.map((row) => ({ jobId: row.job_id, leaseId: row.lease_id })),
    deliveries: deliveries.map(({ webhook_id: webhookId, job_id: jobId, ...row }) => ({
      webhookId,
      jobId,
      ...row,
    })),
    holds: holds.map((row) => ({ at: row.at_ms, reason: row.hold_reason ?? 'none' })),
  }
}

function toEventRow(row: EventFields): EventRow {
  return { id: row.id, jobId: row.job_id, type: row.type, at: row.at_ms, details: row.details ?? {} }
}

function toJobRow(row: Record<string, unknown>, { columns, statuses }: TableProfile): JobRow {
  const names = columns as Record<string, string>
  const at = (name: string) => row[names[name] ?? name] ?? null
  const number = (name: string) => Number(at(name) ?? 0)
  const text = (name: string) => at(name) as string | null
  return {
    id: text('id') ?? '',
    type: text('type') ?? '',
    queue: text('queue') ?? text('type') ?? '',
    group: text('group_key'),
    owner: text('owner'),
    status: toStatus(text('status') ?? '', text('error_code'), statuses),
    attempt: number('attempt'),
    failures: number('failures'),
    crashes: number('crashes'),
    timeouts: number('timeouts'),
    maxAttempts: number('max_attempts'),
    fence: number('fence'),
    workerId: text('worker_id'),
    leaseId: text('lease_id'),
    leaseExpiresAt: text('lease_expires_at'),
    finishedLeaseId: text('finished_lease_id'),
  }
}

function toStatus(word: string, code: string | null, statuses: TableProfile['statuses']) {
  if (statuses.running.includes(word)) return 'running'
  // A table without a cancelled status stores such jobs as dead, with this code.
  if (statuses.cancelled === null && word === statuses.dead && code === 'cancelled') return 'cancelled'
  const known = Object.entries(statuses).find(([, value]) => value === word)
  return known?.[0] ?? word
}

/** Ordered by time. */
export function readLedgers(files: string[]): LedgerLine[] {
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n').flatMap(parseLine))
  return lines.toSorted((a, b) => a.at - b.at)
}

function parseLine(line: string): LedgerLine[] {
  return line === '' ? [] : [JSON.parse(line) as LedgerLine]
}
