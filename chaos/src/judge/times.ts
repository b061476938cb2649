// I10 and I19 judge when jobs were reaped and from whom; I14 and rescue times are reported.

import { concerns, type Disturbance } from '../faults/disturbances.ts'
import { type History, isWithin, type Violation } from './history.ts'
import type { Claim, Story } from './job-story.ts'
import { checkOverdue, longestStallMs, outagesOf } from './overdue.ts'
import { areAllStarved, isStarved } from './starvation.ts'

export type Reap = {
  jobId: string
  claim: Claim
  reapedAt: number
  leaseEnd: number
  beatAt: number
  cause: string
}

const WORKER_GONE = 'worker-gone'
/** No sign of life gets through. */
const UNREACHABLE = new Set([
  'pause',
  'blackhole',
  'delay',
  'lossy',
  'connections-used-up',
  'presence-refused',
])
const ENDS_SESSION = new Set(['reset', 'session-ended', 'presence-ended'])
const ROUNDING_MS = 1.001
/**
 * Leases survive these: the reaper waits out an outage of the database (C9), the heartbeat thread runs beside a blocked event
 * loop on its own connection (C7), and no decision uses a worker's wall clock (C5).
 */
const NO_EXCUSE = new Set([
  'database-stopped',
  'backend-killed',
  'block',
  'pool-used-up',
  'clock-stepped',
  'server-clock-stepped',
  'reaper-keeps-locks',
  'table-locked',
  'vacuum-full',
  'presence-ended',
  'presence-refused',
  'slots-full',
  // Each lost answer, and each worker that is cut off, is logged by itself.
  'lossy',
  'workers-cut-off',
  'hints-lost',
])
/** One lost connection costs one heartbeat; two within a lease may cost the lease. */
const HALF_AN_EXCUSE = new Set([
  'reset',
  'statement-cancelled',
  'session-ended',
  'answer-lost',
  'commit-answer-lost',
  'directed:commit-answer-lost',
  'directed:complete-answer-lost',
])
/** The server does not notice that the owner of an open transaction is gone. */
const HOLDS_SESSION = new Set(['pause', 'blackhole', 'half-open', 'delay'])

function findReaps(stories: Map<string, Story>): Reap[] {
  return [...stories.values()].flatMap(({ jobId, claims }) =>
    claims.flatMap((claim) => {
      const { end } = claim
      if (end === null || !end.type.startsWith('reaper:')) return []
      const { lease_expires_at: leaseEnd, last_heartbeat_at: beatAt, cause } = end.details
      return [
        {
          jobId,
          claim,
          reapedAt: end.at,
          leaseEnd: Date.parse(String(leaseEnd)),
          beatAt: Date.parse(String(beatAt)),
          cause: String(cause),
        },
      ]
    }),
  )
}

export function checkTimes(history: History, stories: Map<string, Story>): Violation[] {
  const reaps = findReaps(stories)
  const starts = startTimes(history)
  return [
    ...reaps.flatMap((reap) => [...checkUnexpired(history, reap)]),
    ...checkOverdue(history),
    ...checkRescues(history, stories),
    ...reaps
      .filter((reap) => isFalse(history, reap, starts))
      .map(({ jobId, claim, reapedAt, beatAt, cause }) => ({
        invariant: 'I19',
        message: `job ${jobId}: reaped from ${claim.worker} at ${iso(reapedAt)}, last heartbeat ${iso(beatAt)}; ${cause === WORKER_GONE ? 'its process had not ended' : 'nothing was wrong with the worker'}`,
        isStarved: isStarved(history, claim.worker, beatAt, reapedAt),
      })),
  ]
}

function iso(ms: number) {
  return new Date(ms).toISOString()
}

function* checkUnexpired(
  { times, disturbances }: History,
  { jobId, claim, reapedAt, leaseEnd, cause }: Reap,
): Iterable<Violation> {
  // Whether it was, I19 judges (C24).
  if (cause === WORKER_GONE) return
  if (reapedAt < leaseEnd - ROUNDING_MS)
    yield {
      invariant: 'I10',
      message: `job ${jobId}: reaped ${leaseEnd - reapedAt} ms before its lease ended`,
    }
  // A lease lasts by the server's clock.
  const isStepped = disturbances.some(
    (step) => step.kind === 'server-clock-stepped' && isWithin(step, claim.at, reapedAt),
  )
  if (cause !== 'timeout' && !isStepped && reapedAt - claim.at < times.leaseMs - ROUNDING_MS)
    yield { invariant: 'I10', message: `job ${jobId}: reaped ${reapedAt - claim.at} ms after its claim` }
}

