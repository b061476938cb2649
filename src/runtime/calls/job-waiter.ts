// All waits of a process for the end of jobs: one poll asks for all of them, and notifications only make it come earlier.
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import type { JobProgress } from '../../job/job.ts'
import type { JobEnd, WaitStore } from '../../store/job-store.ts'
import { type Timer, timing } from '../timing/timing.ts'

export interface JobWaiterOptions {
  store: Pick<WaitStore, 'readEnds' | 'readProgress'>
  /** Asks for notifications about these jobs. Called only while `hear(true)`. */
  register?: (jobIds: string[]) => Promise<unknown>
  unregister?: (jobIds: string[]) => Promise<unknown>
  /** Interval of the polls: the first while something happens, the last while nothing does. Default: 250 ms to 1 s. */
  pollMs?: [least: number, most: number]
}

export type ProgressListener = (progress: JobProgress) => void

interface Wait {
  resolve(end: JobEnd): void
  reject(error: unknown): void
  timer: Timer
  onProgress: ProgressListener | undefined
  /** The last value that the listener got. */
  heard: JobProgress | undefined
}

/** One statement asks for this many jobs. */
const MAX_ASKED = 1_000
/** At most this many jobs are asked for per millisecond between polls that notifications ask for. */
const ASKED_PER_MS = 50

export class JobWaiter {
  readonly #options: JobWaiterOptions
  readonly #leastMs: number
  readonly #mostMs: number
  readonly #waits = new Map<string, Set<Wait>>()
  /** Jobs that nothing notifies of yet. */
  #unregistered = new Set<string>()
  #over: string[] = []
  #intervalMs: number
  #timer: Timer | undefined
  #isPolling = false
  #isWanted = false
  #isHearing = false
  #lastError: unknown

