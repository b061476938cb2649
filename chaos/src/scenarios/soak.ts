// Steady load for a long time, with a transaction that holds back vacuum for the middle third. Reports what grows and whether
// it recovers.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitCodeOf, NOT_MADE, watchInterruption } from '../../../scripts/support/interruption.mjs'
import { minutesInMs, positiveNumber, readOptions } from '../../../scripts/support/read-options.mjs'
import { Disturbances } from '../faults/disturbances.ts'
import { readLedgers } from '../judge/read-history.ts'
import { type CleanUps, withFolder } from '../processes/clean-ups.ts'
import { ChaosDatabase, queryRows, readSql } from '../processes/database.ts'
import { startScene, stopScene } from '../processes/scene.ts'
import { policyOf } from '../settings.ts'
import { JobFeeder } from '../workload/job-feeder.ts'
import { phaseAt, type Reading, summarisePhases } from './soak-report.ts'

export type SizeFields = { dead_tuples: number; table_bytes: number; index_bytes: number; unfinished: number }

const EVERY_MS = 2_000
/** Readings in each third of a short run. */
const READINGS = 10
const BATCH_MS = 250
const WORKERS = 4

const USAGE = `npm run soak -- [options]

  --minutes M   duration (default: 60)
  --rate R      jobs per second (default: 40)
  --json        print one line of JSON
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
const { signal } = watchInterruption()
try {
  // Does not get the signal: an interrupted soak stops in order and reports its readings.
  const { report } = await withFolder({ say: () => {} }, soak)
  console.log(isJson ? JSON.stringify(report) : JSON.stringify(report, null, 2))
  process.exitCode = signal.aborted ? exitCodeOf(signal) : 0
} catch (error) {
  console.error(error)
  process.exitCode = signal.aborted ? exitCodeOf(signal) : NOT_MADE
}
process.exit()

async function soak(folder: string, cleanUps: CleanUps) {
  const database = await ChaosDatabase.start(folder, { autovacuum_naptime: '5s' })
  cleanUps.add(() => database.close())
  await database.install('native', policyOf.native)
  const { url } = database
  const scene = await startScene({
    databaseUrls: [url],
    sqlReaperUrls: [url],
    profile: 'native',
    folder,
    cleanUps,
    disturbances: new Disturbances(),
    onDirected: () => {},
    workerCount: WORKERS,
  })
  const feeder = await JobFeeder.open([database], 'native')
  cleanUps.add(() => feeder.close())
  const feeding = feeder.feed(steadyLoad())
  const pinning = pinHorizon(database)
  const readings: Reading[] = []
  const from = performance.now()
  await unlessInterrupted(watch(database, scene, readings))
  const tookMs = performance.now() - from
  if (signal.aborted) feeder.stopFeeding()
  await unlessInterrupted(Promise.all([feeding, pinning]))
  await stopScene(scene)
  if (feeder.enqueuedIds.length === 0 && !signal.aborted)
    throw new Error('no job was enqueued: the soak proves nothing')
  const report = {
    minutes: Math.round(tookMs / 600) / 100,
    plannedMinutes: durationMs / 60_000,
    isInterrupted: signal.aborted,
    ratePerS,
    postgres: database.version,
    enqueued: feeder.enqueuedIds.length,
    phases: summarisePhases({ readings, ledger: readLedgers(scene.ledgers), durationMs }),
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

async function pinHorizon(database: ChaosDatabase) {
  await pause(durationMs / 3)
  if (signal.aborted) return
  await database.withClient(async (client) => {
    await client.query('begin isolation level repeatable read')
    await client.query('select count(*) from unstuck.jobs')
    await pause(durationMs / 3)
    await client.query('rollback')
  })
}

/** Ignores errors after an interruption: Ctrl-C also reaches the server, which then stops first. */
async function unlessInterrupted(work: Promise<unknown>) {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Ends early when the run is interrupted. */
async function pause(ms: number) {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

async function watch(
  database: ChaosDatabase,
  { workers, reaper }: { workers: { pid: number | undefined }[]; reaper: { pid: number | undefined } },
  readings: Reading[],
) {
  const sql = await readSql('read_sizes')
  const from = performance.now()
  await database.withClient(async (client) => {
    for (let atMs = 0; atMs < durationMs && !signal.aborted; atMs = performance.now() - from) {
      const [row] = (await queryRows(client, sql)) as SizeFields[]
      if (row === undefined) throw new Error('the table has no statistics')
      readings.push({
        atS: atMs / 1000,
        phase: phaseAt(atMs, durationMs),
        deadTuples: row.dead_tuples,
        tableBytes: row.table_bytes,
        indexBytes: row.index_bytes,
        unfinished: row.unfinished,
        workerBytes: residentBytes(workers[0]?.pid),
        reaperBytes: residentBytes(reaper.pid),
      })
      await pause(Math.min(EVERY_MS, durationMs / 3 / READINGS))
    }
  })
}

function residentBytes(pid: number | undefined) {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? Number.NaN) * 1024
  } catch {
    // This system has no /proc.
    return Number.NaN
  }
}
