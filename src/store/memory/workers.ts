import { invalidArgument } from '../../errors/index.ts'
import type { Job } from '../../job/job.ts'
import type { WorkerFacts } from '../../policy/explain/explain-workers.ts'
import type {
  DrainOutcome,
  ReportAnswer,
  WorkerReport,
  WorkerState,
  WorkerStatus,
  WorkerStore,
} from '../ports/worker-store.ts'
import { DUE_SHARE, isSwept } from './reaping/sweep-history.ts'
import { checkText, checkWhole } from './state/checks.ts'
import type { MemoryState, MemoryWorker } from './state/memory-state.ts'

const YEAR_MS = 31_536_000_000
/** As in report_worker.sql. */
const MAX_TIMES = 60
const LEAST_APART_MS = 5_000
const phases: readonly WorkerReport['phase'][] = ['running', 'draining', 'stopped']

export function bindWorkerVerbs(state: MemoryState): WorkerStore {
  return {
    reportWorker: async (report) => reportWorker(state, report),
    listWorkers: async () =>
      [...state.workers.values()]
        .toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime() || (a.workerId < b.workerId ? -1 : 1))
        .map((worker) => describe(state, worker)),
    drainWorker: async (workerId, options = {}) => drainWorker(state, workerId, options),
  }
}

function reportWorker(state: MemoryState, report: WorkerReport): ReportAnswer {
  checkReport(report)
  const { workerId, phase, isStart = false, sweepIntervalMs } = report
  const now = new Date(state.nowMs())
  const known = isStart ? undefined : state.workers.get(workerId)
  state.workers.set(workerId, {
    workerId,
    host: report.host ?? null,
    pid: report.pid ?? null,
    version: report.version ?? null,
    appVersion: report.appVersion ?? null,
    reportTimes: keptTimes(known?.reportTimes ?? [], now),
    types: [...report.types],
    concurrency: report.concurrency,
    running: report.running,
    loopLagMs: report.loopLagMs ?? null,
    reportMs: report.reportMs,
    hintedQueues: report.hintedQueues?.slice() ?? null,
    startedAt: known?.startedAt ?? now,
    seenAt: now,
    drainingAt: phase === 'running' ? null : (known?.drainingAt ?? now),
    stoppedAt: phase === 'stopped' ? now : null,
    exitCode: report.exitCode ?? null,
    drainRequestedAt: known?.drainRequestedAt ?? null,
    drainRequestedBy: known?.drainRequestedBy ?? null,
    drainReason: known?.drainReason ?? null,
  })
  return {
    isDrainRequested: known !== undefined && known.drainRequestedAt !== null,
    isSweepDue: sweepIntervalMs !== undefined && !isSwept(state, DUE_SHARE * sweepIntervalMs),
    isWatched: true,
    reportedAt: now.toISOString(),
    hintedWorkers: listHinted(state),
    hasWebhooks: hasWebhooks(state),
  }
}

function keptTimes(times: Date[], now: Date): Date[] {
  const last = times.at(-1)
  if (last !== undefined && now.getTime() - last.getTime() < LEAST_APART_MS) return times
  const kept = times.slice(1 - MAX_TIMES)
  kept.push(now)
  return kept
}

function hasWebhooks({ webhooks, deliveries }: MemoryState): boolean {
  if (webhooks.size > 0) return true
  for (const { status } of deliveries.values()) if (status === 'waiting') return true
  return false
}

function listHinted({ workers, nowMs }: MemoryState): ReportAnswer['hintedWorkers'] {
  const groups = new Map<string, { queues: string[]; workerIds: string[] }>()
  for (const worker of workers.values()) {
    const { workerId, hintedQueues: queues, running, concurrency, drainingAt, seenAt, reportMs } = worker
    const isLive = drainingAt === null && nowMs() - seenAt.getTime() <= 3 * reportMs
    if (queues === null || running >= concurrency || !isLive) continue
    const key = JSON.stringify(queues)
    const group = groups.get(key) ?? { queues: [...queues], workerIds: [] }
    groups.set(key, group)
    group.workerIds.push(workerId)
  }
  return [...groups.values()]
}

