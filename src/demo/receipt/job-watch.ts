// Polls both sides. Everything that the demo shows or waits for comes from rows, not from its own processes.
import { performance } from 'node:perf_hooks'
import type { AccessStore } from '../../store/access-store.ts'
import type { Breaker, JobCursor, JobStore, JobSummary } from '../../store/job-store.ts'
import type { JobPayload } from '../demo-settings.ts'
import type { HandRolledJob, HandRolledTable } from '../processes/hand-rolled-table.ts'
import { type Rescue, rescuesOf } from './rescue.ts'

export interface WatchedJob extends JobSummary {
  n: number
}

export interface Snapshot {
  jobs: readonly WatchedJob[]
  handRolled: readonly HandRolledJob[]
  breaker: Breaker | null
}

export interface JobWatchOptions {
  store: JobStore
  access: AccessStore
  handRolled: HandRolledTable
  signal: AbortSignal
  onRescue: (rescue: Rescue, job: WatchedJob) => void
}

const LOOK_MS = 200
const SHOWN_BEATS = 5

export class JobWatch {
  snapshot: Snapshot = { jobs: [], handRolled: [], breaker: null }
  readonly rescues: Rescue[] = []
  /** The longest delay of a poll or a timer of this process. */
  stallMs = 0
  readonly #options: JobWatchOptions
  readonly #crashes = new Map<string, number>()
  /** Last heartbeat of a lease, and their number. */
  readonly #beats = new Map<string, { at: number; count: number }>()
  readonly #waiting = new Set<() => void>()
  #clockOffsetMs = 0

  constructor(options: JobWatchOptions) {
    this.#options = options
  }

  /** Runs until the signal fires or the database is unreachable. */
  async run(): Promise<void> {
    const { signal, access } = this.#options
    const { now } = await access.readClock()
    this.#clockOffsetMs = now.getTime() - performance.now()
    while (!signal.aborted) {
      const startedMs = performance.now()
      await this.#look()
      const lookedMs = performance.now() - startedMs
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      const overMs = performance.now() - startedMs - lookedMs - LOOK_MS
      this.stallMs = Math.max(this.stallMs, lookedMs, overMs)
    }
  }

  /** Database time. */
  nowMs(): number {
    return performance.now() + this.#clockOffsetMs
  }

  beatsOf({ leaseId }: WatchedJob): number {
    return Math.min(SHOWN_BEATS, this.#beats.get(leaseId ?? '')?.count ?? 0)
  }

  job(n: number): WatchedJob | undefined {
    return this.snapshot.jobs.find((job) => job.n === n)
  }

  /** Settles with true once the condition holds after a poll; with false on timeout or at the end of the demo. */
  until(isSo: (snapshot: Snapshot) => boolean, limitMs = 60_000): Promise<boolean> {
    const { signal } = this.#options
    return new Promise((resolve) => {
      const done = (answer: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        signal.removeEventListener('abort', giveUp)
        resolve(answer)
      }
      const giveUp = () => done(false)
      const look = () => isSo(this.snapshot) && done(true)
      const timer = setTimeout(giveUp, limitMs)
      signal.addEventListener('abort', giveUp)
      this.#waiting.add(look)
      if (signal.aborted) giveUp()
    })
  }

  async #look(): Promise<void> {
    const { store, handRolled } = this.#options
    const [jobs, rows, breakers] = await Promise.all([
      listAll(store),
      handRolled.list(),
      store.listBreakers(),
    ])
    this.snapshot = { jobs, handRolled: rows, breaker: breakers[0] ?? null }
    for (const job of jobs) this.#countBeat(job)
    for (const job of jobs) if (job.crashes > (this.#crashes.get(job.id) ?? 0)) await this.#noteRescues(job)
    for (const look of this.#waiting) look()
  }

  #countBeat({ leaseId, heartbeatAt }: WatchedJob): void {
    if (leaseId === null || heartbeatAt === null) return
    const known = this.#beats.get(leaseId)
    const at = heartbeatAt.getTime()
    if (known?.at !== at) this.#beats.set(leaseId, { at, count: (known?.count ?? 0) + 1 })
  }

  async #noteRescues(job: WatchedJob): Promise<void> {
    const { store, onRescue } = this.#options
    const found = rescuesOf(await store.listEvents(job.id))
    const known = this.#crashes.get(job.id) ?? 0
    this.#crashes.set(job.id, found.length)
    for (const rescue of found.slice(known)) {
      this.rescues.push(rescue)
      onRescue(rescue, job)
    }
  }
}

async function listAll(store: JobStore): Promise<WatchedJob[]> {
  const found: JobSummary[] = []
  let cursor: JobCursor | null | undefined
  do {
    const page = await store.listJobs({}, { limit: 1000, withPayload: true, ...(cursor ? { cursor } : {}) })
    found.push(...page.jobs)
    cursor = page.next
  } while (cursor !== null)
  const numbered = found.map((job) => ({ ...job, n: (job.payload as unknown as JobPayload).n }))
  return numbered.toSorted((one, other) => one.n - other.n)
}
