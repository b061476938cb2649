// Recurring jobs. An occurrence is a calendar time, so callers send it as one, computed from the `now` of `listSchedules` and
// never from their own clock.
import type { NewJob } from '../../job/job.ts'
import type { PolicyOption, ShardedAnswer } from './call-options.ts'

export interface ScheduleStore {
  /** Creates or changes a schedule. Its next run stays unless cron or timezone change. */
  writeSchedule(schedule: NewSchedule): Promise<Schedule>
  /** Keeps the jobs it enqueued. False if there was none. With an `actor` it is in the audit log. */
  deleteSchedule(name: string, options?: { actor?: string; reason?: string }): Promise<boolean>
  /** The schedules of this table, by name. */
  listSchedules(): Promise<ScheduleList>
  /** Enqueues the job of one occurrence, exactly once across callers, and moves the schedule on to the next one. */
  runSchedule(name: string, occurrence: Occurrence): Promise<ScheduleRun>
}

/** The schedule decides about start and overlap. */
export type ScheduledJob = Omit<NewJob, 'delayMs' | 'runAt' | 'dedupeKey' | 'dedupe' | 'expiresAt'>

/** Whether an occurrence enqueues a job while that of an earlier one is unfinished. */
export type Overlap = 'allow' | 'skip'

export interface NewSchedule {
  name: string
  cron: string
  timezone: string
  job: ScheduledJob
  nextRunAt: Date
  /** Default: `skip`. */
  overlap?: Overlap
}

export interface Schedule {
  name: string
  cron: string
  timezone: string
  overlap: Overlap
  job: ScheduledJob
  /** Null, like `dueInMs`, if no occurrence is left. */
  nextRunAt: Date | null
  /** Negative if it is late. */
  dueInMs: number | null
  /** When it last enqueued a job, and which. */
  lastRunAt: Date | null
  lastJobId: string | null
  /** When an occurrence was last skipped because of an unfinished job. */
  lastSkippedAt: Date | null
}

export interface ScheduleList extends ShardedAnswer {
  /** The store's time, for computing the next occurrences. */
  now: Date
  schedules: Schedule[]
}

export interface Occurrence extends PolicyOption {
  /** The `nextRunAt` of `listSchedules`. */
  dueAt: Date
  /** Later than `dueAt`; null if no occurrence is left. */
  nextRunAt: Date | null
}

/**
 * - `enqueued`: this call created the job
 * - `skipped`: the job of an earlier occurrence is unfinished; the schedule moved on
 * - `taken`: another caller ran this occurrence, or the schedule was changed
 */
export type ScheduleRun =
  | { outcome: 'enqueued' | 'skipped'; jobId: string }
  | { outcome: 'not-due' | 'taken' | 'not-found' }