function checkReport(report: WorkerReport): void {
  checkText('worker_id', report.workerId, 1_000)
  if (!report.types.every((type) => typeof type === 'string'))
    throw invalidArgument('types', report.types, 'an array of types')
  if (report.hintedQueues?.every((queue) => typeof queue === 'string') === false)
    throw invalidArgument('hinted_queues', report.hintedQueues, 'an array of queues')
  if (report.appVersion !== undefined) checkText('app_version', report.appVersion, 200)
  checkWhole(report.concurrency, 'concurrency', 0, 1_000_000)
  checkWhole(report.running, 'running', 0, 1_000_000)
  checkWhole(report.reportMs, 'report_ms', 1, YEAR_MS)
  if (!phases.includes(report.phase))
    throw invalidArgument('phase', report.phase, 'running, draining or stopped')
}

function drainWorker(
  state: MemoryState,
  workerId: string,
  { actor = null, reason = null }: { actor?: string | null; reason?: string | null },
): DrainOutcome {
  checkText('worker_id', workerId, 1_000)
  const worker = state.workers.get(workerId)
  if (worker === undefined) return 'not-found'
  if (worker.stoppedAt !== null) return 'stopped'
  if (worker.drainRequestedAt !== null) return 'already-asked'
  const asked = { drainRequestedAt: new Date(state.nowMs()), drainRequestedBy: actor, drainReason: reason }
  state.workers.set(workerId, { ...worker, ...asked })
  return 'asked'
}

function describe(
  state: MemoryState,
  { reportMs, hintedQueues: _hinted, ...worker }: MemoryWorker,
): WorkerStatus {
  const nowMs = state.nowMs()
  const jobs = [...state.jobs.running()].filter(({ workerId }) => workerId === worker.workerId)
  const seenMs = nowMs - worker.seenAt.getTime()
  const isPastDeadline = jobs.some(({ deadlineAt }) => deadlineAt !== null && deadlineAt.getTime() <= nowMs)
  const intervals = seenMs / reportMs
  return structuredClone({
    ...worker,
    state: stateOf(worker, { intervals, leases: jobs.length, isPastDeadline }),
    running: Math.min(jobs.length, worker.concurrency),
    leases: jobs.length,
    seenMs,
    // There are no sessions here.
    presence: 'off',
  })
}

type MemoryWorkerTimes = Pick<MemoryWorker, 'stoppedAt' | 'drainingAt' | 'drainRequestedAt'>

function stateOf(
  { stoppedAt, drainingAt, drainRequestedAt }: MemoryWorkerTimes,
  { intervals, leases, isPastDeadline }: { intervals: number; leases: number; isPastDeadline: boolean },
): WorkerState {
  if (stoppedAt !== null) return 'stopped'
  if (intervals > 6) return leases > 0 ? 'silent' : 'gone'
  if (intervals > 3) return 'late'
  if (isPastDeadline) return 'zombie'
  return drainingAt === null && drainRequestedAt === null ? 'live' : 'draining'
}

/** Null if no worker ever reported. */
export function workerFacts(state: MemoryState, type: string, queue: string): WorkerFacts | null {
  const workers = [...state.workers.values()]
  if (workers.length === 0) return null
  const nowMs = state.nowMs()
  const live = workers.filter(
    ({ stoppedAt, drainingAt, drainRequestedAt, seenAt, reportMs }) =>
      stoppedAt === null &&
      drainingAt === null &&
      drainRequestedAt === null &&
      nowMs - seenAt.getTime() <= 3 * reportMs,
  )
  const handles = ({ types }: MemoryWorker) => types.includes(type)
  // A worker that hears no hints does not report its queues: it may claim from this one.
  const claims = (worker: MemoryWorker) => handles(worker) && worker.hintedQueues?.includes(queue) !== false
  const handling = live.filter(claims)
  const seen = workers.filter(claims).map(({ seenAt }) => seenAt.getTime())
  return {
    live: live.length,
    handling: handling.length,
    slots: sum(handling.map(({ concurrency }) => concurrency)),
    busy: sum(
      handling.map(({ workerId, concurrency }) => Math.min(countLeases(state, workerId), concurrency)),
    ),
    elsewhere: live.filter(handles).length - handling.length,
    lastSeenMs: seen.length === 0 ? null : nowMs - Math.max(...seen),
  }
}

function countLeases({ jobs }: MemoryState, workerId: string): number {
  return [...jobs.running()].filter((job: Job) => job.workerId === workerId).length
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
