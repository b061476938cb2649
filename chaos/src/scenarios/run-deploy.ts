// A rolling deploy under load: each worker is stopped and restarted in turn. Jobs that cannot finish within the grace period are
// released, and none may lose an attempt (I20).
import { setTimeout as sleep } from 'node:timers/promises'
import { Disturbances } from '../faults/disturbances.ts'
import { makeDeploy } from '../faults/schedule.ts'
import { checkHistory } from '../judge/check-history.ts'
import type { JobRow } from '../judge/history.ts'
import { readHistory, readRecords } from '../judge/read-history.ts'
import { summarise } from '../judge/summary.ts'
import { TableSampler } from '../judge/table-sampler.ts'
import { type CleanUps, withFolder } from '../processes/clean-ups.ts'
import { ChaosDatabase, readSql, tableOf } from '../processes/database.ts'
import type { ProcessSlot } from '../processes/process-slot.ts'
import { processesOf, serverPid } from '../processes/processor-waits.ts'
import { startScene, stopScene } from '../processes/scene.ts'
import { StallMeter } from '../processes/stall-meter.ts'
import { between, createRandom } from '../random.ts'
import { DEPLOYED_JOBS, DEPLOYED_WORKERS, policyFor } from '../settings.ts'
import { JobFeeder } from '../workload/job-feeder.ts'
import type { ChaosOptions } from './run-chaos.ts'

/** Some end within the grace period of 4 s, some do not. The longest are shorter in a short run. */
const LEAST_WORK_MS = 3_000
const MOST_WORK_MS = [6_000, 12_000] as const
const ALL_RUNNING_LIMIT_MS = 60_000

export function runDeploy(options: ChaosOptions) {
  return withFolder(options, (folder, cleanUps) => deploy(options, folder, cleanUps))
}

async function deploy(options: ChaosOptions, folder: string, cleanUps: CleanUps) {
  const { seed, durationMs, signal, say } = options
  const startedAt = performance.now()
  const { database, feeder, scene, disturbances, sampler, stalls } = await prepare(options, folder, cleanUps)
  say(
    `PostgreSQL ${database.version}, ${DEPLOYED_WORKERS} workers, ${DEPLOYED_JOBS} jobs; deploys for ${durationMs / 1000} s`,
  )
  const random = createRandom(seed)
  const mostMs = Math.max(MOST_WORK_MS[0], Math.min(MOST_WORK_MS[1], durationMs))
  let deploys = 0
  do {
    await feeder.enqueue(Array.from({ length: DEPLOYED_JOBS }, () => longJob(random, mostMs)))
    await untilAllRun(database, signal)
    for (const { target } of makeDeploy()) await scene.workers.find(({ name }) => name === target)?.redeploy()
    await feeder.drain(signal)
    deploys++
  } while (performance.now() - startedAt < durationMs)
  sampler.stop()
  await stopScene(scene)
  stalls.stop()
  const table = tableOf('native')
  const recorded = readRecords({ scene, feeder, disturbances, stalls })
  const history = await readHistory({ database, table, feeder, sampler, recorded })
  const judgement = checkHistory(history)
  const attemptsBurnt = countBurnt(history.jobs)
  if (attemptsBurnt > 0)
    judgement.violations.push({ invariant: 'I20', message: `deploys cost ${attemptsBurnt} attempts` })
  const summary = {
    scenario: 'deploy',
    seed,
    profile: 'native',
    postgres: database.version,
    node: process.version,
    seconds: Math.round((performance.now() - startedAt) / 1000),
    deploys,
    faults: { terminate: deploys * scene.workers.length },
    faultCount: deploys * scene.workers.length,
    attemptsBurnt,
    failedExits: countFailedExits(scene.workers),
    enqueued: feeder.enqueuedIds.length,
    ...summarise(history, judgement),
  }
  const { violations, unjudged } = judgement
  return { summary, violations, unjudged, history }
}

async function prepare(options: ChaosOptions, folder: string, cleanUps: CleanUps) {
  const disturbances = new Disturbances()
  const stalls = new StallMeter()
  cleanUps.add(() => stalls.stop())
  const database = await ChaosDatabase.start(folder)
  cleanUps.add(() => database.close())
  await database.install('native', policyFor('native', options))
  const scene = await startScene({
    databaseUrls: [database.url],
    sqlReaperUrls: [database.url],
    folder,
    profile: 'native',
    disturbances,
    cleanUps,
    onDirected: () => {},
    workerCount: DEPLOYED_WORKERS,
    concurrency: DEPLOYED_JOBS / DEPLOYED_WORKERS,
  })
  stalls.watchProcessors(processesOf(scene, () => serverPid(database.dataDir)))
  const feeder = await JobFeeder.open([database], 'native')
  cleanUps.add(() => feeder.close())
  const sampler = new TableSampler(tableOf('native'))
  cleanUps.add(() => sampler.stop())
  void sampler.run(database)
  return { database, feeder, scene, disturbances, sampler, stalls }
}

function longJob(random: () => number, mostMs: number) {
  return { type: 'slow', payload: { workMs: between(random, LEAST_WORK_MS, mostMs) }, owner: 'anna' }
}

async function untilAllRun(database: ChaosDatabase, signal: AbortSignal | undefined) {
  const sql = await readSql('count_running')
  for (const from = performance.now(); performance.now() - from < ALL_RUNNING_LIMIT_MS; await sleep(50)) {
    if (signal?.aborted === true) throw new Error('interrupted')
    const [row] = (await database.look(sql)) as { count: number }[]
    if (row?.count === DEPLOYED_JOBS) return
  }
  throw new Error(`not all of ${DEPLOYED_JOBS} jobs ran at once`)
}

/** An undisturbed job has one attempt, whichever worker completed it. */
function countBurnt(jobs: JobRow[]) {
  return jobs.reduce(
    (sum, { attempt, failures, crashes, timeouts }) =>
      sum + Math.max(attempt - 1, failures + crashes + timeouts),
    0,
  )
}

function countFailedExits(workers: ProcessSlot[]) {
  return workers.flatMap(({ exits }) => exits).filter(({ code }) => code !== 0).length
}
