// Explains why a waiting job does not run yet, and what has to happen before it does.
import { isUnheard } from '../dependency/breaker.ts'
import { describeBusySlots, describeMissingWorker } from './explain-workers.ts'
import type { HoldingBreaker, JobFacts } from './job-facts.ts'
import {
  block,
  count,
  counts,
  type Explanation,
  locked,
  note,
  observed,
  observeRemedy,
  type Reason,
  told,
} from './reason.ts'
import { showDuration } from './show-duration.ts'

export function explainWaiting(facts: JobFacts): Explanation {
  const { ahead } = facts
  const held = [
    ...observed(facts),
    ...budget(facts),
    ...expired(facts),
    ...paused(facts),
    ...broken(facts),
    ...full(facts),
    ...early(facts),
    ...locked(facts),
  ]
  const blocking = [...held, ...unhandled(facts)]
  const behind = [...unheard(facts), ...releasedOften(facts), ...lastChance(facts)]
  const busy = describeBusySlots(facts.workers)
  if (busy !== null) behind.push(note('ALL_SLOTS_BUSY', busy))
  if (ahead !== null && ahead > 0) {
    behind.push(note('AHEAD_IN_QUEUE', `${showAhead(ahead)} of ${facts.queue} before it`))
  }
  const isBehind = busy !== null || (ahead ?? 0) > 0
  if (blocking.length === 0) {
    const reasons = busy === null ? [note('RUNNABLE', 'nothing blocks it'), ...behind] : behind
    // How long the jobs before it take is unknown.
    return { verdict: 'runnable', reasons, runsInMs: isBehind ? null : 0, sentence: turn(facts, busy) }
  }
  const ends = blocking.map(({ untilMs }) => untilMs)
  const runsInMs = ends.includes(null) ? null : Math.max(...ends.map((end) => end ?? 0))
  const sentence = runsInMs === null ? waitsFor(blocking) : `${earliest(runsInMs)}${afterwards(facts, busy)}`
  return {
    verdict: 'blocked',
    reasons: [...blocking, ...behind],
    runsInMs: isBehind ? null : runsInMs,
    sentence,
  }
}

function earliest(runsInMs: number): string {
  return `Will run at the earliest in ${showDuration(runsInMs)}.`
}

/** The wait after the time that blocks it. */
function afterwards({ ahead, queue }: JobFacts, busy: string | null): string {
  const before = ahead === null || ahead === 0 ? '' : ` after ${showAhead(ahead)} of ${queue}`
  if (before === '' && busy === null) return ' Nothing for you to do.'
  return ` Then it starts when a slot is free${before}.`
}

function turn({ isLastChance, ahead, queue }: JobFacts, busy: string | null): string {
  if (isLastChance) return 'It waits for a worker that runs nothing else.'
  const before = ahead === null || ahead === 0 ? '' : `${showAhead(ahead)} of ${queue} before it`
  if (busy !== null)
    return before === ''
      ? `It starts when a slot is free: ${busy}.`
      : `It waits for ${before}, and no slot is free: ${busy}.`
  return before === '' ? 'The next free worker takes it.' : `It waits for ${before}.`
}

const showAhead = (ahead: number) => (ahead >= 1000 ? '1000 jobs or more' : count(ahead, 'job'))

function waitsFor(blocking: Reason[]): string {
  const endless = blocking.find(({ untilMs }) => untilMs === null)
  if (endless?.code === 'OBSERVED') return `No worker of unstuck takes it: ${observeRemedy}.`
  if (endless?.code === 'EXPIRED') return 'The next claim ends it as dead.'
  if (endless?.code === 'BUDGET_SPENT') return 'The next claim ends it as dead; retry it then.'
  if (endless?.code === 'ROW_LOCKED') return 'It waits for the transaction that holds a lock on its row.'
  if (endless?.code === 'QUEUE_FULL') return 'It waits until a job of its queue has ended.'
  if (endless?.code === 'GROUP_FULL') return 'It waits until a job of its group has ended.'
  if (endless?.code === 'GROUP_ORDER') return 'It waits until the jobs of its group before it have ended.'
  if (endless?.code === 'BREAKER_PROBING') return 'It waits for the jobs that test its dependency.'
  if (endless?.code === 'NO_WORKER_FOR_TYPE') return 'It waits for a worker that handles it: start one.'
  return 'It waits until an operator resumes it.'
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
    const probe = block(
      'BREAKER_PROBING',
      `${name} is testing with ${probing} of ${probeSlots} jobs first`,
      null,
    )
    return probing < probeSlots ? [] : [probe]
  }
  const probe = nextProbeInMs === null ? '' : `; next probe in ${showDuration(nextProbeInMs)}`
  return [block('BREAKER_OPEN', `${name} has been open for ${since}${probe}`, nextProbeInMs)]
}

function full({ jobId, queue, limit }: JobFacts): Reason[] {
  if (limit === null) return []
  const { concurrency, running, group, groupConcurrency, groupRunning, headId } = limit
  const reasons: Reason[] = []
  if (concurrency !== null && (running ?? 0) >= concurrency)
    reasons.push(block('QUEUE_FULL', `${running} of ${concurrency} jobs of ${queue} run`, null))
  if (groupConcurrency !== null && (groupRunning ?? 0) >= groupConcurrency)
    reasons.push(
      block('GROUP_FULL', `${groupRunning} of ${groupConcurrency} jobs of its group ${group} run`, null),
    )
  else if (headId !== null && headId !== jobId)
    reasons.push(block('GROUP_ORDER', `job ${headId} of its group ${group} comes first`, null))
  return reasons
}

/** Jobs are let through, and no call is reported: it stays half-open for ever. */
function unheard({ breaker }: JobFacts): Reason[] {
  if (breaker === null || !isUnheard(breaker)) return []
  return [note('BREAKER_UNHEARD', describeUnheard(breaker))]
}

export function describeUnheard({ name, unheard: jobs }: Pick<HoldingBreaker, 'name' | 'unheard'>): string {
  return `${name} stays half-open: ${unheardText(jobs)}`
}

export const unheardText = (jobs: number) =>
  `its last ${jobs === 1 ? 'job' : `${jobs} jobs`} reported no call; name it as the dependency of the handler, or close it`

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
  const message = `${count(releases, 'time')}, without spending an attempt: its waits double, up to 1 h`
  return [note('RELEASED_OFTEN', message)]
}

function lastChance({ isLastChance, crashes, keptWorkerId }: JobFacts): Reason[] {
  if (!isLastChance) return []
  const worker = keptWorkerId === null ? '' : `; ${keptWorkerId} takes no other jobs until it can run it`
  const message = `its workers crashed ${count(crashes, 'time')}, and one more crash ends it: it runs alone${worker}`
  return [note('LAST_CHANCE', message)]
}

function unhandled({ type, queue, workers }: JobFacts): Reason[] {
  const message = describeMissingWorker({ type, queue }, workers)
  return message === null ? [] : [block('NO_WORKER_FOR_TYPE', message, null)]
}
