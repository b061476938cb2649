// Explains why a job runs or does not run, from facts that a store reads on its own clock.
import { type AgeRule, explainUnjudged } from '../lease/age-rule.ts'
import { describeBusySlots, describeMissingWorker } from './explain-workers.ts'
import type { AbsenceFacts, JobFacts } from './job-facts.ts'
import { describeHolder } from './lock-holder.ts'
import { showDuration } from './show-duration.ts'
import { isReaperLate } from './table-health.ts'

export type ReasonCode =
  | 'SUCCEEDED'
  | 'CANCELLED'
  | 'DEAD_MAX_ATTEMPTS'
  | 'DEAD_PERMANENT'
  | 'DEAD_CRITICAL'
  | 'DEAD_EXPIRED'
  | 'LEASED'
  | 'WORKER_ABSENT'
  | 'WORKER_GONE'
  | 'CANCEL_ASKED'
  | 'LEASE_OVER_AWAITING_REAPER'
  | 'NO_REAPER'
  | 'LEASE_UNKNOWN'
  | 'OBSERVED'
  | 'BUDGET_SPENT'
  | 'EXPIRED'
  | 'QUEUE_PAUSED'
  | 'BREAKER_HELD'
  | 'BREAKER_OPEN'
  | 'BREAKER_PROBING'
  | 'SCHEDULED'
  | 'BACKOFF'
  | 'RELEASED_OFTEN'
  | 'LAST_CHANCE'
  | 'ROW_LOCKED'
  | 'NO_WORKER_FOR_TYPE'
  | 'ALL_SLOTS_BUSY'
  | 'AHEAD_IN_QUEUE'
  | 'RUNNABLE'

export interface Reason {
  code: ReasonCode
  /** This reason alone keeps the job from running, or from being requeued. */
  isBlocking: boolean
  message: string
  /** Time until it ends; null if unknown. */
  untilMs: number | null
}

export interface Explanation {
  verdict: 'ended' | 'running' | 'overdue' | 'blocked' | 'runnable'
  /** Blocking reasons first. */
  reasons: Reason[]
  /** Earliest start; null if it will not run, runs already, or the time is unknown. */
  runsInMs: number | null
  sentence: string
}

/** `ageRule` is that of the table, if the caller knows it: it explains running jobs without a lease. */
export function explainJob(facts: JobFacts, ageRule?: AgeRule): Explanation {
  if (facts.status === 'waiting') return explainWaiting(facts)
  if (facts.status === 'running') return explainRunning(facts, ageRule)
  return explainEnded(facts)
}

function explainEnded(facts: JobFacts): Explanation {
  const { status, error, endedAgoMs } = facts
  const ago = endedAgoMs === null ? '' : ` ${showDuration(endedAgoMs)} ago`
  if (status === 'succeeded') return ended('SUCCEEDED', `succeeded${ago}`, 'It is done.')
  const why = [error?.code, error?.reason].filter((part) => part !== null && part !== undefined).join(': ')
  const cause = why === '' ? '' : ` — ${why}`
  if (status === 'cancelled')
    return ended('CANCELLED', `cancelled${ago}${cause}`, 'It was cancelled and will not run.')
  const next = 'It is dead. Retry it to run it again.'
  const { category } = error ?? { category: null }
  if (facts.expiresInMs !== null && error?.code === 'EXPIRED')
    return ended('DEAD_EXPIRED', `ended${ago}, ${showDuration(-facts.expiresInMs)} after its expiry`, next)
  if (category === 'PERMANENT' || category === 'CRITICAL')
    return ended(`DEAD_${category}`, `ended${ago} by a permanent error${cause}`, next)
  return ended('DEAD_MAX_ATTEMPTS', `ended${ago} with ${counts(facts)}${cause}`, next)
}

function ended(code: ReasonCode, message: string, sentence: string): Explanation {
  const reasons = [{ code, isBlocking: true, message, untilMs: null }]
  return { verdict: 'ended', reasons, runsInMs: null, sentence }
}

