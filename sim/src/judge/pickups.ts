// A job that is due is claimed by the next poll of a worker that is idle and that nothing hinders, and much earlier if a hint
// reached that worker (C16: hints only save time, polls are the truth).
import { concerns } from '../../../chaos/src/faults/disturbances.ts'
import { type History, isWithin, type Violation } from '../../../chaos/src/judge/history.ts'
import { runTime, transitions } from '../../../chaos/src/judge/job-story.ts'
import type { Simulation } from '../world/simulation.ts'

/** A claim's way there and back, and a look before the cursor of a busy worker. */
const CLAIM_MS = 500
/** The same for a hint, its turn behind others of the fleet, alive or not, and the rest between two looks. */
const HINT_MS = 1_500
/** A slow network delays packets by this many times the usual for a while. */
const LATE_PACKETS = 30

/** They keep no worker from claiming. */
const HARMLESS = new Set(['clock-stepped', 'reaper-keeps-locks', 'hints-lost'])
/** They take a heartbeat to get over, and not until the next session. */
const MOMENTARY = new Set(['presence-ended'])

interface Span {
  from: number
  to: number
}

/** A job that waited from its due time until it was claimed. */
interface Wait extends Span {
  jobId: string
  /** A hint was sent then, to those who listened. */
  announcedAt: number
  /** A limit or a breaker may have closed its queue when the hint was sent. */
  isGated: boolean
}

interface Hold extends Span {
  worker: string
  /** It may block the event loop. */
  isBlocking: boolean
}

type Run = Pick<Simulation, 'plan' | 'evidence' | 'departures'> & Partial<Pick<Simulation, 'gates'>>

export function* checkPickups(run: Run, history: History): Iterable<Violation> {
  const { hintedPollMs, pollMs } = run.plan.settings
  const longestMs = (hintedPollMs ?? pollMs)[1] + CLAIM_MS
  const leastMs = hintedPollMs === null ? longestMs : Math.min(HINT_MS, pollMs[1] + CLAIM_MS)
  const late = waitsOf(run, history).filter(({ from, to }) => to - from > leastMs)
  if (late.length === 0) return
  const idle = new IdleWorkers(run, history)
  for (const wait of late)
    for (const worker of run.evidence.startedAt.keys()) {
      const boundMs = idle.boundMs(worker, wait)
      if (wait.to - wait.from <= boundMs || !idle.canClaim(worker, wait.from, wait.from + boundMs)) continue
      yield {
        invariant: 'pickup',
        message: `job ${wait.jobId}: due at ${wait.from}, not claimed within ${Math.round(boundMs)} ms, although ${worker} was idle`,
      }
      break
    }
}

/** Limits let a job wait for a place, and a last chance for a worker of its own. */
function waitsOf({ plan, gates }: Run, { jobs, events, policy }: History): Wait[] {
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

class IdleWorkers {
  readonly #run: Run
  readonly #history: History
  readonly #holds: Hold[]
  readonly #leaseMs: number

  constructor(run: Run, history: History) {
    this.#run = run
    this.#history = history
    this.#holds = holdsOf(run, history)
    this.#leaseMs = history.times.leaseMs
  }

  /** How long the job may wait after its due time, if this worker can claim it. */
  boundMs(worker: string, { announcedAt, from: dueAt, isGated }: Wait): number {
    const { plan, evidence } = this.#run
    const { pollMs, hintedPollMs } = plan.settings
    const hearing = evidence.hinted.get(worker) ?? []
    const until = dueAt + HINT_MS
    if (hintedPollMs === null || !hearing.some((span) => isWithin(span, dueAt, until)))
      return pollMs[1] + CLAIM_MS
    const hearsAll = hearing.some(({ from, to }) => from < announcedAt && to > until)
    const isTroubled = this.#history.disturbances.some(
      ({ kind, from, to }) =>
        kind === 'hints-lost' && isWithin({ from, to: to + this.#leaseMs }, announcedAt, until),
    )
    // A delay counts from when the hint is heard.
    const isLate =
      this.#isHindered(worker, announcedAt, dueAt) ||
      this.#holds.some(
        (hold) => hold.worker === worker && hold.isBlocking && isWithin(hold, announcedAt, dueAt),
      )
    return hearsAll && !isTroubled && !isLate && !isGated ? HINT_MS : hintedPollMs[1] + CLAIM_MS
  }

  /** Whether it had a free slot and nothing hindered it, from a lease before the job was due: it got over what was before. */
  canClaim(worker: string, dueAt: number, until: number): boolean {
    const { plan, evidence, departures } = this.#run
    const from = dueAt - this.#leaseMs
    const held = this.#holds.filter((hold) => hold.worker === worker && isWithin(hold, dueAt, until))
    return (
      (evidence.startedAt.get(worker) ?? until) <= from &&
      !departures.hasLeft(worker, until) &&
      held.length < plan.settings.concurrency &&
      !held.some(({ isBlocking }) => isBlocking) &&
      !evidence.kept.some((span) => isWithin(span, dueAt, until)) &&
      !this.#isHindered(worker, from, until)
    )
  }

  #isHindered(worker: string, from: number, until: number): boolean {
    const { disturbances, delays = [] } = this.#history
    return (
      disturbances.some(
        (disturbance) =>
          !HARMLESS.has(disturbance.kind) &&
          concerns(disturbance, worker) &&
          isWithin(MOMENTARY.has(disturbance.kind) ? momentOf(disturbance) : disturbance, from, until),
      ) ||
      delays.some((delay) =>
        isWithin({ from: delay.from, to: delay.to + LATE_PACKETS * delay.packetMs }, from, until),
      )
    )
  }
}

const momentOf = ({ from }: Span): Span => ({ from, to: from })

/** Jobs that workers held, by the database, and for longer if their handlers ran on. */
function holdsOf({ evidence }: Run, { events, ledger }: History): Hold[] {
  const holds = new Map<string, Hold>()
  const keyOf = (worker: string, jobId: string | undefined, fence: unknown) =>
    `${worker} ${jobId} ${String(fence)}`
  const begin = (worker: string, jobId: string, fence: unknown, from: number) => {
    const isBlocking = evidence.typeOf(jobId) === 'block'
    const hold = { worker, from, to: Number.POSITIVE_INFINITY, isBlocking }
    holds.set(keyOf(worker, jobId, fence), hold)
    return hold
  }
  const last = new Map<string, Hold>()
  for (const { jobId, type, at, details } of events) {
    if (type === 'processing')
      last.set(jobId, begin(String(details['worker_id']), jobId, details['lease_id'], at))
    else if (transitions[type] !== undefined) {
      const hold = last.get(jobId)
      if (hold !== undefined) hold.to = Math.min(hold.to, at)
    }
  }
  for (const { kind, worker, job = '', lease, at } of ledger) {
    const hold = holds.get(keyOf(worker, job, lease))
    if (kind === 'started') (hold ?? begin(worker, job, lease, at)).to = Number.POSITIVE_INFINITY
    else if (kind === 'ended' && hold !== undefined) hold.to = at
  }
  return [...holds.values()]
}
