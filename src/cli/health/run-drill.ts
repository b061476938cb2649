// Tests the rescue by the lease on a live installation: a process freezes while it runs a job, the installation's own sweeps
// requeue it, another process completes it, and the lost lease can write nothing. It only touches one job in its own queue.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentTable } from '../../compose/index.ts'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { Job } from '../../job/job.ts'
import { type Canary, type CanaryClaim, startCanary } from './canary.ts'
import { clearCanary, DRILL_QUEUE } from './clear-canary.ts'

export interface DrillOptions {
  table: DeploymentTable
  databaseUrl: string
  schema: string
  /** Where canaries hold their presence lock; null if presence is off. */
  presenceUrl: string | null
  /** Lease of the canary, shorter than that of real jobs. */
  leaseMs: number
  /** Id of the worker that freezes: one for a whole drill, so that it leaves one row in the list of workers. */
  workerId: string
  /** From the freeze to completion. */
  budgetMs: number
  actor: string
  signal: AbortSignal
  onStep: (line: string) => void
  /** Called while waiting, with the time so far. */
  onWait?: (waitedMs: number) => void
}

export interface DrillReport {
  jobId: string
  isPassed: boolean
  /** Why it failed. */
  failure: string | null
  /** Measured from the freeze. */
  reapedAfterMs: number | null
  claimedAfterMs: number | null
  finishedAfterMs: number | null
  /** Outcome of a write with the dead worker's lease. */
  lateWrite: string | null
  fences: number[]
}

/** Limit of the first claim, which waits for nothing. */
export const CLAIM_LIMIT_MS = 30_000
const POLL_MS = 100
/** Long enough that the second worker keeps its lease on a busy machine. */
const SECOND_LEASE_MS = 30_000

export async function runDrill(options: DrillOptions): Promise<DrillReport> {
  const { table, actor, onStep } = options
  const [jobId = ''] = await enqueueCanaries(table, 1)
  const canaries: Canary[] = []
  const report: DrillReport = {
    jobId,
    isPassed: false,
    failure: null,
    reapedAfterMs: null,
    claimedAfterMs: null,
    finishedAfterMs: null,
    lateWrite: null,
    fences: [],
  }
  try {
    await rescue(options, report, canaries)
    report.isPassed = report.failure === null
  } finally {
    await Promise.all(canaries.map((canary) => canary.kill()))
    await clearAll(table, [jobId], actor, onStep)
  }
  return report
}

export async function clearAll(
  { store }: DeploymentTable,
  jobIds: string[],
  actor: string,
  onStep: (line: string) => void,
): Promise<void> {
  for (const jobId of jobIds) {
    await clearCanary(store, jobId, actor).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      onStep(`the canary was not deleted (${why}): unstuck jobs discard ${jobId} --reason drill`)
    })
  }
}

export async function enqueueCanaries({ name, store }: DeploymentTable, count: number): Promise<string[]> {
  try {
    const job = { type: DRILL_QUEUE, queue: DRILL_QUEUE, maxAttempts: 5 }
    const enqueued = await store.enqueueJobs(Array.from({ length: count }, () => job))
    return enqueued.map(({ jobId }) => jobId)
  } catch (cause) {
    if (isUnstuckError(cause) && !isUnstuckError(cause, 'ROW_REFUSED')) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UnstuckError('PRECONDITION_FAILED', `table ${name} does not accept a canary: ${why}`, {
      hint: 'It has required columns of its own: drill on another table of this installation.',
      cause,
    })
  }
}

