// The act that ends a cause, with its effect and its command: one table for the CLI, the HTTP API and the dashboard.
import type { StaleFacts } from './explain-stale.ts'
import type { JobFacts } from './job-facts.ts'
import type { LockHolder } from './lock-holder.ts'
import type { ReasonCode, Remedy } from './reason.ts'
import { isReaperLate } from './table-health.ts'

/** The usual act first; none if nothing is wrong, or only time helps. */
export function remediesFor(code: ReasonCode, facts: JobFacts): Remedy[] {
  const { jobId, queue, breaker, lockedBy } = facts
  switch (code) {
    case 'DEAD_MAX_ATTEMPTS':
      return [retry(jobId), raiseAttempts(jobId)]
    case 'DEAD_PERMANENT':
    case 'DEAD_CRITICAL':
    case 'DEAD_EXPIRED':
      return [retry(jobId)]
    case 'LEASE_OVER_AWAITING_REAPER':
      return [...sweepIfItHelps(facts), ...drainIfAlive(facts)]
    case 'WORKER_GONE':
      return sweepIfItHelps(facts)
    case 'NO_REAPER':
      return [startReaper]
    case 'OBSERVED':
      return [setMode]
    case 'QUEUE_PAUSED':
      return [resumeQueue(queue)]
    case 'BREAKER_HELD':
    case 'BREAKER_OPEN':
    case 'BREAKER_PROBING':
    case 'BREAKER_UNHEARD':
      return breaker === null ? [] : [resumeBreaker(breaker.name)]
    case 'SCHEDULED':
    case 'BACKOFF':
      return [runNow(jobId), cancel(jobId)]
    case 'RELEASED_OFTEN':
      return [cancel(jobId)]
    case 'ROW_LOCKED':
      return lockedBy === null ? [] : [endSession(lockedBy)]
    case 'NO_WORKER_FOR_TYPE':
      return [startWorker(facts), cancel(jobId)]
    case 'ALL_SLOTS_BUSY':
      return [startWorker(facts)]
    default:
      return []
  }
}

/** A manual sweep would take a held job from a worker that may still reconnect. */
const sweepIfItHelps = ({ isObserved, isLocked, heldForMs }: JobFacts) =>
  isObserved || isLocked === true || heldForMs !== null ? [] : [sweepNow]

/** A worker that goes on with a job past its deadline, while it sends heartbeats, would do it with the next one, too. */
function drainIfAlive({ workerId, deadlineLeftMs, absence }: JobFacts): Remedy[] {
  const isPastDeadline = deadlineLeftMs !== null && deadlineLeftMs <= 0
  return workerId !== null && isPastDeadline && absence === null ? [drainWorker(workerId)] : []
}

/** For a job past its lease. */
export function remedyOfStale({ code, lockedBy }: Pick<StaleFacts, 'code' | 'lockedBy'>): Remedy | null {
  switch (code) {
    case 'LEASE_OVER_AWAITING_REAPER':
    case 'NO_REAPER':
      return sweepNow
    case 'OBSERVED':
      return setMode
    case 'ROW_LOCKED':
      return lockedBy === null ? null : endSession(lockedBy)
    default:
      return null
  }
}

/**
 * For a table: jobs past their lease are swept, and somebody has to go on sweeping. Leases that are held after an outage
 * are not: a manual sweep would take their jobs from workers that may still reconnect.
 */
export function remediesOf(health: {
  overdue: number
  running: number
  reaperAgeMs: number | null
  sweepIntervalMs: number
  holdReason: string | null
  isObserved?: boolean
}): Remedy[] {
  const isUnswept = health.running > 0 && isReaperLate(health.reaperAgeMs, health.sweepIntervalMs)
  const isLeft = health.overdue > 0 && health.holdReason === null
  return [
    ...(isLeft ? [health.isObserved === true ? setMode : sweepNow] : []),
    ...(isUnswept ? [startReaper] : []),
  ]
}

export const sweepNow: Remedy = {
  act: 'sweep',
  subject: '',
  effect: 'Requeues every job whose lease expired, now.',
  command: 'unstuck reap --once',
}

const startReaper: Remedy = {
  act: 'start-reaper',
  subject: '',
  effect: 'Requeues jobs whose lease expired, from now on. Every worker does it too.',
  command: 'unstuck reaper',
}

const setMode: Remedy = {
  act: 'set-mode',
  subject: 'reap',
  effect: 'Ends observe mode: sweeps requeue jobs from then on.',
  command: 'unstuck mode reap',
}

const retry = (jobId: string): Remedy => ({
  act: 'retry',
  subject: jobId,
  effect: 'Starts over with all attempts. Side effects may repeat.',
  command: `unstuck jobs retry ${jobId} --reason …`,
})

const raiseAttempts = (jobId: string): Remedy => ({
  act: 'raise-attempts',
  subject: jobId,
  effect: 'Keeps its counts and allows one attempt more. Side effects may repeat.',
  command: `unstuck jobs retry ${jobId} --keep-attempts --reason …`,
})

const cancel = (jobId: string): Remedy => ({
  act: 'cancel',
  subject: jobId,
  effect: 'Ends it: it will not run again.',
  command: `unstuck jobs cancel ${jobId} --reason …`,
})

export const drainWorker = (workerId: string): Remedy => ({
  act: 'drain-worker',
  subject: workerId,
  effect: 'Stops claiming, finishes its running jobs and stops. This cannot be undone.',
  command: `unstuck workers drain ${quoted(workerId)} --reason …`,
})

const runNow = (jobId: string): Remedy => ({
  act: 'run-now',
  subject: jobId,
  effect: 'Makes it due now. Attempts do not change.',
  command: `unstuck jobs retry ${jobId} --now --reason …`,
})

export const resumeQueue = (queue: string): Remedy => ({
  act: 'resume-queue',
  subject: queue,
  effect: `Workers claim from ${queue} again.`,
  command: `unstuck queues resume ${quoted(queue)} --reason …`,
})

export const resumeBreaker = (name: string): Remedy => ({
  act: 'resume-breaker',
  subject: name,
  effect: `Closes the breaker: jobs call ${name} again.`,
  command: `unstuck breaker resume ${quoted(name)} --reason …`,
})

export const startWorker = ({ type, queue }: { type: string; queue: string }): Remedy => ({
  act: 'start-worker',
  subject: type,
  effect: `Adds slots for ${type}. handlers.js must handle it${queue === type ? '' : ` in queue ${queue}`}.`,
  command: 'unstuck worker handlers.js',
})

const endSession = ({ pid }: LockHolder): Remedy => ({
  act: 'end-session',
  subject: String(pid),
  effect: 'Ends the session that locks the row; its transaction is rolled back.',
  command: `psql -c 'select pg_terminate_backend(${pid})'`,
})

/** For a shell. */
function quoted(name: string): string {
  return /^[\w./:@-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`
}
