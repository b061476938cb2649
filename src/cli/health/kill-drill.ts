// Tests presence on a live installation (LEASE-10): a process that holds jobs with the leases of real ones is killed, the
// installation notices and requeues them, and another process claims them. Only jobs in the drill's own queue are touched.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentTable } from '../../compose/index.ts'
import { type Canary, startCanary } from './canary.ts'
import { CLAIM_LIMIT_MS, clearAll, enqueueCanaries, seconds, within } from './run-drill.ts'

export interface KillDrillOptions {
  table: DeploymentTable
  databaseUrl: string
  schema: string
  presenceUrl: string
  /** The lease of real jobs. */
  leaseMs: number
  /** Worker that is killed, one after the other under this name. */
  workerId: string
  times: number
  jobs: number
  /** From the kill to the next claim of each job. */
  budgetMs: number
  /** How long to wait for a session that watches. */
  watchLimitMs: number
  actor: string
  signal: AbortSignal
  onStep: (line: string) => void
}

/** One job of one kill, measured from it. */
export interface KilledJob {
  kill: number
  jobId: string
  runsAgainAfterMs: number
}

export interface KillReport {
  isPassed: boolean
  failure: string | null
  /** Why it was left out; null if it was not. */
  skipped: string | null
  rescues: KilledJob[]
  medianMs: number | null
  worstMs: number | null
}

const POLL_MS = 100

export async function runKillDrill(options: KillDrillOptions): Promise<KillReport> {
  const { times, budgetMs } = options
  const report: KillReport = {
    isPassed: true,
    failure: null,
    skipped: null,
    rescues: [],
    medianMs: null,
    worstMs: null,
  }
  for (let kill = 1; kill <= times && report.failure === null && report.skipped === null; kill++)
    await killOnce(options, report, kill)
  const sorted = report.rescues.map(({ runsAgainAfterMs }) => runsAgainAfterMs).toSorted((a, b) => a - b)
  report.medianMs = sorted[Math.ceil(sorted.length / 2) - 1] ?? null
  report.worstMs = sorted.at(-1) ?? null
  if (report.failure === null && (report.worstMs ?? 0) > budgetMs)
    report.failure = `the slowest took ${seconds(report.worstMs ?? 0)}, longer than the budget of ${seconds(budgetMs)}`
  report.isPassed = report.failure === null
  return report
}

async function killOnce(options: KillDrillOptions, report: KillReport, kill: number): Promise<void> {
  const { table, signal, actor, onStep } = options
  const jobIds = await enqueueCanaries(table, options.jobs)
  const canaries: Canary[] = []
  const start = (workerId: string, presenceUrl: string | null) => {
    const { databaseUrl, schema, leaseMs } = options
    const task = { databaseUrl, schema, table: table.table, jobIds, workerId, leaseMs, presenceUrl }
    const canary = startCanary(task)
    canaries.push(canary)
    return canary
  }
  try {
    const first = start(options.workerId, options.presenceUrl)
    const offReason = await within(first.present, CLAIM_LIMIT_MS, signal)
    const claims = await within(
      Promise.all(jobIds.map((jobId) => first.claimed(jobId))),
      CLAIM_LIMIT_MS,
      signal,
    )
    if (offReason === undefined || claims === undefined) {
      report.failure = `canary-1 could not start within ${CLAIM_LIMIT_MS / 1000} s: unstuck why ${jobIds[0] ?? ''}`
      return
    }
    report.skipped = offReason ?? (await untilWatched(options))
    if (report.skipped !== null) return
    // Its claims are refused until the jobs are requeued. Started before the kill: process start-up must not count.
    const second = start('canary-2', null)
    await within(second.present, CLAIM_LIMIT_MS, signal)
    const killedAtMs = performance.now()
    await first.kill()
    onStep(`worker canary-1 (pid ${first.pid}) held ${count(jobIds.length)} · SIGKILL`)
    await measure(options, report, { kill, jobIds, second, killedAtMs })
  } finally {
    await Promise.all(canaries.map((canary) => canary.kill()))
    await clearAll(table, jobIds, actor, onStep)
  }
}

async function measure(
  { budgetMs, signal, onStep }: KillDrillOptions,
  report: KillReport,
  run: { kill: number; jobIds: string[]; second: Canary; killedAtMs: number },
): Promise<void> {
  const { kill, jobIds, second, killedAtMs } = run
  const rescued = jobIds.map(async (jobId) => {
    await second.claimed(jobId)
    const runsAgainAfterMs = Math.round(performance.now() - killedAtMs)
    report.rescues.push({ kill, jobId, runsAgainAfterMs })
    return runsAgainAfterMs
  })
  const all = Promise.all(rescued)
  all.catch(() => {})
  const times = await within(all, budgetMs, signal)
  if (times === undefined) {
    report.failure = `${count(jobIds.length)} of a killed worker did not run again within ${budgetMs / 1000} s`
    return
  }
  onStep(`${jobIds.length === 1 ? 'runs' : 'all run'} again after ${seconds(Math.max(...times))}`)
}

/**
 * Null once a session watches; otherwise why presence cannot be tested. Another worker that has just vanished is judged first:
 * two at once may look like a broken network (C26).
 */
async function untilWatched({ table, watchLimitMs, signal }: KillDrillOptions): Promise<string | null> {
  const { store, countWatchers = async () => 0 } = table
  const startedAtMs = performance.now()
  let watchers = 0
  while (performance.now() - startedAtMs < watchLimitMs) {
    watchers = await countWatchers()
    const isQuiet = (await store.listWorkers()).every(
      ({ presence, state }) => presence !== 'absent' || state === 'gone' || state === 'stopped',
    )
    if (watchers > 0 && isQuiet) return null
    await sleep(POLL_MS, undefined, { signal })
  }
  return watchers > 0 ? null : 'no worker and no unstuck reaper watches'
}

const count = (jobs: number) => (jobs === 1 ? '1 job' : `${jobs} jobs`)