function startTimes({ ledger }: History) {
  const spans: Map<string, { from: number; to: number }> = new Map()
  for (const { kind, job, lease, at } of ledger) {
    const key = `${job} ${lease}`
    if (kind === 'started') spans.set(key, { from: at, to: Number.POSITIVE_INFINITY })
    const span = spans.get(key)
    if (kind === 'ended' && span !== undefined) span.to = at
  }
  return spans
}

/** Whether the job was reaped from a worker that ran it and could renew its lease. */
function isFalse(
  { disturbances }: History,
  { jobId, claim, reapedAt, leaseEnd, beatAt, cause }: Reap,
  starts: Map<string, { from: number; to: number }>,
) {
  if (cause === 'timeout') return false
  if (cause === WORKER_GONE) return !isEndKnown(disturbances, claim.worker, beatAt, reapedAt)
  const run = starts.get(`${jobId} ${claim.lease}`)
  // A claim whose response was lost, or was still unread in a blocked process, has no owner yet.
  if (run === undefined || run.from > leaseEnd || run.to < reapedAt) return false
  const during = disturbances.filter(
    (disturbance) => concerns(disturbance, claim.worker) && isWithin(disturbance, beatAt, reapedAt),
  )
  return during.reduce((sum, disturbance) => sum + weightOf(disturbance), 0) < 1
}

/** The process had ended, or it had lost its session where nothing of it could reach the server: then the fence protects. */
function isEndKnown(disturbances: Disturbance[], worker: string, beatAt: number, reapedAt: number) {
  if (endOf(disturbances, worker) <= reapedAt) return true
  const kinds = new Set(
    disturbances.flatMap((disturbance) =>
      concerns(disturbance, worker) && isWithin(disturbance, beatAt, reapedAt) ? [disturbance.kind] : [],
    ),
  )
  const has = (wanted: Set<string>) => [...kinds].some((kind) => wanted.has(kind))
  return kinds.has('half-open') || (has(UNREACHABLE) && has(ENDS_SESSION))
}

/** When the process ended; Infinity if it did not. */
function endOf(disturbances: Disturbance[], worker: string) {
  const end = disturbances.find(({ who, kind }) => who === worker && kind === 'gone')
  return end?.from ?? Number.POSITIVE_INFINITY
}

function weightOf({ kind }: Disturbance) {
  if (NO_EXCUSE.has(kind)) return 0
  return HALF_AN_EXCUSE.has(kind) ? 0.5 : 1
}

/** Side effects after a reap. No guarantee rules them out, so they are only counted (I14). */
export function measureLateEffects({ ledger }: History, stories: Map<string, Story>) {
  let count = 0
  let latestMs = 0
  for (const { kind, job, lease, at } of ledger) {
    if (kind !== 'effect') continue
    const end = stories.get(job ?? '')?.claims.find((claim) => claim.lease === lease)?.end
    if (end == null || !end.type.startsWith('reaper:') || at <= end.at) continue
    count++
    latestMs = Math.max(latestMs, Math.round(at - end.at))
  }
  return { count, latestMs }
}

/**
 * Reaps that neither an outage nor a hold delayed, with the time from the last heartbeat until the requeue. A stage or a
 * transaction may have had a longer lease, so the time after its end is what counts.
 */
function findRescues(history: History, stories: Map<string, Story>) {
  const { times, holds } = history
  // A reaper that stands by counts the last sweep's age by the server's clock.
  const steps = history.disturbances.filter(({ kind }) => kind === 'server-clock-stepped')
  const outages = [...outagesOf(history), ...steps]
  const isDelayed = ({ beatAt, leaseEnd, reapedAt }: Reap) =>
    outages.some((outage) => isWithin({ ...outage, to: outage.to + 2 * times.leaseMs }, beatAt, reapedAt)) ||
    holds.some(({ at }) => at >= leaseEnd && at <= reapedAt + times.sweepMs)
  return findReaps(stories)
    .filter((reap) => !isDelayed(reap))
    .map((reap) => ({ tookMs: times.leaseMs + reap.reapedAt - reap.leaseEnd, ...reap }))
}

