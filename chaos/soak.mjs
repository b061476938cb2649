// Steady load for a long time, with a transaction that holds the horizon of vacuum for the middle third: what grows, and does it
// come down again?
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { minutesInMs, positiveNumber, readOptions } from '../scripts/read-options.mjs'
import { withFolder } from './clean-ups.mjs'
import { ChaosDatabase, queryRows, readSql } from './database.mjs'
import { Disturbances } from './disturbances.mjs'
import { JobFeeder } from './job-feeder.mjs'
import { readLedgers } from './read-history.mjs'
import { startScene, stopScene } from './scene.mjs'

/** @import { CleanUps } from './clean-ups.mjs' */
/** @import { LedgerLine } from './history.mjs' */
/** @typedef {{ atS: number, phase: string } & Record<Measure, number>} Reading */
/** @typedef {typeof measures[number]} Measure */
/** @typedef {{ dead_tuples: number, table_bytes: number, index_bytes: number, unfinished: number }} SizeFields */

const measures = /** @type {const} */ ([
  'deadTuples',
  'tableBytes',
  'indexBytes',
  'unfinished',
  'workerBytes',
  'reaperBytes',
])
const PHASES = /** @type {const} */ (['before', 'pinned', 'after'])
const EVERY_MS = 2_000
const BATCH_MS = 250
const WORKERS = 4

const USAGE = `npm run soak -- [options]

  --minutes M   60
  --rate R      jobs a second: 40
  --json        one line
`
const { durationMs, ratePerS, isJson } = readOptions(
  USAGE,
  {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
  ({ minutes, rate, json }) => ({
    durationMs: minutesInMs(minutes),
    ratePerS: positiveNumber('rate', rate, 10_000),
    isJson: json,
  }),
)
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
const { report } = await withFolder({ signal: interrupted.signal, say: () => {} }, soak)
console.log(isJson ? JSON.stringify(report) : JSON.stringify(report, null, 2))
process.exit(0)

/**
 * @param {string} folder
 * @param {CleanUps} cleanUps
 */
async function soak(folder, cleanUps) {
  const database = await ChaosDatabase.start(folder, { autovacuum_naptime: '5s' })
  cleanUps.add(() => database.close())
  await database.install('native')
  const { url } = database
  const scene = await startScene({
    databaseUrl: url,
    sqlReaperUrl: url,
    profile: 'native',
    folder,
    cleanUps,
    disturbances: new Disturbances(),
    onDirected: () => {},
    workerCount: WORKERS,
  })
  const feeder = await JobFeeder.open(database, 'native')
  cleanUps.add(() => feeder.close())
  const feeding = feeder.feed(steadyLoad())
  const pinning = pinHorizon(database)
  const readings = await watch(database, scene)
  if (interrupted.signal.aborted) feeder.stopFeeding()
  await Promise.all([feeding, pinning])
  await stopScene(scene)
  const report = {
    minutes: durationMs / 60_000,
    ratePerS,
    postgres: database.version,
    enqueued: feeder.enqueuedIds.length,
    phases: PHASES.map((phase) => summarisePhase(phase, readings, readLedgers(scene.ledgers))),
  }
  return { report, violations: [], history: {} }
}

function steadyLoad() {
  const jobs = Array.from({ length: Math.max(1, Math.round((ratePerS * BATCH_MS) / 1000)) }, () => ({
    type: 'quick',
    payload: { workMs: 20 },
    owner: 'anna',
  }))
  return Array.from({ length: Math.floor(durationMs / BATCH_MS) }, (_, index) => ({
    atMs: index * BATCH_MS,
    jobs,
  }))
}

/** @param {ChaosDatabase} database */
async function pinHorizon(database) {
  await pause(durationMs / 3)
  await database.withClient(async (client) => {
    await client.query('begin isolation level repeatable read')
    await client.query('select count(*) from unstuck.jobs')
    await pause(durationMs / 3)
    await client.query('rollback')
  })
}

/**
 * Ends early where the run is interrupted: what was read until then is still reported.
 * @param {number} ms
 */
async function pause(ms) {
  await sleep(ms, undefined, { signal: interrupted.signal }).catch(() => {})
}

/**
 * @param {ChaosDatabase} database
 * @param {{ workers: { pid: number | undefined }[], reaper: { pid: number | undefined } }} scene
 */
async function watch(database, { workers, reaper }) {
  const sql = await readSql('read_sizes')
  /** @type {Reading[]} */
  const readings = []
  const from = performance.now()
  await database.withClient(async (client) => {
    for (let atMs = 0; atMs < durationMs && !interrupted.signal.aborted; atMs = performance.now() - from) {
      const [row] = /** @type {SizeFields[]} */ (await queryRows(client, sql))
      if (row === undefined) throw new Error('the table has no statistics')
      readings.push({
        atS: atMs / 1000,
        phase: phaseAt(atMs),
        deadTuples: row.dead_tuples,
        tableBytes: row.table_bytes,
        indexBytes: row.index_bytes,
        unfinished: row.unfinished,
        workerBytes: residentBytes(workers[0]?.pid),
        reaperBytes: residentBytes(reaper.pid),
      })
      await pause(EVERY_MS)
    }
  })
  return readings
}

/** @param {number} atMs */
function phaseAt(atMs) {
  return PHASES[Math.min(2, Math.floor((3 * atMs) / durationMs))] ?? 'after'
}

/** @param {number | undefined} pid */
function residentBytes(pid) {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? Number.NaN) * 1024
  } catch {
    // Not on this system.
    return Number.NaN
  }
}

/**
 * @param {string} phase
 * @param {Reading[]} readings
 * @param {LedgerLine[]} ledger
 * @returns {Record<string, unknown>}
 */
function summarisePhase(phase, readings, ledger) {
  const own = readings.filter((reading) => reading.phase === phase)
  const first = ledger[0]?.at ?? 0
  const claims = ledger.flatMap(({ kind, at, ms }) =>
    kind === 'claimed' && ms !== undefined && phaseAt(at - first) === phase ? [ms] : [],
  )
  const slopes = measures.map((measure) => ({
    measure,
    last: Math.round(own.at(-1)?.[measure] ?? Number.NaN),
    perMinute: Math.round(60 * slopeOf(own, measure)),
  }))
  return { phase, claims: claims.length, claimP99Ms: percentile(claims, 0.99), slopes }
}

/**
 * Least squares, by second.
 * @param {Reading[]} readings
 * @param {Measure} measure
 */
function slopeOf(readings, measure) {
  const count = readings.length
  const meanX = readings.reduce((sum, { atS }) => sum + atS, 0) / count
  const meanY = readings.reduce((sum, reading) => sum + reading[measure], 0) / count
  const over = readings.reduce((sum, reading) => sum + (reading.atS - meanX) * (reading[measure] - meanY), 0)
  return over / readings.reduce((sum, { atS }) => sum + (atS - meanX) ** 2, 0)
}

/**
 * @param {number[]} numbers
 * @param {number} share
 */
function percentile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 10) / 10
}
