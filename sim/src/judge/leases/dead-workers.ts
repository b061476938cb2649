// Presence: the jobs of a worker that died are taken back within seconds, whatever their leases, if another worker was there to
// notice it and nothing else was wrong (LEASE-10).
import { type History, isWithin, type Violation } from '../../../../chaos/src/judge/history.ts'
import type { Circumstances, Run } from '../circumstances.ts'

/** Two looks, the grace between them and a sweep. */
const RESCUE_MS = 8_000
/** So long before, each worker has its session, and two of them watch. */
const SETTLED_MS = 30_000

interface Death {
  worker: string
  at: number
}

export function* checkDeadWorkers(
  run: Run,
  history: History,
  circumstances: Circumstances,
): Iterable<Violation> {
  const { policy } = run.plan.settings
  if (policy.presence === 'off' || policy.defaultLeaseMs <= RESCUE_MS) return
  const ends = history.disturbances.flatMap(({ who, kind, from }) =>
    kind === 'gone' ? [{ worker: who, at: from }] : [],
  )
  for (const { jobId, type, at, details } of history.events) {
    if (!type.startsWith('reaper:')) continue
    const death = ends.find(({ worker }) => worker === details['locked_by'])
    if (death === undefined || at <= death.at + RESCUE_MS) continue
    if (isNoticed(death, ends, { run, history, circumstances }))
      yield {
        invariant: 'presence',
        message: `job ${jobId}: taken back ${at - death.at} ms after ${death.worker} had died, although another worker was there to notice it`,
      }
  }
}

/** Whether it was the only death for long, another worker stayed, and nothing hindered anybody. */
function isNoticed(
  { worker, at }: Death,
  ends: Death[],
  { run, history, circumstances }: { run: Run; history: History; circumstances: Circumstances },
): boolean {
  const { startedAt } = run.evidence
  const [from, until] = [at - SETTLED_MS, at + RESCUE_MS]
  const isSettled = (name: string) => (startedAt.get(name) ?? until) <= from
  if (run.departures.has(worker) || !isSettled(worker)) return false
  // A slow connection gets a longer grace.
  if (circumstances.isHindered(worker, startedAt.get(worker) ?? from, at - 1)) return false
  if (ends.some((end) => end.worker !== worker && end.at >= from && end.at <= until)) return false
  const others = [...startedAt.keys()].filter(
    (name) => name !== worker && !ends.some((end) => end.worker === name && end.at < from),
  )
  const hasWitness = others.some(isSettled)
  const isCalm =
    !history.disturbances.some(({ kind, ...span }) => kind !== 'gone' && isWithin(span, from, until)) &&
    others.every((name) => circumstances.isUnhindered(name, at, until))
  return hasWitness && isCalm
}