/** The process that sweeps may have ended too: another one takes over within 2.1 intervals (ADR 0026). */
const TAKEOVER_INTERVALS = 2.1
const TAKEOVER_PACKETS = 3

function rescueBound({ times }: History) {
  return times.leaseMs + TAKEOVER_INTERVALS * times.sweepMs
}

function* checkRescues(history: History, stories: Map<string, Story>): Iterable<Violation> {
  const boundMs = rescueBound(history) + longestStallMs(history.stalls)
  const transactional = new Set(history.jobs.flatMap(({ id, type }) => (type === 'tx' ? [id] : [])))
  for (const { jobId, claim, leaseEnd, reapedAt, tookMs } of findRescues(history, stories)) {
    // An abandoned transaction keeps the row locked, and no sweep waits for it.
    const isLocked =
      transactional.has(jobId) &&
      history.disturbances.some(
        (disturbance) =>
          concerns(disturbance, claim.worker) &&
          HOLDS_SESSION.has(disturbance.kind) &&
          isWithin(disturbance, leaseEnd, reapedAt),
      )
    const delayMs = takeoverDelayMs(history, leaseEnd, reapedAt)
    if (tookMs > boundMs + delayMs && !isLocked)
      yield {
        invariant: 'rescue',
        message: `job ${jobId}: requeued at ${iso(reapedAt)}, ${Math.round(tookMs)} ms after its last heartbeat; the bound is ${Math.round(boundMs + delayMs)}`,
        isStarved: areAllStarved(history, leaseEnd, reapedAt),
      }
  }
}

/** Another process takes over with a report, its answer and a sweep. The last packets are sent while the network is slow. */
function takeoverDelayMs({ delays = [] }: History, from: number, to: number): number {
  const delaysMs = delays.map((delay) => {
    const delayMs = TAKEOVER_PACKETS * delay.packetMs
    return isWithin({ from: delay.from, to: delay.to + delayMs }, from, to) ? delayMs : 0
  })
  return Math.max(0, ...delaysMs)
}

function slowestOf(rescues: { tookMs: number }[]) {
  return Math.round(rescues.reduce((most, { tookMs }) => Math.max(most, tookMs), 0))
}

/** From the last heartbeat, but for workers that are gone: from the end of the process. */
function rescuesByCause({ disturbances }: History, rescues: (Reap & { tookMs: number })[]) {
  const byCause = new Map<string, { tookMs: number }[]>()
  for (const { cause, claim, reapedAt, tookMs } of rescues) {
    const endedAt = endOf(disturbances, claim.worker)
    const isTimed = cause === WORKER_GONE && endedAt <= reapedAt
    byCause.set(cause, [...(byCause.get(cause) ?? []), { tookMs: isTimed ? reapedAt - endedAt : tookMs }])
  }
  return Object.fromEntries(
    [...byCause].map(([cause, all]) => [cause, { count: all.length, slowestMs: slowestOf(all) }]),
  )
}

/** Rescue times, and how long jobs then waited for a worker after their backoff, which depends on free workers. */
export function measureRescues(history: History, stories: Map<string, Story>) {
  const rescues = findRescues(history, stories)
  let longestWaitMs = 0
  for (const { jobId, claim, reapedAt } of rescues) {
    const claims = stories.get(jobId)?.claims ?? []
    const next = claims[claims.indexOf(claim) + 1]
    if (next !== undefined)
      longestWaitMs = Math.max(longestWaitMs, next.at - Math.max(next.notBefore, reapedAt))
  }
  return {
    count: rescues.length,
    slowestMs: slowestOf(rescues),
    byCause: rescuesByCause(history, rescues),
    boundMs: rescueBound(history),
    stallMs: longestStallMs(history.stalls),
    longestWaitMs: Math.round(longestWaitMs),
  }
}
