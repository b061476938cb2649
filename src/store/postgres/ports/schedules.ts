import { jsonText } from '../../../job/json-text.ts'
import type { Schedule, ScheduledJob, ScheduleRun, ScheduleStore } from '../../ports/schedule-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { isoTime, newJobToJson } from '../rows/new-job-json.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { date, fromRecord } from '../rows/values.ts'

export function bindScheduleVerbs(call: CallQuery): ScheduleStore {
  return {
    async writeSchedule({ name, cron, timezone, job, nextRunAt, overlap }) {
      const requested = jsonText('job', newJobToJson(job))
      const params = [name, cron, timezone, requested, isoTime('nextRunAt', nextRunAt), overlap ?? 'skip']
      const [row] = await call('write_schedule', params)
      return toSchedule(row ?? {})
    },

    async deleteSchedule(name, { actor, reason } = {}) {
      const [row] = await call('delete_schedule', [name, actor ?? null, reason ?? null])
      return row?.['is_deleted'] === true
    },

    async listSchedules() {
      const rows = await call('list_schedules', [])
      // Without any schedule, one row still carries the time.
      const schedules = rows.filter(({ name }) => name !== null).map(toSchedule)
      return { now: date(rows[0]?.['now']), schedules }
    },

    async runSchedule(name, { dueAt, nextRunAt, policy }) {
      const next = nextRunAt === null ? null : isoTime('nextRunAt', nextRunAt)
      const params = [name, isoTime('dueAt', dueAt), next, policyToJson(policy)]
      const [row] = await call('run_schedule', params)
      const { outcome, job_id: jobId } = row ?? {}
      return (jobId === null ? { outcome } : { outcome, jobId }) as ScheduleRun
    },
  }
}

function toSchedule({ job, ...row }: Row): Schedule {
  const times = ['nextRunAt', 'lastRunAt', 'lastSkippedAt'] as const
  const schedule = fromRecord<Omit<Schedule, 'job'>>(row, times, 'now')
  return { ...schedule, job: toScheduledJob(job as Row) }
}

/** Reads the names of `newJobToJson`. A job written by SQL may hold nulls, which count as omitted. */
function toScheduledJob(requested: Row): ScheduledJob {
  const names = {
    type: 'type',
    payload: 'payload',
    queue: 'queue',
    priority: 'priority',
    stage: 'stage',
    expected_duration_ms: 'expectedDurationMs',
    max_attempts: 'maxAttempts',
    ttl_ms: 'ttlMs',
    owner: 'owner',
    traceparent: 'traceparent',
  } as const satisfies Record<string, keyof ScheduledJob>
  const isGiven = ([column]: [string, string]) =>
    Object.hasOwn(requested, column) && (requested[column] !== null || column === 'payload')
  const fields = Object.entries(names)
    .filter(isGiven)
    .map(([column, name]) => [name, requested[column]])
  const { backoff_steps_ms: steps } = requested
  const retry = Array.isArray(steps) ? { retry: { backoff: steps as number[] } } : {}
  return { ...(Object.fromEntries(fields) as ScheduledJob), ...retry }
}
