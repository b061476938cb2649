// The part of the store port that keeps recurring jobs. An occurrence is a time of the calendar, so it is the one thing a
// caller sends as a time: computed from the `now` that `listSchedules` answers, never from a clock of its own.
import type { NewJob } from '../../job/job.ts'
import type { PolicyOverride } from '../../policy/policy.ts'

export interface ScheduleStore {
  /** Makes a schedule or changes it. Where cron and timezone are as before, its next run stays what it was. */
  writeSchedule(schedule: NewSchedule): Promise<Schedule>
  /** Jobs that it has enqueued stay. False where there was none. */
  deleteSchedule(name: string): Promise<boolean>
  /** Those of this table, by name. */
  listSchedules(): Promise<ScheduleList>
  /** Enqueues the job of one occurrence, once, whoever else tries, and moves the schedule on to the next one. */
  runSchedule(name: string, occurrence: Occurrence): Promise<ScheduleRun>
}

/** When it starts and whether it may meet another one is the schedule's to say. */
export type ScheduledJob = Omit<NewJob, 'delayMs' | 'runAt' | 'dedupeKey'>

/** What becomes of an occurrence while the job of an earlier one is unfinished: a second job, or none. */
export type Overlap = 'allow' | 'skip'

export interface NewSchedule {
  name: string
  cron: string
  timezone: string
  job: ScheduledJob
  nextRunAt: Date
  /** `skip` where absent. */
  overlap?: Overlap
}

export interface Schedule {
  name: string
  cron: string
  timezone: string
  overlap: Overlap
  job: ScheduledJob
  /** Null where no occurrence is left, as is `dueInMs`. */
  nextRunAt: Date | null
  /** Negative where it is late. */
  dueInMs: number | null
  /** When it last enqueued a job, and which. */
  lastRunAt: Date | null
  lastJobId: string | null
  /** When an occurrence last met an unfinished job. */
  lastSkippedAt: Date | null
}

export interface ScheduleList {
  /** The store's time, for computing the next occurrences. */
  now: Date
  schedules: Schedule[]
}

export interface Occurrence {
  /** As `listSchedules` showed it. */
  dueAt: Date
  /** Later than `dueAt`; null where no occurrence is left. */
  nextRunAt: Date | null
  /** Over the stored policy, for this call only. */
  policy?: PolicyOverride
}

/**
 * - `enqueued`: this call made the job
 * - `skipped`: the job of an earlier occurrence is unfinished; the schedule moved on
 * - `taken`: somebody else ran this occurrence, or the schedule was changed
 */
export type ScheduleRun =
  | { outcome: 'enqueued' | 'skipped'; jobId: string }
  | { outcome: 'not-due' | 'taken' | 'not-found' }
