// Evidence of a run for its judge, beside the rows and events of the database.
import type { Disturbance } from '../../../chaos/src/faults/disturbances.ts'
import type { LedgerLine, Violation } from '../../../chaos/src/judge/history.ts'
import type { Sample } from '../../../chaos/src/judge/table-sampler.ts'
import { type ClaimedJob, type Lease, leaseKey } from '../../../src/job/lease.ts'
import type { SweepCall } from '../database/sweeps.ts'
import { EPOCH_MS, type VirtualTime } from './virtual-time.ts'

interface Span {
  from: number
  to: number
}

export interface Abort extends Lease {
  worker: string
  at: number
  reason: string
}

interface Deadline {
  worker: string
  claimedAt: number
  at: number
}

export class Evidence {
  readonly #time: VirtualTime
  readonly #ledger: LedgerLine[] = []
  /** When the worker heard of each line. What a blocked event loop writes down later may be lost by then. */
  readonly #heardAt: number[] = []
  readonly disturbances: Disturbance[] = []
  readonly samples: Sample[] = []
  readonly holds: { at: number; reason: string }[] = []
  readonly enqueuedIds: string[] = []
  /** Jobs that an operator started anew. */
  readonly retriedIds = new Set<string>()
  /** Found during the run. */
  readonly violations: Violation[] = []
  /** Lease ids by job and fence. */
  readonly #leases = new Map<string, string>()
  /** By job. */
  readonly #types = new Map<string, string>()
  /** The last one. */
  #silence: Disturbance | undefined
  /** The server's clock has stepped forward since the last sweep of a reaper. */
  #isStepUnjudged = false
  /** By worker without a session. */
  readonly #sessionEnds = new Map<string, Disturbance>()
  readonly #enqueuedAt = new Map<string, number>()
  /** When each process started. */
  readonly startedAt = new Map<string, number>()
  /** By worker: when hints reached it. */
  readonly hinted = new Map<string, Span[]>()
  /** When a worker was reserved for a job, or ran one alone. */
  readonly kept: Span[] = []
  /** Attempts that were told to stop. */
  readonly aborts: Abort[] = []
  /** By job and lease, of claims whose stage has one: the deadline as the database knows it. */
  readonly deadlines = new Map<string, Deadline>()
  /** By job and lease: when its worker learned that it is lost. */
  readonly #abortedAt = new Map<string, number>()
  /** Commits of these times were lost in failovers. */
  readonly #lost: { from: number; to: number }[] = []

  constructor(time: VirtualTime) {
    this.#time = time
  }

