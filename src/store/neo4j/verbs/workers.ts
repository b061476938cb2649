// Workers and schedules.
import type { ScheduleStore, WorkerStore } from '../../job-store.ts'
import { bindScheduleVerbs as bindSchedulesInMemory } from '../../memory/schedules.ts'
import { bindWorkerVerbs as bindWorkersInMemory } from '../../memory/workers.ts'
import { activeKey } from '../state/job-node.ts'
import type { VerbRunner } from '../state/verb-runner.ts'

export function bindWorkerVerbs({ change, look }: VerbRunner): WorkerStore {
  return {
    reportWorker: (report) =>
      change({ held: [['workers', report.workerId]] }, (state) =>
        bindWorkersInMemory(state).reportWorker(report),
      ),
    listWorkers: () =>
      look({ kinds: ['workers'], find: [['list_running']] }, (state) =>
        bindWorkersInMemory(state).listWorkers(),
      ),
    drainWorker: (workerId, options) =>
      change({ held: [['workers', workerId]] }, (state) =>
        bindWorkersInMemory(state).drainWorker(workerId, options),
      ),
  }
}

export function bindScheduleVerbs({ change, look }: VerbRunner): ScheduleStore {
  return {
    writeSchedule: (schedule) =>
      change({ held: [['schedules', schedule.name]] }, (state) =>
        bindSchedulesInMemory(state).writeSchedule(schedule),
      ),
    deleteSchedule: (name) =>
      change({ held: [['schedules', name]] }, (state) => bindSchedulesInMemory(state).deleteSchedule(name)),
    listSchedules: () =>
      look({ kinds: ['schedules'] }, (state) => bindSchedulesInMemory(state).listSchedules()),
    runSchedule: (name, occurrence) =>
      change(
        async (run) => {
          // The job type is part of the key, and may have been changed in the schedule.
          const key = `schedule:${name}`
          const rows = await run('read_schedule_types', { key })
          const activeKeys = rows.map((row) => activeKey(String(row['type']), key))
          return { held: [['schedules', name]], activeKeys }
        },
        (state) => bindSchedulesInMemory(state).runSchedule(name, occurrence),
      ),
  }
}
