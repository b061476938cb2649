// Recurring jobs of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
import { jsonText } from '../../../job/json-text.ts'
import type {
  NewSchedule,
  Occurrence,
  Overlap,
  Schedule,
  ScheduledJob,
  ScheduleList,
  ScheduleRun,
  ScheduleStore,
} from '../../ports/schedule-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { isoTime, newJobToJson } from '../rows/new-job-json.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { PostgresDependencies } from './dependencies.ts'

export class PostgresSchedules extends PostgresDependencies implements ScheduleStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    super(call)
    this.#call = call
  }

  async writeSchedule({ name, cron, timezone, job, nextRunAt, overlap }: NewSchedule): Promise<Schedule> {
    const wish = jsonText('job', newJobToJson(job))
    const params = [name, cron, timezone, wish, isoTime('nextRunAt', nextRunAt), overlap ?? 'skip']
    const [row] = await this.#call('write_schedule', params)
    return toSchedule(row ?? {})
  }

  async deleteSchedule(name: string): Promise<boolean> {
    const [row] = await this.#call('delete_schedule', [name])
    return row?.['is_deleted'] === true
  }

  async listSchedules(): Promise<ScheduleList> {
    const rows = await this.#call('list_schedules', [])
    // One row tells the time even where there is no schedule.
    const schedules = rows.filter(({ name }) => name !== null).map(toSchedule)
    return { now: date(rows[0]?.['now']), schedules }
  }

  async runSchedule(name: string, { dueAt, nextRunAt, policy }: Occurrence): Promise<ScheduleRun> {
    const next = nextRunAt === null ? null : isoTime('nextRunAt', nextRunAt)
    const [row] = await this.#call('run_schedule', [
      name,
      isoTime('dueAt', dueAt),
      next,
      policyToJson(policy),
    ])
    const { outcome, job_id: jobId } = row ?? {}
    return (jobId === null ? { outcome } : { outcome, jobId }) as ScheduleRun
  }
}

const date = (value: unknown) => new Date(value as string | Date)
const dateOrNull = (value: unknown) => (value === null ? null : date(value))

function toSchedule(row: Row): Schedule {
  return {
    name: String(row['name']),
    cron: String(row['cron']),
    timezone: String(row['timezone']),
    overlap: row['overlap'] as Overlap,
    job: toScheduledJob(row['job'] as Row),
    nextRunAt: dateOrNull(row['next_run_at']),
    dueInMs: row['due_in_ms'] === null ? null : Number(row['due_in_ms']),
    lastRunAt: dateOrNull(row['last_run_at']),
    lastJobId: row['last_job_id'] as string | null,
    lastSkippedAt: dateOrNull(row['last_skipped_at']),
  }
}

/** The names of `newJobToJson`, read back. What was written from SQL may hold nulls, which count as left out. */
function toScheduledJob(wish: Row): ScheduledJob {
  const names = {
    type: 'type',
    payload: 'payload',
    queue: 'queue',
    priority: 'priority',
    stage: 'stage',
    expected_duration_ms: 'expectedDurationMs',
    max_attempts: 'maxAttempts',
    owner: 'owner',
    traceparent: 'traceparent',
  } as const satisfies Record<string, keyof ScheduledJob>
  const isGiven = ([column]: [string, string]) =>
    Object.hasOwn(wish, column) && (wish[column] !== null || column === 'payload')
  const fields = Object.entries(names)
    .filter(isGiven)
    .map(([column, name]) => [name, wish[column]])
  return Object.fromEntries(fields) as ScheduledJob
}
