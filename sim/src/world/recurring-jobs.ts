import type { RecurringJob } from '../../../src/runtime/services/scheduler.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { PlannedSchedule } from '../plan/schedules.ts'
import { EPOCH_MS } from './virtual-time.ts'

export function recurringJob({ name, everyMs, overlap, workMs }: PlannedSchedule): RecurringJob {
  const cron = `*/${everyMs / 1_000} * * * * *`
  return { name, cron, overlap, job: { type: 'quick', payload: { workMs, schedule: name } } }
}

/** As workers of an earlier deploy have left them: a failover may lose the commits of this one. */
export function beginSchedules(store: JobStore, schedules: PlannedSchedule[] = []): void {
  for (const schedule of schedules) {
    const nextRunAt = new Date(EPOCH_MS + schedule.everyMs)
    void store.writeSchedule({ timezone: 'UTC', nextRunAt, ...recurringJob(schedule) })
  }
}
