// The progress of one attempt on its way to the job's row: at most one write a second, and the last value before the end.
import { isUnstuckError } from '../../errors/index.ts'
import { checkProgress } from '../../job/check-progress.ts'
import type { JobProgress } from '../../job/job.ts'
import type { Lease } from '../../job/lease.ts'
import type { ProgressReport } from '../../store/job-store.ts'
import type { Batcher } from '../calls/batcher.ts'
import { type Timer, timing } from '../timing/timing.ts'
import { within } from '../timing/wait.ts'

const WRITE_GAP_MS = 1_000
/** The end of an attempt does not wait longer for it. */
const LAST_WRITE_MS = 1_000
/** A sum of fractions may miss 0 or 1 by so much: no reason to fail a job that has just done its work. */
const ROUNDING = 1e-9

/** Null if the handler reports a sign of life and nothing else. */
export function progressOf(value: number | undefined, text: string | undefined): JobProgress | null {
  if (value === undefined && text === undefined) return null
  const progress = { value: withoutRounding(value as number), text: text ?? null }
  checkProgress(progress)
  return progress
}

function withoutRounding(value: number): number {
  if (typeof value !== 'number') return value // Refused with what it got.
  const nearest = Math.min(Math.max(value, 0), 1)
  return Math.abs(value - nearest) < ROUNDING ? nearest : value
}

export class ReportedProgress {
  readonly #lease: Lease
  readonly #reports: Batcher<ProgressReport, boolean>
  /** Reported, and not yet written. */
  #next: JobProgress | null = null
  #timer: Timer | undefined
  #writing: Promise<void> | null = null
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #isOver = false

  constructor(lease: Lease, reports: Batcher<ProgressReport, boolean>) {
    this.#lease = lease
    this.#reports = reports
  }

  report(progress: JobProgress): void {
    // A handler that was given up may still report.
    if (this.#isOver) return
    this.#next = progress
    this.#schedule()
  }

  /** Writes what is left, and takes no more. Null if all is written. */
  end(): Promise<unknown> | null {
    this.#isOver = true
    return this.flush()
  }

  /** Writes what is left now. Null if all is written. */
  flush(): Promise<unknown> | null {
    timing.clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#next === null && this.#writing === null) return null
    const last = (this.#writing ?? Promise.resolve()).then(() => this.#write())
    return within(LAST_WRITE_MS, last)
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== null || this.#isOver || this.#next === null) return
    const leftMs = this.#writtenAtMs + WRITE_GAP_MS - timing.nowMs()
    if (leftMs <= 0) void this.#write()
    else this.#timer = timing.setTimeout(() => void this.#write(), leftMs)
  }

  /** Never rejects: progress is for people, and no reason to fail an attempt. */
  #write(): Promise<void> {
    this.#timer = undefined
    const { jobId, leaseId } = this.#lease
    const progress = this.#next
    if (progress === null) return Promise.resolve()
    this.#next = null
    this.#writtenAtMs = timing.nowMs()
    this.#writing = this.#reports.add({ jobId, leaseId, ...progress }).then(
      (isKept) => this.#onWritten(isKept ? null : progress),
      (error: unknown) => {
        // A table without the columns keeps none.
        const isUseless = isUnstuckError(error, 'NOT_SUPPORTED')
        this.#isOver ||= isUseless
        this.#onWritten(isUseless ? null : progress)
      },
    )
    return this.#writing
  }

  /** A value that a locked row or an outage has refused is written later, unless there is a newer one. */
  #onWritten(refused: JobProgress | null): void {
    this.#writing = null
    this.#next ??= refused
    this.#schedule()
  }
}
