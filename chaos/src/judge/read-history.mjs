// Gathers the history of a run: rows and events by SQL, ledgers from their files.
import { readFileSync } from 'node:fs'
import { queryRows, readSql } from '../processes/database.mjs'
import { LEASE_MS, POLL_MS, SWEEP_MS } from '../settings.mjs'

/** @import pg from 'pg' */
/** @import { TableProfile } from 'unstuck' */
/** @import { ChaosDatabase } from '../processes/database.mjs' */
/** @import { Disturbances } from '../faults/disturbances.mjs' */
/** @import { JobFeeder } from '../workload/job-feeder.mjs' */
/** @import { StallMeter } from '../processes/stall-meter.mjs' */
/** @import { TableSampler } from './table-sampler.mjs' */
/** @import { EventRow, JobRow, LedgerLine } from './history.mjs' */

/** @typedef {{ job_id: string, lease_id: string }} EffectFields */
/** @typedef {{ id: string, job_id: string, type: string, at_ms: number, details: Record<string, unknown> | null }} EventFields */
/** @typedef {{ webhook_id: string, job_id: string, type: string, timestamp: string, count: number }} DeliveryFields */
/** @typedef {{ at_ms: number, hold_reason: string | null }} HoldFields */

/**
 * @typedef {object} Sources
 * @property {ChaosDatabase} database
 * @property {TableProfile} table
 * @property {{ ledgers: string[] }} scene
 * @property {JobFeeder} feeder
 * @property {TableSampler} sampler
 * @property {Disturbances} disturbances
 * @property {StallMeter} stalls
 */

/**
 * All that a run is judged by.
 * @param {Sources} sources
 */
export async function readHistory({ database, table, scene, feeder, sampler, disturbances, stalls }) {
  return {
    ...(await database.withClient((client) => readDatabase(client, table))),
    ...feeder.told(),
    policy: { ...table.policy, ...feeder.storedPolicy },
    times: { leaseMs: LEASE_MS, sweepMs: SWEEP_MS, pollMs: POLL_MS[1] },
    ledger: readLedgers(scene.ledgers),
    samples: sampler.samples,
    disturbances: disturbances.list,
    stalls: stalls.stalls,
  }
}

/**
 * @param {pg.Client} client
 * @param {TableProfile} table
 */
export async function readDatabase(client, table) {
  const read = async (/** @type {string} */ name, /** @type {unknown[]} */ params = [table.attachment]) =>
    queryRows(client, await readSql(name), params)
  const jobs = await queryRows(client, `select to_jsonb(job) as row from ${table.schema}.${table.table} job`)
  const events = /** @type {EventFields[]} */ (await read('read_events'))
  const effects = /** @type {EffectFields[]} */ (await read('read_effects', []))
  const deliveries = /** @type {DeliveryFields[]} */ (await read('read_deliveries'))
  const holds = /** @type {HoldFields[]} */ (await read('read_holds'))
  return {
    jobs: /** @type {{ row: Record<string, unknown> }[]} */ (jobs).map(({ row }) => toJobRow(row, table)),
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

/**
 * @param {EventFields} row
 * @returns {EventRow}
 */
function toEventRow(row) {
  return { id: row.id, jobId: row.job_id, type: row.type, at: row.at_ms, details: row.details ?? {} }
}

/**
 * @param {Record<string, unknown>} row
 * @param {TableProfile} table
 * @returns {JobRow}
 */
function toJobRow(row, { columns, statuses }) {
  const names = /** @type {Record<string, string>} */ (columns)
  const at = (/** @type {string} */ name) => row[names[name] ?? name] ?? null
  const number = (/** @type {string} */ name) => Number(at(name) ?? 0)
  const text = (/** @type {string} */ name) => /** @type {string | null} */ (at(name))
  return {
    id: text('id') ?? '',
    type: text('type') ?? '',
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

/**
 * @param {string} word
 * @param {string | null} code
 * @param {TableProfile['statuses']} statuses
 */
function toStatus(word, code, statuses) {
  if (statuses.running.includes(word)) return 'running'
  // A table without a word for it has cancelled jobs as dead ones with this code.
  if (statuses.cancelled === null && word === statuses.dead && code === 'cancelled') return 'cancelled'
  const known = Object.entries(statuses).find(([, value]) => value === word)
  return known?.[0] ?? word
}

/**
 * @param {string[]} files
 * @returns {LedgerLine[]} by time
 */
export function readLedgers(files) {
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n').flatMap(parseLine))
  return lines.toSorted((a, b) => a.at - b.at)
}

/**
 * @param {string} line
 * @returns {LedgerLine[]}
 */
function parseLine(line) {
  return line === '' ? [] : [/** @type {LedgerLine} */ (JSON.parse(line))]
}