  constructor(options: JobWaiterOptions) {
    this.#options = options
    ;[this.#leastMs, this.#mostMs] = options.pollMs ?? [250, 1_000]
    this.#intervalMs = this.#leastMs
  }

  /** Rejects with WAIT_TIMEOUT if the job has not ended by then. */
  wait(jobId: string, timeoutMs: number, onProgress?: ProgressListener): Promise<JobEnd> {
    return new Promise((resolve, reject) => {
      const timer = timing.setTimeout(() => {
        this.#remove(jobId, wait)
        reject(this.#tookTooLong(jobId, timeoutMs))
      }, timeoutMs)
      const wait: Wait = { resolve, reject, timer, onProgress, heard: undefined }
      const others = this.#waits.get(jobId)
      if (others === undefined) this.#waits.set(jobId, new Set([wait]))
      else others.add(wait)
      this.#unregistered.add(jobId)
      this.#intervalMs = this.#leastMs
      this.poll()
    })
  }

  /** Whether notifications arrive. Those of the time before are missed, so that all jobs are asked for once more. */
  hear(isHearing: boolean): void {
    this.#isHearing = isHearing
    if (isHearing) this.#unregistered = new Set(this.#waits.keys())
    this.poll()
  }

  /** Asks soon: together with whatever else begins now, and not while another poll is under way. */
  poll(): void {
    this.#isWanted = true
    if (this.#isPolling || this.#waits.size === 0) return
    this.#schedule(0)
  }

  async stop(): Promise<void> {
    timing.clearTimeout(this.#timer)
    const jobIds = [...this.#waits.keys()]
    for (const jobId of jobIds) this.#end(jobId, (wait) => wait.reject(endedByStop(jobId)))
    if (this.#isHearing && jobIds.length > 0) await this.#options.unregister?.(jobIds).catch(() => {})
  }

  #schedule(ms: number): void {
    timing.clearTimeout(this.#timer)
    this.#timer = timing.setTimeout(() => void this.#poll(), ms)
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    this.#isWanted = false
    const jobIds = [...this.#waits.keys()]
    let isQuiet = true
    try {
      // First, so that an end that was too early to be notified of is read.
      await this.#register()
      for (let first = 0; first < jobIds.length; first += MAX_ASKED) {
        const asked = jobIds.slice(first, first + MAX_ASKED)
        const ends = await this.#read(asked)
        // Before a wait ends: its listener hears the last value too.
        if (await this.#readProgress(asked)) isQuiet = false
        for (const end of ends) this.#end(end.jobId, (wait) => wait.resolve(end))
        if (ends.length > 0) isQuiet = false
      }
      this.#lastError = undefined
    } catch (error) {
      // The database may come back before the waits time out.
      this.#lastError = error
    }
    this.#unregister()
    this.#isPolling = false
    this.#intervalMs = isQuiet ? Math.min(1.5 * this.#intervalMs, this.#mostMs) : this.#leastMs
    if (this.#waits.size === 0) return
    const gapMs = Math.ceil(this.#waits.size / ASKED_PER_MS)
    const restMs = this.#isHearing ? this.#mostMs : this.#intervalMs
    this.#schedule(this.#isWanted ? gapMs : restMs * (0.8 + 0.2 * timing.random()))
  }

  /** A refused call may be about one of the jobs: the others are asked for alone. */
  async #read(jobIds: string[]): Promise<JobEnd[]> {
    try {
      return await this.#options.store.readEnds(jobIds)
    } catch (error) {
      if (!isUnstuckError(error) || error.isRetryable) throw error
      const [only] = jobIds
      if (jobIds.length === 1 && only !== undefined) {
        this.#end(only, (wait) => wait.reject(error))
        return []
      }
      return (await Promise.all(jobIds.map((jobId) => this.#read([jobId])))).flat()
    }
  }

  /** Whether a listener has heard something new. */
  async #readProgress(jobIds: string[]): Promise<boolean> {
    const listened = jobIds.filter((jobId) =>
      [...(this.#waits.get(jobId) ?? [])].some(({ onProgress }) => onProgress),
    )
    if (listened.length === 0) return false
    const reports = await this.#options.store.readProgress(listened)
    return reports
      .map(({ jobId, ...progress }) =>
        [...(this.#waits.get(jobId) ?? [])].map((wait) => this.#notify(jobId, wait, progress)).includes(true),
      )
      .includes(true)
  }

  #notify(jobId: string, wait: Wait, progress: JobProgress): boolean {
    const { onProgress, heard } = wait
    if (onProgress === undefined) return false
    if (heard?.value === progress.value && heard.text === progress.text) return false
    wait.heard = progress
    try {
      onProgress(progress)
    } catch (error) {
      this.#remove(jobId, wait)
      timing.clearTimeout(wait.timer)
      wait.reject(error)
    }
    return true
  }

  async #register(): Promise<void> {
    const jobIds = [...this.#unregistered].filter((jobId) => this.#waits.has(jobId))
    if (!this.#isHearing || jobIds.length === 0) return
    this.#unregistered.clear()
    // Without it only the polls tell.
    await this.#options.register?.(jobIds).catch(() => {})
  }

  #unregister(): void {
    const jobIds = this.#over.filter((jobId) => !this.#waits.has(jobId))
    this.#over = []
    if (this.#isHearing && jobIds.length > 0) void this.#options.unregister?.(jobIds).catch(() => {})
  }

  #end(jobId: string, settle: (wait: Wait) => void): void {
    for (const wait of this.#waits.get(jobId) ?? []) {
      timing.clearTimeout(wait.timer)
      settle(wait)
    }
    this.#forget(jobId)
  }

  #remove(jobId: string, wait: Wait): void {
    const waits = this.#waits.get(jobId)
    waits?.delete(wait)
    if (waits?.size !== 0) return
    this.#forget(jobId)
    if (this.#waits.size > 0) return
    timing.clearTimeout(this.#timer)
    this.#unregister()
  }

  #forget(jobId: string): void {
    this.#waits.delete(jobId)
    // Without notifications nothing else empties it.
    this.#unregistered.delete(jobId)
    this.#over.push(jobId)
  }

  #tookTooLong(jobId: string, timeoutMs: number): UnstuckError {
    return new UnstuckError('WAIT_TIMEOUT', `job ${jobId} has not ended within ${timeoutMs} ms`, {
      details: { jobId, timeoutMs },
      hint: 'The job continues: wait again, or check it with unstuck why.',
      ...(this.#lastError === undefined ? {} : { cause: this.#lastError }),
    })
  }
}

export function endedByStop(jobId: string): UnstuckError {
  return new UnstuckError('DATABASE_UNREACHABLE', `the wait for job ${jobId} was ended by stop`)
}