function explainRunning(facts: JobFacts, ageRule: AgeRule | undefined): Explanation {
  const { workerId, leaseLeftMs, silentMs, isCancelAsked } = facts
  const worker = workerId ?? 'an unnamed worker'
  const asked: Reason[] = isCancelAsked
    ? [note('CANCEL_ASKED', 'the worker stops it at its next heartbeat, which a hint brings forward')]
    : []
  if (leaseLeftMs === null) {
    const { cause, remedy } = explainUnjudged(ageRule)
    const message = `${worker} runs it without a lease, and ${cause}`
    const reasons = [block('LEASE_UNKNOWN', message, null), ...asked]
    return { verdict: 'overdue', reasons, runsInMs: null, sentence: `No sweep touches it: ${remedy}.` }
  }
  if (leaseLeftMs < 0) return explainOverdue(facts, worker, asked)
  if (facts.absence !== null) return explainAbsent(facts, facts.absence, [...observed(facts), ...asked])
  const beat = silentMs === null ? '' : `, heartbeat ${showDuration(silentMs)} ago`
  const leased = note('LEASED', `on ${worker}, lease ${showDuration(leaseLeftMs)} left${beat}`)
  return { verdict: 'running', reasons: [leased, ...asked], runsInMs: null, sentence: 'It is running.' }
}

/** Between two looks, and from a look to the sweep that it starts. */
const LOOK_MS = 1_000

function explainAbsent(
  { workerId, reaperAgeMs, sweepIntervalMs, isObserved }: JobFacts,
  { sinceMs, graceLeftMs }: AbsenceFacts,
  others: Reason[],
): Explanation {
  const isGone = graceLeftMs === null
  const isSwept = !isObserved && !isReaperLate(reaperAgeMs, sweepIntervalMs)
  const untilMs = isSwept ? (graceLeftMs ?? 0) + LOOK_MS : null
  const ended = isGone ? 'ended' : 'ended, or lost its connection,'
  const requeue = untilMs === null ? '' : `the job is requeued in about ${seconds(untilMs)}`
  const next = requeue === '' ? '' : `; ${isGone ? '' : 'unless it returns, '}${requeue}`
  const message = `its worker ${workerId ?? ''} ${ended} ${seconds(sinceMs)} ago${next}`
  const reasons = [block(isGone ? 'WORKER_GONE' : 'WORKER_ABSENT', message, untilMs), ...others]
  if (!isObserved && !isSwept) reasons.push(noReaper(reaperAgeMs))
  const sentence = isSwept
    ? `A sweep requeues it in about ${seconds(untilMs ?? 0)}${isGone ? '' : ', unless its worker returns'}.`
    : `No sweep requeues it: ${isObserved ? observeRemedy : 'no reaper runs'}.`
  return { verdict: isGone ? 'overdue' : 'running', reasons, runsInMs: null, sentence }
}

function explainOverdue(facts: JobFacts, worker: string, asked: Reason[]): Explanation {
  const { leaseLeftMs, silentMs, deadlineLeftMs, reaperAgeMs, sweepIntervalMs, isObserved } = facts
  const isLate = isReaperLate(reaperAgeMs, sweepIntervalMs)
  const silence = silentMs === null ? '' : `, silent for ${showDuration(silentMs)}`
  const clock = deadlineLeftMs !== null && deadlineLeftMs <= 0 ? 'deadline' : 'lease'
  const over = `${worker} is past its ${clock} by ${showDuration(-(leaseLeftMs ?? 0))}${silence}`
  const untilMs = isLate || isObserved ? null : Math.max(0, sweepIntervalMs - (reaperAgeMs ?? 0))
  const reasons = [block('LEASE_OVER_AWAITING_REAPER', over, untilMs), ...locked(facts)]
  if (isLate) reasons.push(noReaper(reaperAgeMs))
  const nobody = isObserved ? observeRemedy : isLate ? 'no reaper runs' : null
  const sentence =
    nobody === null
      ? `A sweep requeues it within ${showDuration(untilMs ?? sweepIntervalMs)}.`
      : `No sweep requeues it: ${nobody}.`
  return { verdict: 'overdue', reasons: [...reasons, ...observed(facts), ...asked], runsInMs: null, sentence }
}

function noReaper(reaperAgeMs: number | null): Reason {
  const since = reaperAgeMs === null ? 'no sweep yet' : `last sweep ${showDuration(reaperAgeMs)} ago`
  return block('NO_REAPER', `${since}: start a worker, or unstuck reap`, null)
}