  get #now(): number {
    return EPOCH_MS + this.#time.nowMs
  }

  /** For one who looks for violations of an invariant. */
  reporter(invariant: string): (message: string) => void {
    return (message) => void this.violations.push({ invariant, message })
  }

  disturb(who: string, kind: string, durationMs: number): Disturbance {
    const from = this.#now
    const disturbance = { who, kind, from, to: from + durationMs }
    this.disturbances.push(disturbance)
    return disturbance
  }

  /**
   * Nobody was heard, or no sweep got through, whatever hit each of the processes: an outage, as if one fault had hit them all. It
   * excuses no reap.
   */
  noteSilence(from: number, to: number): void {
    const last = this.#silence
    if (last !== undefined && from <= last.to) last.to = to
    else {
      this.#silence = { who: 'workers', kind: 'workers-cut-off', from, to }
      this.disturbances.push(this.#silence)
    }
  }

  noteServerStep(ms: number): void {
    this.disturb('*', 'server-clock-stepped', 0)
    this.#isStepUnjudged ||= ms > 0
  }

  /** The first sweep of a process cannot know of a step before it, and holds nothing (C9: no earlier tick means no hold). */
  noteSweepAfterStep({ request: { reaper, cursor }, step }: SweepCall): void {
    if (!this.#isStepUnjudged) return
    // Events are dated in whole milliseconds.
    if (reaper?.lastSweptAt === undefined && step.reaped.length > 0)
      this.disturb('*', 'step-unknown', 0).from -= 1
    if (cursor === undefined && step.next === null) this.#isStepUnjudged = false
  }

  /** A sweep takes a step for one that a reaper has judged that got through while this one was on its way for so long. */
  noteLateSweep(): void {
    // Events have whole milliseconds.
    this.disturb('*', 'late-sweep', 0).from -= 1
  }

  /** It lasts until the worker has another session, which full slots may prevent for long. */
  noteSessionEnd(worker: string): void {
    if (this.#sessionEnds.has(worker)) return
    this.#sessionEnds.set(worker, this.disturb(worker, 'presence-ended', Number.POSITIVE_INFINITY))
  }

  noteSession(worker: string): void {
    const end = this.#sessionEnds.get(worker)
    if (end !== undefined) end.to = this.#now
    this.#sessionEnds.delete(worker)
  }

  noteWorker(worker: string): void {
    this.startedAt.set(worker, this.#now)
  }

  noteHints(worker: string, areArriving: boolean): void {
    const spans = this.hinted.get(worker) ?? []
    this.hinted.set(worker, spans)
    this.#noteState(spans, areArriving)
  }

  /** `ms`: by the clock of the simulation. */
  hearsHintsSince(worker: string, ms: number): boolean {
    const last = this.hinted.get(worker)?.at(-1)
    return last !== undefined && last.to === Number.POSITIVE_INFINITY && last.from < EPOCH_MS + ms
  }

  noteKept(isAnyKept: boolean): void {
    this.#noteState(this.kept, isAnyKept)
  }

  #noteState(spans: Span[], is: boolean): void {
    const last = spans.at(-1)
    const isOpen = last?.to === Number.POSITIVE_INFINITY
    if (is && !isOpen) spans.push({ from: this.#now, to: Number.POSITIVE_INFINITY })
    if (!is && isOpen) last.to = this.#now
  }

  noteClaims(worker: string, claims: ClaimedJob[]): void {
    for (const { jobId, fence, leaseId, type, deadlineMs } of claims) {
      this.#leases.set(`${jobId} ${fence}`, leaseId)
      this.#types.set(jobId, type)
      if (deadlineMs !== null)
        this.deadlines.set(leaseKey({ jobId, leaseId }), {
          worker,
          claimedAt: this.#now,
          at: this.#now + deadlineMs,
        })
    }
  }

  /** Known from its claims: a failover may undo the job itself, while its handler runs. */
  typeOf(jobId: string): string | undefined {
    return this.#types.get(jobId)
  }

  note(line: LedgerLine): void {
    this.#ledger.push(line)
    this.#heardAt.push(this.#now)
  }

  /** Verbs with leases answer one outcome for each. */
  noteAnswered(
    worker: string,
    verb: string,
    leases: readonly Lease[],
    outcomes: { outcome: string }[],
  ): void {
    for (const [index, { jobId: job, leaseId: lease }] of leases.entries()) {
      const outcome = outcomes[index]?.outcome ?? ''
      this.note({ kind: 'answered', at: this.#now, worker, pid: 0, job, lease, verb, outcome })
    }
  }

  noteAborted(worker: string, { jobId, leaseId }: Lease, reason: string): void {
    this.aborts.push({ worker, jobId, leaseId, reason, at: EPOCH_MS + this.#time.localMs })
    if (reason === 'lease-lost') this.#abortedAt.set(leaseKey({ jobId, leaseId }), this.#now)
  }

  /** The event of a claim does not name its lease; what the store answered does. */
  leaseOf(jobId: string, fence: unknown): string | undefined {
    return this.#leases.get(`${jobId} ${String(fence)}`)
  }

  noteEnqueued(jobId: string): void {
    this.enqueuedIds.push(jobId)
    this.#enqueuedAt.set(jobId, this.#now)
  }

  /** Commits since then are lost: what they acknowledged is excused. */
  noteLost(fromMs: number): void {
    const lost = { from: EPOCH_MS + fromMs, to: this.#now }
    this.#lost.push(lost)
    // Nobody has swept the replica since.
    this.disturbances.push({ who: '*', kind: 'database-stopped', ...lost })
  }

  get failovers(): number {
    return this.#lost.length
  }

  /** Whether a failover undid the commit of this moment. */
  isUndone(at: number): boolean {
    return this.#lost.some(({ from, to }) => at > from && at <= to)
  }

  /** The same of a time in whole milliseconds. */
  isLost(at: number): boolean {
    return this.#lost.some(({ from, to }) => at >= from - 1 && at <= to)
  }

  /** Whether a failover undid commits of this time. */
  isAnyLostWithin(from: number, until: number): boolean {
    return this.#lost.some((lost) => lost.from <= until && lost.to >= from)
  }

  /** Whether a failover undid what the worker had heard of this job: it holds the job again, and cannot know. */
  wasUndone(worker: string, jobId: string): boolean {
    return this.#ledger.some(
      (line, nth) =>
        line.kind === 'answered' &&
        line.worker === worker &&
        line.job === jobId &&
        this.isLost(this.#heardAt[nth] ?? 0),
    )
  }

  /** Attempts that ended as lost; not those of whose answer a failover left nothing. */
  lostAttempts(): LedgerLine[] {
    return this.#ledger.filter(
      ({ kind, end, job = '', lease = '' }, nth) =>
        kind === 'ended' &&
        end === 'lost' &&
        !this.isLost(
          this.#abortedAt.get(leaseKey({ jobId: job, leaseId: lease })) ?? this.#heardAt[nth] ?? 0,
        ),
    )
  }

  keptLedger(): LedgerLine[] {
    if (this.#lost.length === 0) return this.#ledger
    return this.#ledger.map((line, nth) =>
      this.isLost(this.#heardAt[nth] ?? 0) ? Object.assign({}, line, { outcome: 'lost', end: 'lost' }) : line,
    )
  }

  keptIds(): string[] {
    return this.enqueuedIds.filter((id) => !this.isLost(this.#enqueuedAt.get(id) ?? 0))
  }
}
