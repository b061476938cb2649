// Enqueues recurring jobs when they are due. Any number of schedulers may run: the store grants each occurrence to one of
// them. Missed occurrences are made up for by one job, and the schedule continues from now.
import { invalidArgument } from '../../errors/index.ts'
import type { RuntimeEventEmitter } from '../../observe/events.ts'
import { nextRun } from '../../policy/next-run.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore, NewSchedule, Overlap, Schedule, ScheduledJob } from '../../store/job-store.ts'
import { timing } from '../timing/timing.ts'
import { wait, within } from '../timing/wait.ts'
import { StandBy } from './stand-by.ts'

export interface RecurringJob {
  /** Name of the schedule, the same in every process. */
  name: string
  cron: string
  /** Default: UTC. */
  timezone?: string
  /** `skip` enqueues no job while that of an earlier occurrence is unfinished. Default: `skip`. */
  overlap?: Overlap
  job: ScheduledJob
}

export interface DeclaredJob extends RecurringJob {
  /** A new schedule begins with the first occurrence after this time. Default: when it is stored. */
  declaredAt?: Date
}

export interface SchedulerOptions {
  store: Pick<JobStore, 'writeSchedule' | 'listSchedules' | 'runSchedule' | 'readMode'>
  /** Stored at the start. Other stored schedules are run too. */
  schedules: DeclaredJob[]
  events: RuntimeEventEmitter
  /** Overrides the stored policy when jobs are enqueued. */
  policy?: PolicyOverride
  /** Longest interval between two reads of the stored schedules. */
  pollMs?: number
}

export interface Scheduler {
  /** Resolves when the current call has ended, or does not for a moment: a worker that leaves waits for no dead socket. */
  stop(): Promise<void>
}

const POLL_MS = 60_000
const LAST_CALL_MS = 2_000
const FIRST_RETRY_MS = 1_000
/** Keeps schedulers from contending for one row at the full minute. */
const JITTER_MS = 250
/** Name in `schedule:failed` if no single schedule failed. */
const ALL = '*'

/** Throws for an invalid cron expression, timezone or job. */
export function checkRecurringJob({ cron, timezone = 'UTC', job }: RecurringJob): void {
  nextRun(cron, timezone, new Date(0))
  const stray = ['delayMs', 'runAt', 'dedupeKey', 'dedupe', 'expiresAt'].find(
    (field) => (job as Record<string, unknown>)[field] !== undefined,
  )
  if (stray !== undefined)
    throw invalidArgument(
      'job',
      stray,
      'a job without delayMs, runAt, dedupeKey, dedupe and expiresAt: its schedule decides them',
    )
}

/** Stores the schedules and enqueues the jobs that are due, once. Rejects with the first failure. */
export async function runDueSchedules(options: SchedulerOptions): Promise<void> {
  await new RunningScheduler(options).runDue((_, error) => {
    throw error
  })
}

export function startScheduler(options: SchedulerOptions): Scheduler {
  const names = new Set<string>()
  for (const recurring of options.schedules) {
    checkRecurringJob(recurring)
    if (names.has(recurring.name)) throw invalidArgument('name', recurring.name, 'each name once')
    names.add(recurring.name)
  }
  const scheduler = new RunningScheduler(options)
  const loop = scheduler.run()
  return {
    async stop() {
      scheduler.stopping.abort()
      await within(LAST_CALL_MS, loop)
    },
  }
}

class RunningScheduler {
  readonly stopping = new AbortController()
  readonly #options: SchedulerOptions
  readonly #pollMs: number
  readonly #standBy: StandBy
  #unwritten: DeclaredJob[]
  #failedLooks = 0

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#pollMs = options.pollMs ?? POLL_MS
    this.#standBy = new StandBy({ service: 'schedules', ...options })
    this.#unwritten = options.schedules
  }

  async run(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      const waitMs = await this.#look()
      await wait(Math.min(waitMs, this.#pollMs) + timing.random() * JITTER_MS, signal)
    }
  }

  /** Returns the time until the next look. */
  async #look(): Promise<number> {
    const failures = new Set<string>()
    const fail = (name: string, error: unknown) => {
      failures.add(name)
      if (!this.stopping.signal.aborted) this.#options.events.emit('schedule:failed', { name, error })
    }
    const dueInMs = await this.runDue(fail).catch((error: unknown) => {
      fail(ALL, error)
      return this.#pollMs
    })
    this.#failedLooks = failures.size === 0 ? 0 : this.#failedLooks + 1
    if (failures.size === 0) return dueInMs
    return Math.min(dueInMs, FIRST_RETRY_MS * 2 ** (this.#failedLooks - 1))
  }

  /** Returns the time until the next schedule is due. */
  async runDue(fail: (name: string, error: unknown) => void): Promise<number> {
    const { store } = this.#options
    // A blocked event loop may read the answer late.
    let askedAtMs = timing.nowMs()
    let list = await store.listSchedules()
    if (this.#unwritten.length > 0) {
      await this.#write(list.now, fail)
      askedAtMs = timing.nowMs()
      list = await store.listSchedules()
    }
    let waitMs = this.#pollMs
    for (const schedule of list.schedules) {
      if (this.stopping.signal.aborted) return 0
      const { name, nextRunAt, dueInMs } = schedule
      if (nextRunAt === null || dueInMs === null) continue
      if (dueInMs > 0) waitMs = Math.min(waitMs, dueInMs)
      else {
        const run = () => this.#runOne(schedule, nextRunAt, list.now)
        await this.#standBy.act(run, 'refused').then(
          (answer) => {
            // The next read shows its next occurrence.
            if (answer !== 'refused') waitMs = 0
          },
          (error: unknown) => fail(name, error),
        )
      }
    }
    return Math.max(0, waitMs - (timing.nowMs() - askedAtMs))
  }

  async #write(now: Date, fail: (name: string, error: unknown) => void): Promise<void> {
    const unwritten: DeclaredJob[] = []
    for (const recurring of this.#unwritten) {
      try {
        await this.#options.store.writeSchedule(toSchedule(recurring, now))
      } catch (error) {
        unwritten.push(recurring)
        fail(recurring.name, error)
      }
    }
    this.#unwritten = unwritten
  }

  async #runOne({ name, cron, timezone }: Schedule, dueAt: Date, now: Date): Promise<void> {
    const { store, events, policy } = this.#options
    // From now, not from the occurrence: this one job makes up for all that were missed. A wait rounded down may end a moment
    // before the occurrence.
    const nextRunAt = nextRun(cron, timezone, now > dueAt ? now : dueAt)
    const run = await store.runSchedule(name, {
      dueAt,
      nextRunAt,
      ...(policy === undefined ? {} : { policy }),
    })
    if (run.outcome === 'enqueued') events.emit('schedule:enqueued', { name, jobId: run.jobId, dueAt })
  }
}

function toSchedule(
  { name, cron, timezone = 'UTC', overlap = 'skip', job, declaredAt }: DeclaredJob,
  now: Date,
): NewSchedule {
  const nextRunAt = nextRun(cron, timezone, declaredAt ?? now)
  if (nextRunAt === null) throw invalidArgument('cron', cron, 'one with an occurrence to come')
  return { name, cron, timezone, overlap, job, nextRunAt }
}