function explainWaiting(facts: JobFacts): Explanation {
  const { ahead } = facts
  const held = [
    ...observed(facts),
    ...budget(facts),
    ...expired(facts),
    ...paused(facts),
    ...broken(facts),
    ...early(facts),
    ...locked(facts),
  ]
  const blocking = [...held, ...unhandled(facts)]
  const behind = [...releasedOften(facts), ...lastChance(facts)]
  const busy = describeBusySlots(facts.workers)
  if (busy !== null) behind.push(note('ALL_SLOTS_BUSY', busy))
  if (ahead !== null && ahead > 0) {
    const jobs = ahead >= 1000 ? '1000 jobs or more' : count(ahead, 'job')
    behind.push(note('AHEAD_IN_QUEUE', `${jobs} of ${facts.queue} before it`))
  }
  if (blocking.length === 0) {
    const reasons = busy === null ? [note('RUNNABLE', 'nothing is in the way'), ...behind] : behind
    const sentence = turn(facts, busy === null && (ahead ?? 0) === 0)
    return { verdict: 'runnable', reasons, runsInMs: 0, sentence }
  }
  const ends = blocking.map(({ untilMs }) => untilMs)
  const runsInMs = ends.includes(null) ? null : Math.max(...ends.map((end) => end ?? 0))
  const sentence =
    runsInMs === null
      ? waitsFor(blocking)
      : `Will run at the earliest in ${showDuration(runsInMs)}. Nothing for you to do.`
  return { verdict: 'blocked', reasons: [...blocking, ...behind], runsInMs, sentence }
}

function turn({ isLastChance }: JobFacts, isNext: boolean): string {
  if (isLastChance) return 'It waits for a worker that runs nothing else.'
  return isNext ? 'The next free worker takes it.' : 'A worker takes it when it is its turn.'
}

function waitsFor(blocking: Reason[]): string {
  const endless = blocking.find(({ untilMs }) => untilMs === null)
  if (endless?.code === 'OBSERVED') return `No worker of unstuck takes it: ${observeRemedy}.`
  if (endless?.code === 'EXPIRED') return 'The next claim ends it as dead.'
  if (endless?.code === 'BUDGET_SPENT') return 'The next claim ends it as dead; retry it then.'
  if (endless?.code === 'ROW_LOCKED') return 'It waits for the transaction that holds a lock on its row.'
  if (endless?.code === 'NO_WORKER_FOR_TYPE') return 'It waits for a worker that handles it: start one.'
  return 'It waits until an operator resumes it.'
}

const observeRemedy = 'enable it with unstuck mode reap'

function observed({ isObserved }: JobFacts): Reason[] {
  const message = 'the table is in observe mode: unstuck changes no rows'
  return isObserved ? [block('OBSERVED', message, null)] : []
}

function budget(facts: JobFacts): Reason[] {
  return facts.hasBudget ? [] : [block('BUDGET_SPENT', `no attempt left: ${counts(facts)}`, null)]
}

function expired({ expiresInMs }: JobFacts): Reason[] {
  if (expiresInMs === null || expiresInMs > 0) return []
  return [block('EXPIRED', `not started before its expiry, ${showDuration(-expiresInMs)} ago`, null)]
}

function paused({ pause, queue }: JobFacts): Reason[] {
  if (pause === null) return []
  const { by, reason, sinceMs, leftMs } = pause
  const end = leftMs === null ? '' : `; ends in ${showDuration(leftMs)}`
  return [block('QUEUE_PAUSED', `${queue}, ${showDuration(sinceMs)} ago${told(by, reason)}${end}`, leftMs)]
}

function broken({ breaker }: JobFacts): Reason[] {
  if (breaker === null || breaker.state === 'closed') return []
  const { name, state, by, reason, sinceMs, nextProbeInMs, heldForMs, probing, probeSlots } = breaker
  const since = showDuration(sinceMs)
  if (state === 'held') {
    const end = heldForMs === null ? '' : `; ends in ${showDuration(heldForMs)}`
    return [block('BREAKER_HELD', `${name}, ${since} ago${told(by, reason)}${end}`, heldForMs)]
  }
  if (state === 'half-open') {
    if (probing < probeSlots) return []
    return [block('BREAKER_PROBING', `${name} is testing with ${probing} of ${probeSlots} jobs first`, 0)]
  }
  const probe = nextProbeInMs === null ? '' : `; next probe in ${showDuration(nextProbeInMs)}`
  return [block('BREAKER_OPEN', `${name} has been open for ${since}${probe}`, nextProbeInMs)]
}

