// Each occurrence of a schedule makes one job, whoever looks and whatever answer is lost; one job makes up for those that were missed;
// and a worker that nothing hinders is in time.
import type { EventRow } from '../../../../chaos/src/judge/history.ts'
import type { Job } from '../../../../src/job/job.ts'
import type { MemorySchedule } from '../../../../src/store/memory/state/memory-state.ts'
import type { Occurrence, Schedule, ScheduleRun } from '../../../../src/store/ports/schedule-store.ts'
import type { PlannedSchedule } from '../../plan/schedules.ts'
import type { Span } from './breakers.ts'

export interface ScheduleOptions {
  planned: PlannedSchedule[]
  /** The schedules are as old as the run. */
  startedAt: number
  /** As the store has them. */
  read: (name: string) => Pick<MemorySchedule, 'nextRunAt'> | undefined
  rows: () => Job[]
  failovers: () => number
  onViolation: (message: string) => void
}

interface Wait extends Span {
  name: string
}

/** Looks are spread over a quarter of a second, and take some round trips. */
const LATE_MS = 1_500
/** Between two moments at which a late occurrence might have run. */
const STEP_MS = 500
/** A look that failed is repeated after a second, and then after twice the last wait. */
const FIRST_RETRY_MS = 2_500

const scheduleOf = ({ payload }: Job) => (payload as { schedule?: string } | null)?.schedule

export class ScheduleJudge {
  readonly #options: ScheduleOptions
  readonly #planned: Map<string, PlannedSchedule>
  readonly #next = new Map<string, number>()
  /** By worker: the time of the store that it saw last. */
  readonly #seen = new Map<string, number>()
  readonly #made: { jobId: string; at: number }[] = []
  readonly #waits: Wait[] = []
  /** By worker: since when its looks have failed, and how long it may wait since the last failure. */
  readonly #troubles = new Map<string, Span[]>()
  #failovers = 0
  #endedAt = Number.POSITIVE_INFINITY

  constructor(options: ScheduleOptions) {
    this.#options = options
    this.#planned = new Map(options.planned.map((schedule) => [schedule.name, schedule]))
    for (const { name } of options.planned) this.#next.set(name, this.#after(name, options.startedAt))
  }

  noteListed(worker: string, now: Date): void {
    this.#seen.set(worker, now.getTime())
  }

  noteFailed(worker: string, at: number): void {
    const spans = this.#troubles.get(worker) ?? []
    this.#troubles.set(worker, spans)
    const last = spans.at(-1)
    if (last !== undefined && last.to >= at) last.to = at + FIRST_RETRY_MS + 2 * (at - last.from)
    else spans.push({ from: at, to: at + FIRST_RETRY_MS })
  }

  /** By a worker that starts: it changes nothing. */
  noteWritten({ name, nextRunAt }: Pick<Schedule, 'name' | 'nextRunAt'>): void {
    if (this.#isRestored() || nextRunAt === null) return
    const known = this.#next.get(name)
    if (nextRunAt.getTime() !== known)
      this.#say(name, `is next due at ${nextRunAt.getTime()} instead of ${known} after it was written`)
    this.#next.set(name, nextRunAt.getTime())
  }

  noteRun(
    worker: string,
    name: string,
    { dueAt, nextRunAt }: Occurrence,
    run: ScheduleRun,
    at: number,
  ): void {
    const due = dueAt.getTime()
    const isRestored = this.#isRestored()
    if (run.outcome !== 'enqueued' && run.outcome !== 'skipped') return
    if (run.outcome === 'enqueued') this.#made.push({ jobId: run.jobId, at })
    const next = nextRunAt?.getTime()
    const [known, expected] = [
      this.#next.get(name),
      this.#after(name, Math.max(due, this.#seen.get(worker) ?? 0)),
    ]
    this.#next.set(name, next ?? expected)
    if (isRestored) return
    if (due !== known) this.#say(name, `ran the occurrence of ${due}, and was due at ${known}`)
    if (due > at) this.#say(name, `ran the occurrence of ${due} at ${at}`)
    if (next !== expected) this.#say(name, `is next due at ${next} instead of ${expected}`)
    this.#checkOverlap(name, run)
    this.#waits.push({ name, from: due, to: at })
  }

  #checkOverlap(name: string, { outcome, jobId }: ScheduleRun & { jobId: string }): void {
    const others = this.#options.rows().filter((job) => scheduleOf(job) === name && job.id !== jobId)
    const isBusy = others.some(({ status }) => status === 'waiting' || status === 'running')
    const skips = this.#planned.get(name)?.overlap === 'skip'
    if (outcome === 'enqueued' && skips && isBusy)
      this.#say(name, 'enqueued a job beside that of an earlier occurrence')
    if (outcome === 'skipped' && !skips) this.#say(name, 'skipped an occurrence, although jobs may overlap')
  }

  /** Nobody looks after schedules any more. */
  noteEnd(at: number): void {
    this.#endedAt = at
  }

  /** `isFree`: whether nothing hindered the worker. */
  *check(
    events: EventRow[],
    workers: Iterable<string>,
    isFree: (worker: string, from: number, to: number) => boolean,
    isUndone: (at: number) => boolean,
  ): Iterable<string> {
    const made = new Set(this.#made.map(({ jobId }) => jobId))
    const existing = new Set(events.map(({ jobId }) => jobId))
    for (const job of this.#options.rows())
      if (scheduleOf(job) !== undefined && !made.has(job.id))
        yield `job ${job.id}: a job of ${scheduleOf(job)} that no occurrence made`
    for (const { jobId, at } of this.#made)
      if (!existing.has(jobId) && !isUndone(at)) yield `job ${jobId}: made by a schedule, and gone`
    const names = [...workers]
    const open = Array.from(this.#next, ([name, from]) => ({ name, from, to: this.#endedAt }))
    for (const { name, from, to } of [...this.#waits, ...open]) {
      if (to - from <= LATE_MS || isUndone(from)) continue
      const canLook = (worker: string, at: number) =>
        isFree(worker, at, at + LATE_MS) && !this.#isTroubled(worker, at, at + LATE_MS)
      const until = Math.min(to, this.#endedAt)
      for (let at = from; at + LATE_MS < until; at += STEP_MS) {
        const free = names.find((worker) => canLook(worker, at))
        if (free === undefined) continue
        yield `${name}: the occurrence of ${from} ran at ${to}, although nothing hindered ${free} since ${at}`
        break
      }
    }
  }

  #isTroubled(worker: string, from: number, to: number): boolean {
    return (this.#troubles.get(worker) ?? []).some((span) => span.from <= to && span.to >= from)
  }

  /** All of them count from a full minute. */
  #after(name: string, at: number): number {
    const { everyMs = 1 } = this.#planned.get(name) ?? {}
    return (Math.floor(at / everyMs) + 1) * everyMs
  }

  #say(name: string, message: string): void {
    this.#options.onViolation(`${name} ${message}`)
  }

  /** A failover restores what the replica had. */
  #isRestored(): boolean {
    const failovers = this.#options.failovers()
    if (failovers === this.#failovers) return false
    this.#failovers = failovers
    for (const name of this.#planned.keys()) {
      const next = this.#options.read(name)?.nextRunAt?.getTime()
      if (next === undefined) this.#next.delete(name)
      else this.#next.set(name, next)
    }
    return true
  }
}
