// Explains why a job runs or does not run, from facts that a store reads on its own clock.
import { type AgeRule, explainUnjudged } from '../lease/age-rule.ts'
import { explainWaiting } from './explain-waiting.ts'
import type { AbsenceFacts, CancelFacts, JobFacts } from './job-facts.ts'
import {
  block,
  counts,
  type Explanation,
  locked,
  note,
  observed,
  observeRemedy,
  type Reason,
  type ReasonCode,
  told,
} from './reason.ts'
import { remediesFor } from './remedy.ts'
import { showDuration } from './show-duration.ts'
import { isReaperLate } from './table-health.ts'

export type { Explanation } from './reason.ts'

/** `ageRule` is that of the table, if the caller knows it: it explains running jobs without a lease. */
export function explainJob(facts: JobFacts, ageRule?: AgeRule): Explanation {
  const explanation = explainState(facts, ageRule)
  const reasons = explanation.reasons.map((reason) => ({
    ...reason,
    remedies: remediesFor(reason.code, facts),
  }))
  return { ...explanation, reasons }
}

function explainState(facts: JobFacts, ageRule: AgeRule | undefined): Explanation {
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
  if (status === 'cancelled') {
    const by = facts.cancel === null ? cause : told(facts.cancel.by, facts.cancel.reason)
    return ended(
      'CANCELLED',
      `cancelled${ago}${by}`,
      `It was cancelled${whoOf(facts.cancel)} and will not run.`,
    )
  }
  const next = 'It is dead. Retry it to run it again.'
  const { category } = error ?? { category: null }
  if (facts.expiresInMs !== null && error?.code === 'EXPIRED')
    return ended('DEAD_EXPIRED', `ended${ago}, ${showDuration(-facts.expiresInMs)} after its expiry`, next)
  if (category === 'PERMANENT' || category === 'CRITICAL')
    return ended(`DEAD_${category}`, `ended${ago} by a permanent error${cause}`, next)
  return ended('DEAD_MAX_ATTEMPTS', `ended${ago} with ${counts(facts)}${cause}`, next)
}

const whoOf = (cancel: CancelFacts | null) => (cancel === null ? '' : ` by ${cancel.by}`)

function ended(code: ReasonCode, message: string, sentence: string): Explanation {
  // Nothing is wrong with a job that is done.
  const reasons = [{ code, isBlocking: code !== 'SUCCEEDED', message, untilMs: null }]
  return { verdict: 'ended', reasons, runsInMs: null, sentence }
}

function explainRunning(facts: JobFacts, ageRule: AgeRule | undefined): Explanation {
  const { workerId, leaseLeftMs, silentMs, isCancelAsked } = facts
  const worker = workerId ?? 'an unnamed worker'
  const by = facts.cancel === null ? '' : `cancelled${told(facts.cancel.by, facts.cancel.reason)}; `
  const asked: Reason[] = isCancelAsked
    ? [note('CANCEL_ASKED', `${by}the worker stops it at its next heartbeat, or sooner if a hint arrives`)]
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
  const isUnswept = isLate || isObserved || facts.isLocked === true
  const sweepMs = Math.max(0, sweepIntervalMs - (reaperAgeMs ?? 0))
  const untilMs = isUnswept ? null : Math.max(sweepMs, facts.heldForMs ?? 0)
  const reasons = [
    block('LEASE_OVER_AWAITING_REAPER', over, untilMs),
    ...locked(facts),
    ...held(facts.heldForMs),
  ]
  if (isLate) reasons.push(noReaper(reaperAgeMs))
  return {
    verdict: 'overdue',
    reasons: [...reasons, ...observed(facts), ...asked],
    runsInMs: null,
    sentence: sweepSentence(facts, untilMs),
  }
}

/** After an outage its worker has one lease to reconnect. */
function held(heldForMs: number | null): Reason[] {
  if (heldForMs === null) return []
  const message = `its lease expired while the database was unreachable: its worker may reconnect for ${showDuration(heldForMs)} more`
  return [block('HELD', message, heldForMs)]
}

function sweepSentence(
  { isObserved, isLocked, isCancelAsked, heldForMs }: JobFacts,
  untilMs: number | null,
): string {
  const verb = isCancelAsked ? 'cancels' : 'requeues'
  if (isObserved) return `No sweep ${verb} it: ${observeRemedy}.`
  if (isLocked === true) return 'Sweeps skip it until the transaction that holds a lock on its row has ended.'
  if (untilMs === null) return `No sweep ${verb} it: no reaper runs.`
  const unless = heldForMs === null ? '' : ', unless its worker reconnects'
  return `A sweep ${verb} it within ${showDuration(untilMs)}${unless}.`
}

function noReaper(reaperAgeMs: number | null): Reason {
  const since =
    reaperAgeMs === null ? 'no reaper has swept yet' : `no reaper has swept for ${showDuration(reaperAgeMs)}`
  return block('NO_REAPER', `${since}: start a worker, or unstuck reaper`, null)
}

/** Tenths matter here: `1.2 s`. */
const seconds = (ms: number) => (ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : showDuration(ms))
