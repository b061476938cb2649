// A job that is due is claimed by the next poll of a worker that is idle and that nothing hinders, and much earlier if a hint
// reached that worker (C16: hints only save time, polls are the truth).
import { type History, isWithin, type Violation } from '../../../../chaos/src/judge/history.ts'
import { runTime, transitions } from '../../../../chaos/src/judge/job-story.ts'
import { Circumstances, type Run, type Span } from '../circumstances.ts'

/** A claim's way there and back, and a look before the cursor of a busy worker. */
const CLAIM_MS = 500
/** The same for a hint, its turn behind others of the fleet, alive or not, and the rest between two looks. */
const HINT_MS = 1_500

/** A job that waited from its due time until it was claimed. */
export interface Wait extends Span {
  jobId: string
  /** A hint was sent then, to those who listened. */
  announcedAt: number
  /** A limit or a breaker may have closed its queue when the hint was sent. */
  isGated: boolean
}

export function* checkPickups(
  run: Run,
  history: History,
  circumstances = new Circumstances(run, history),
): Iterable<Violation> {
  const { hintedPollMs, pollMs } = run.plan.settings
  const longestMs = (hintedPollMs ?? pollMs)[1] + CLAIM_MS
  const leastMs = hintedPollMs === null ? longestMs : Math.min(HINT_MS, pollMs[1] + CLAIM_MS)
  const late = waitsOf(run, history).filter(({ from, to }) => to - from > leastMs)
  if (late.length === 0) return
  for (const wait of late)
    for (const worker of run.evidence.startedAt.keys()) {
      const boundMs = boundOf(worker, wait, { run, history, circumstances })
      const until = wait.from + boundMs
      if (wait.to <= until || !circumstances.canClaim(worker, wait.from, until)) continue
      yield {
        invariant: 'pickup',
        message: `job ${wait.jobId}: due at ${wait.from}, not claimed within ${Math.round(boundMs)} ms, although ${worker} was idle`,
      }
      break
    }
}

/** Limits let a job wait for a place, and a last chance for a worker of its own. */
export function waitsOf({ plan, gates }: Run, { jobs, events, policy }: History): Wait[] {
  const rows = new Map(jobs.map((job) => [job.id, job]))
  const waits: Wait[] = []
  const waiting = new Map<string, Pick<Wait, 'announcedAt' | 'from'>>()
  const crashes = new Map<string, number>()
  for (const event of events) {
    const { jobId, type, at } = event
    if (type.startsWith('reaper:')) crashes.set(jobId, (crashes.get(jobId) ?? 0) + 1)
    if (type === 'queued') crashes.set(jobId, 0)
    const wait = waiting.get(jobId)
    const row = rows.get(jobId)
    const isJudged =
      !Object.hasOwn(plan.limits, row?.queue ?? '') && (crashes.get(jobId) ?? 0) < policy.maxCrashes - 1
    if (type === 'processing' && wait !== undefined && isJudged) {
      const isGated = row !== undefined && gates?.has(row.type) === true
      const from = isGated ? gates.openSince(row, wait.from, at) : wait.from
      if (from !== null) waits.push({ ...wait, jobId, from, to: at, isGated })
    }
    if (type === 'queued' || transitions[type]?.to === 'waiting')
      waiting.set(jobId, { announcedAt: at, from: Math.max(at, runTime(event)) })
    else if (type === 'processing' || transitions[type] !== undefined) waiting.delete(jobId)
  }
  return waits
}

interface Whole {
  run: Run
  history: History
  circumstances: Circumstances
}

/** How long the job may wait after its due time, if this worker can claim it. */
function boundOf(
  worker: string,
  { announcedAt, from: dueAt, isGated }: Wait,
  { run, history, circumstances }: Whole,
): number {
  const { pollMs, hintedPollMs } = run.plan.settings
  const hearing = run.evidence.hinted.get(worker) ?? []
  const until = dueAt + HINT_MS
  if (hintedPollMs === null || !hearing.some((span) => isWithin(span, dueAt, until)))
    return pollMs[1] + CLAIM_MS
  const hearsAll = hearing.some(({ from, to }) => from < announcedAt && to > until)
  const isTroubled = history.disturbances.some(
    ({ kind, from, to }) =>
      kind === 'hints-lost' && isWithin({ from, to: to + history.times.leaseMs }, announcedAt, until),
  )
  // A delay counts from when the hint is heard.
  const isLate =
    circumstances.isHindered(worker, announcedAt, dueAt) ||
    circumstances.isBlocked(worker, announcedAt, dueAt)
  return hearsAll && !isTroubled && !isLate && !isGated ? HINT_MS : hintedPollMs[1] + CLAIM_MS
}
