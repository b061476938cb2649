// The jobs that each worker held, and the faults that hindered it, at any time of a run.
import { concerns } from '../../../chaos/src/faults/disturbances.ts'
import { type History, isWithin } from '../../../chaos/src/judge/history.ts'
import { transitions } from '../../../chaos/src/judge/job-story.ts'
import type { Simulation } from '../world/simulation.ts'

/** A slow network delays packets by this many times the usual for a while. */
export const LATE_PACKETS = 30

/** They hinder no worker. */
const HARMLESS = new Set(['clock-stepped', 'reaper-keeps-locks', 'hints-lost', 'dependency-down'])
/** They take a heartbeat to get over, and not until the next session. */
const MOMENTARY = new Set(['presence-ended'])

export interface Span {
  from: number
  to: number
}

/** A job that a worker has claimed, until it is over for both the database and the worker. */
export interface Hold extends Span {
  worker: string
  jobId: string
  startedAt: number | null
  /** It may block the event loop. */
  isBlocking: boolean
}

export type Run = Pick<Simulation, 'plan' | 'evidence' | 'departures'> & Partial<Pick<Simulation, 'gates'>>

export class Circumstances {
  readonly #run: Run
  readonly #history: History
  readonly #leaseMs: number
  #holds: Map<string, Hold[]> | undefined

  constructor(run: Run, history: History) {
    this.#run = run
    this.#history = history
    this.#leaseMs = history.times.leaseMs
  }

  /** By worker. Few runs need them. */
  get holds(): ReadonlyMap<string, Hold[]> {
    this.#holds ??= byWorker(holdsOf(this.#run, this.#history))
    return this.#holds
  }

  holdsWithin(worker: string, from: number, until: number): Hold[] {
    return this.holds.get(worker)?.filter((hold) => isWithin(hold, from, until)) ?? []
  }

  /** Whether a handler may have blocked its event loop. */
  isBlocked(worker: string, from: number, until: number): boolean {
    return this.holdsWithin(worker, from, until).some(({ isBlocking }) => isBlocking)
  }

  /** Whether it ran and nothing hindered it, from a lease before: it got over what was before that. */
  isUnhindered(worker: string, from: number, until: number): boolean {
    const sinceMs = from - this.#leaseMs
    return !this.isHindered(worker, sinceMs, until) && !this.isBlocked(worker, sinceMs, until)
  }

  isHindered(worker: string, from: number, until: number): boolean {
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

  /** Whether it had a free slot and nothing hindered it, from a lease before. */
  canClaim(worker: string, from: number, until: number): boolean {
    const { plan, evidence } = this.#run
    return (
      this.isFree(worker, from, until) &&
      this.holdsWithin(worker, from, until).length < plan.settings.concurrency &&
      !evidence.kept.some((span) => isWithin(span, from, until))
    )
  }

  /** Whether it had started, had not left, and nothing hindered it from a lease before or blocked its event loop. */
  isFree(worker: string, from: number, until: number): boolean {
    const { evidence, departures } = this.#run
    const sinceMs = from - this.#leaseMs
    if ((evidence.startedAt.get(worker) ?? until) > sinceMs || departures.hasLeft(worker, until)) return false
    return !this.isBlocked(worker, from, until) && !this.isHindered(worker, sinceMs, until)
  }
}

const momentOf = ({ from }: Span): Span => ({ from, to: from })

function byWorker(holds: Hold[]): Map<string, Hold[]> {
  const groups = new Map<string, Hold[]>()
  for (const hold of holds) {
    const group = groups.get(hold.worker)
    if (group === undefined) groups.set(hold.worker, [hold])
    else group.push(hold)
  }
  return groups
}

/** By the database, and for longer if their handlers ran on. */
function holdsOf({ evidence }: Run, { events, ledger }: History): Hold[] {
  const holds = new Map<string, Hold>()
  const keyOf = (worker: string, jobId: string | undefined, fence: unknown) =>
    `${worker} ${jobId} ${String(fence)}`
  const begin = (worker: string, jobId: string, fence: unknown, from: number) => {
    const isBlocking = evidence.typeOf(jobId) === 'block'
    const hold: Hold = { worker, jobId, from, to: Number.POSITIVE_INFINITY, startedAt: null, isBlocking }
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
    if (kind === 'started')
      Object.assign(hold ?? begin(worker, job, lease, at), { startedAt: at, to: Number.POSITIVE_INFINITY })
    else if (kind === 'ended' && hold !== undefined) hold.to = at
  }
  return [...holds.values()]
}