/** Fills the report until the end or the first failure. */
async function rescue(options: DrillOptions, report: DrillReport, canaries: Canary[]): Promise<void> {
  const { table, budgetMs, signal, onStep } = options
  const start = (workerId: string, leaseMs: number, presenceUrl: string | null) => {
    const { databaseUrl, schema } = options
    const jobIds = [report.jobId]
    const task = { databaseUrl, schema, table: table.table, jobIds, workerId, leaseMs, presenceUrl }
    const canary = startCanary(task)
    canaries.push(canary)
    return canary
  }
  const first = start(options.workerId, options.leaseMs, options.presenceUrl)
  const dead = await within(first.claimed(report.jobId), CLAIM_LIMIT_MS, signal)
  if (dead === undefined) {
    report.failure = `canary-1 could not claim its job within ${CLAIM_LIMIT_MS / 1000} s: unstuck why ${report.jobId}`
    return
  }
  await first.freeze()
  const frozenAt = performance.now()
  const since = () => Math.round(performance.now() - frozenAt)
  report.fences.push(dead.fence)
  onStep(`worker canary-1 (pid ${first.pid}) claimed ${report.jobId}, fence ${dead.fence} · frozen`)

  // Started before the reap: process start-up must not count.
  const second = start('canary-2', Math.max(options.leaseMs, SECOND_LEASE_MS), null)
  const reaped = await untilReaped(options, report.jobId, dead, since)
  if (reaped === undefined) {
    report.failure = `it was not requeued within ${budgetMs / 1000} s`
    return
  }
  report.reapedAfterMs = since()
  if (reaped.status !== 'waiting' && reaped.status !== 'running') {
    report.failure = `a sweep made it ${reaped.status} instead of waiting: ${reaped.error?.reason ?? 'no reason given'}`
    return
  }
  onStep(`requeued after ${seconds(report.reapedAfterMs)}`)
  const living = await within(second.claimed(report.jobId), budgetMs - since(), signal)
  if (living === undefined) {
    report.failure = `it could not be claimed again within ${budgetMs / 1000} s`
    return
  }
  report.claimedAfterMs = since()
  report.fences.push(living.fence)
  await finish(options, report, { dead, second, since })
}

async function finish(
  { table, budgetMs, signal, onStep }: DrillOptions,
  report: DrillReport,
  { dead, second, since }: { dead: CanaryClaim; second: Canary; since: () => number },
): Promise<void> {
  const [late] = await table.store.completeJobs([{ jobId: dead.jobId, leaseId: dead.leaseId }])
  report.lateWrite = late?.outcome ?? 'nothing'
  onStep(`late write with the frozen worker’s lease, fence ${dead.fence} → ${report.lateWrite}`)
  if (report.lateWrite !== 'lease-lost') {
    report.failure = `the frozen worker’s lease could still write: ${report.lateWrite}`
    return
  }
  const outcome = await within(second.finish(), CLAIM_LIMIT_MS, signal)
  report.finishedAfterMs = since()
  if (outcome !== 'completed') {
    report.failure = `canary-2 could not complete it: ${outcome ?? 'no answer'}`
    return
  }
  onStep(`finished by canary-2 (pid ${second.pid}) after ${seconds(report.finishedAfterMs)}`)
  if (report.finishedAfterMs > budgetMs)
    report.failure = `it took ${seconds(report.finishedAfterMs)}, longer than the budget of ${seconds(budgetMs)}`
}

/**
 * The row once the frozen worker’s lease has gone; undefined if the budget ends first. canary-2 may claim it between two reads,
 * and without fencing its lease id is the frozen one’s: then only the fence differs.
 */
async function untilReaped(
  { table, budgetMs, signal, onWait }: DrillOptions,
  jobId: string,
  { leaseId, fence }: CanaryClaim,
  since: () => number,
): Promise<Job | undefined> {
  while (since() <= budgetMs) {
    const job = await table.store.getJob(jobId)
    if (job === null)
      throw new UnstuckError('JOB_NOT_FOUND', `the canary ${jobId} was deleted by someone else`)
    if (job.leaseId !== leaseId || job.fence !== fence) return job
    onWait?.(since())
    await sleep(POLL_MS, undefined, { signal })
  }
  return undefined
}

/** Undefined on timeout; throws if the drill is interrupted. */
export async function within<Value>(
  coming: Promise<Value>,
  limitMs: number,
  signal: AbortSignal,
): Promise<Value | undefined> {
  const stop = new AbortController()
  const limit = sleep(Math.max(0, limitMs), undefined, { signal: AbortSignal.any([signal, stop.signal]) })
  limit.catch(() => {})
  try {
    return await Promise.race([coming, limit])
  } finally {
    stop.abort()
  }
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
