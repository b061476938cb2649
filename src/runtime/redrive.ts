// Brings dead jobs back with care: some first, then the rest at a rate, and no further where they fail again or what they
// call is down. What was brought back stays so, whatever stops the rest.
import { setTimeout as waitFor } from 'node:timers/promises'
import type { Job } from '../job/job.ts'
import type { JobStore, JobSummary } from '../store/job-store.ts'

export interface RedriveOptions {
  /** This many go first, and have to succeed; none where absent. */
  canary?: number
  /** How long the canary may take; 10 minutes where absent. */
  canaryTimeoutMs?: number
  /** Jobs a second; 10 where absent. */
  ratePerS?: number
  keepAttempts?: boolean
  actor?: string
  reason?: string
  signal?: AbortSignal
  onProgress?: (progress: RedriveProgress) => void
  /** For tests: how time goes by. */
  wait?: (ms: number) => Promise<unknown>
}

export interface RedriveProgress {
  phase: 'canary' | 'rest'
  total: number
  redriven: number
  /** Not dead any more, discarded, or kept back by a duplicate. */
  refused: number
  /** Of the first 20 that were redriven. */
  succeeded: number
  failed: number
}

export type RedriveStop =
  | 'canary-failed'
  | 'canary-timeout'
  | 'too-many-failures'
  | 'breaker-open'
  | 'interrupted'

export interface RedriveReport extends Omit<RedriveProgress, 'phase'> {
  /** Null where all were brought back. */
  stopped: RedriveStop | null
}

const SAMPLE = 20
const POLL_MS = 500

/** In the order of `jobs`: the caller decides who goes first. */
export async function redriveJobs(
  store: JobStore,
  jobs: Pick<JobSummary, 'id' | 'queue'>[],
  options: RedriveOptions = {},
): Promise<RedriveReport> {
  const redrive = new Redrive(store, jobs, options)
  const stopped = await redrive.run()
  return { ...redrive.counts(), stopped }
}

class Redrive {
  readonly #store: JobStore
  readonly #left: Pick<JobSummary, 'id' | 'queue'>[]
  readonly #queues: Set<string>
  readonly #options: RedriveOptions
  readonly #total: number
  readonly #sample: string[] = []
  #redriven = 0
  #refused = 0
  #succeeded = 0
  #failed = 0

  constructor(store: JobStore, jobs: Pick<JobSummary, 'id' | 'queue'>[], options: RedriveOptions) {
    this.#store = store
    this.#left = [...jobs]
    this.#queues = new Set(jobs.map(({ queue }) => queue))
    this.#options = options
    this.#total = jobs.length
  }

  counts(): Omit<RedriveProgress, 'phase'> {
    return {
      total: this.#total,
      redriven: this.#redriven,
      refused: this.#refused,
      succeeded: this.#succeeded,
      failed: this.#failed,
    }
  }

  async run(): Promise<RedriveStop | null> {
    const { canary = 0, ratePerS = 10 } = this.#options
    const early = (await this.#whatStops()) ?? (canary > 0 ? await this.#runCanary(canary) : null)
    if (early !== null) return early
    // A batch a second, or one job at a time where they are fewer.
    const batch = Math.max(1, Math.floor(ratePerS))
    while (this.#left.length > 0) {
      const stop = await this.#whatStops()
      if (stop !== null) return stop
      await this.#bringBack(batch)
      this.#tell('rest')
      if (this.#left.length > 0) await this.#wait((batch * 1_000) / ratePerS)
    }
    await this.#look()
    return null
  }

  async #runCanary(canary: number): Promise<RedriveStop | null> {
    const { canaryTimeoutMs = 600_000 } = this.#options
    await this.#bringBack(canary)
    for (let waitedMs = 0; ; waitedMs += POLL_MS) {
      await this.#look()
      this.#tell('canary')
      if (this.#failed > 0) return 'canary-failed'
      if (this.#succeeded >= this.#sample.length) return null
      if (this.#options.signal?.aborted === true) return 'interrupted'
      if (await this.#isHeldBack()) return 'breaker-open'
      if (waitedMs >= canaryTimeoutMs) return 'canary-timeout'
      await this.#wait(POLL_MS)
    }
  }

  async #bringBack(count: number): Promise<void> {
    const { actor, reason, keepAttempts = false } = this.#options
    const batch = this.#left.splice(0, count).map(({ id }) => id)
    const answers = await this.#store.retryJobs(batch, {
      keepAttempts,
      ...(actor === undefined ? {} : { actor }),
      ...(reason === undefined ? {} : { reason }),
    })
    const retried = answers.filter(({ outcome }) => outcome === 'retried').map(({ jobId }) => jobId)
    this.#redriven += retried.length
    this.#refused += batch.length - retried.length
    // A canary larger than the sample is watched as a whole.
    this.#sample.push(...retried.slice(0, Math.max(0, this.#sampleSize() - this.#sample.length)))
  }

  #sampleSize(): number {
    return Math.min(Math.max(SAMPLE, this.#options.canary ?? 0), this.#total)
  }

  async #whatStops(): Promise<RedriveStop | null> {
    if (this.#options.signal?.aborted === true) return 'interrupted'
    await this.#look()
    if (this.#failed > 0 && this.#failed * 2 >= this.#sampleSize()) return 'too-many-failures'
    return (await this.#isHeldBack()) ? 'breaker-open' : null
  }

  async #isHeldBack(): Promise<boolean> {
    const queues = await this.#store.listQueues()
    return queues.some(
      ({ queue, breakerState }) =>
        this.#queues.has(queue) && (breakerState === 'open' || breakerState === 'held'),
    )
  }

  /** How the sample fares. A job that was pruned or discarded meanwhile counts for nothing. */
  async #look(): Promise<void> {
    const jobs = await Promise.all(this.#sample.map((jobId) => this.#store.getJob(jobId)))
    this.#succeeded = jobs.filter((job) => job?.status === 'succeeded').length
    this.#failed = jobs.filter((job) => job !== null && hasFailedAgain(job)).length
  }

  #tell(phase: RedriveProgress['phase']): void {
    this.#options.onProgress?.({ phase, ...this.counts() })
  }

  /** An interruption is no error: the next look finds it. */
  async #wait(ms: number): Promise<void> {
    const { wait, signal } = this.#options
    if (wait !== undefined) await wait(ms)
    else await waitFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {})
  }
}

/** A retry clears the error and the crashes, so what is there now is new: no need to wait until the job is dead again. */
function hasFailedAgain({ status, error, crashes, timeouts }: Job): boolean {
  if (status === 'succeeded' || status === 'cancelled') return false
  return status === 'dead' || error !== null || crashes + timeouts > 0
}