function early({ runInMs, attempt, releases, lastEvent, error }: JobFacts): Reason[] {
  if (runInMs === null || runInMs <= 0) return []
  const wait = `for ${showDuration(runInMs)} more`
  if (attempt === 0 && releases === 0 && lastEvent?.type !== 'released')
    return [block('SCHEDULED', `scheduled to start in ${showDuration(runInMs)}`, runInMs)]
  return [block('BACKOFF', `${wait}${backoffCause(lastEvent, error)}`, runInMs)]
}

function backoffCause(lastEvent: JobFacts['lastEvent'], error: JobFacts['error']): string {
  if (lastEvent?.type === 'reaper:requeued') {
    const from = lastEvent.details['locked_by']
    const requeued = `requeued ${showDuration(lastEvent.agoMs)} ago`
    if (lastEvent.details['cause'] === 'worker-gone')
      return ` — its worker${typeof from === 'string' ? ` ${from}` : ''} ended; ${requeued}`
    return ` — ${requeued}${typeof from === 'string' ? ` from worker ${from}` : ''}`
  }
  if (lastEvent?.type === 'released') {
    const reason = lastEvent.details['reason']
    const why = typeof reason === 'string' ? `: ${reason}` : ''
    return ` — released ${showDuration(lastEvent.agoMs)} ago${why}`
  }
  return error?.code === null || error?.code === undefined
    ? ''
    : ` — its last attempt failed with ${error.code}`
}

function releasedOften({ isReleasedOften, releases }: JobFacts): Reason[] {
  if (!isReleasedOften) return []
  const message = `${count(releases, 'time')}, without an attempt spent: its waits double, up to 1 h`
  return [note('RELEASED_OFTEN', message)]
}

function lastChance({ isLastChance, crashes, keptWorkerId }: JobFacts): Reason[] {
  if (!isLastChance) return []
  const worker = keptWorkerId === null ? '' : `; ${keptWorkerId} takes no other jobs until it can run it`
  const message = `its workers crashed ${count(crashes, 'time')}, and one more crash ends it: it runs alone${worker}`
  return [note('LAST_CHANCE', message)]
}

function unhandled({ type, workers }: JobFacts): Reason[] {
  const message = describeMissingWorker(type, workers)
  return message === null ? [] : [block('NO_WORKER_FOR_TYPE', message, null)]
}

function locked({ isLocked, lockedBy }: JobFacts): Reason[] {
  if (isLocked !== true) return []
  if (lockedBy === null) return [block('ROW_LOCKED', 'another transaction holds a lock on its row', null)]
  return [block('ROW_LOCKED', `by ${describeHolder(lockedBy)}`, null)]
}

const block = (code: ReasonCode, message: string, untilMs: number | null): Reason => {
  return { code, isBlocking: true, message, untilMs }
}

const note = (code: ReasonCode, message: string): Reason => {
  return { code, isBlocking: false, message, untilMs: null }
}

/** Tenths matter here: `1.2 s`. */
const seconds = (ms: number) => (ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : showDuration(ms))

function told(by: string | null, reason: string | null): string {
  return `${by === null ? '' : ` by ${by}`}${reason === null ? '' : `: ${reason}`}`
}

function counts({ failures, crashes, timeouts, attempt, maxAttempts }: JobFacts): string {
  const parts = [count(failures, 'failure'), count(crashes, 'crash', 'crashes'), count(timeouts, 'timeout')]
  const spent = parts.filter((part) => part !== '').join(', ')
  return `attempt ${attempt}, maximum ${maxAttempts}${spent === '' ? '' : `, ${spent}`}`
}

function count(number: number, one: string, many = `${one}s`): string {
  return number === 0 ? '' : `${number} ${number === 1 ? one : many}`
}
