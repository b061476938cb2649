// How a worker leaves: soon after it was asked, without further claims, and with the time that its jobs were promised (C18).
import { type History, overlapMs, type Violation } from '../../../../chaos/src/judge/history.ts'
import type { Circumstances, Run, Span } from '../circumstances.ts'

/** The way of a call and its answer, and a timer that is late. */
const CALLS_MS = 1_000
/** The last writes, heartbeat and report of a worker whose calls are not answered. */
const LAST_CALLS_MS = 13_000
/** A handler has this share of the grace at most for what it does after its signal. */
const LAST_PART = 1 / 5
const ROUNDING_MS = 2

export function* checkLeaving(run: Run, history: History, circumstances: Circumstances): Iterable<Violation> {
  const { departures, plan } = run
  const say = (message: string): Violation => ({ invariant: 'leaving', message })
  const { policy, graceMs } = plan.settings
  for (const { worker, at } of departures.lateClaims) yield say(`${worker} leaves, and claims at ${at}`)
  for (const [worker, at] of departures.asked) {
    const until = at + policy.sweepIntervalMs + CALLS_MS
    if (!departures.hasLeft(worker, until) && circumstances.isUnhindered(worker, at, until))
      yield say(`${worker} did not begin to leave within ${until - at} ms after an operator asked for it`)
  }
  for (const [worker, span] of departures.spans) {
    const stayed = { worker, graceMs, ...span }
    for (const message of [startLate(stayed, history), abortEarly(stayed, run), stayLong(stayed, run)])
      if (message !== null) yield say(message)
    const message = stayedOn(stayed, history)
    const isUnhindered = () =>
      !departures.isHindered(worker) && circumstances.isUnhindered(worker, span.from, span.to - 1)
    if (message !== null && isUnhindered()) yield say(message)
  }
}

interface Stay extends Span {
  worker: string
  graceMs: number
}

function startLate({ worker, from }: Stay, { ledger }: History): string | null {
  const start = ledger.find((line) => line.kind === 'started' && line.worker === worker && line.at > from)
  return start === undefined ? null : `${worker} leaves, and starts job ${start.job} at ${start.at}`
}

function abortEarly({ worker, from, graceMs }: Stay, { evidence, plan }: Run): string | null {
  const leastMs = graceMs - Math.min(plan.settings.hangGraceMs, graceMs * LAST_PART) - ROUNDING_MS
  const abort = evidence.aborts.find(
    ({ worker: who, reason, at }) => who === worker && reason === 'shutdown' && at < from + leastMs,
  )
  return abort === undefined
    ? null
    : `job ${abort.jobId}: aborted ${abort.at - from} ms after ${worker} began to leave, before its grace was over`
}

/** Whatever hinders it: for as long as it is stopped or blocked it cannot leave. */
function stayLong({ worker, from, to, graceMs }: Stay, { evidence }: Run): string | null {
  if (to === Number.POSITIVE_INFINITY) return null
  const stalls = evidence.disturbances.filter(
    ({ who, kind }) => who === worker && (kind === 'pause' || kind === 'block'),
  )
  const stayedMs = to - from - overlapMs(stalls, from, to)
  const mostMs = graceMs + LAST_CALLS_MS
  return stayedMs > mostMs
    ? `${worker} left ${stayedMs} ms after it began to, and not within ${mostMs} ms`
    : null
}

/** To be excused by what hindered it. */
function stayedOn({ worker, from, to, graceMs }: Stay, { ledger }: History): string | null {
  if (to === Number.POSITIVE_INFINITY) return null
  const ends = ledger.filter((line) => line.kind === 'ended' && line.worker === worker && line.at >= from)
  const lastAt = Math.max(from, ...ends.map(({ at }) => at))
  if (lastAt > from + graceMs + CALLS_MS)
    return `${worker} gave its last job up ${lastAt - from} ms after it began to leave, with a grace of ${graceMs} ms`
  return to > lastAt + CALLS_MS ? `${worker} stayed ${to - lastAt} ms after its last job had ended` : null
}
