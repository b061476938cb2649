// Workers, schedules, and the only mode of this store.

import { notSupported } from '../../capability.ts'
import type { ModeStore, ScheduleStore, WorkerStore } from '../../job-store.ts'
import { bindModeVerbs as bindModesInMemory } from '../../memory/reaping/modes.ts'
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
          const rows = await run('read_schedule_types')
          const activeKeys = rows.map((row) => activeKey(String(row['type']), `schedule:${name}`))
          return { held: [['schedules', name]], activeKeys }
        },
        (state) => bindSchedulesInMemory(state).runSchedule(name, occurrence),
      ),
  }
}

/** Sweeps always reap. Neo4j cannot fence writers without leases, and observing is not implemented. */
export function bindModeVerbs({ context, look }: VerbRunner): ModeStore {
  return {
    readMode: () => look({}, (state) => bindModesInMemory(state).readMode()),
    readAttachment: () =>
      look({}, async (state) => ({
        ...(await bindModesInMemory(state).readAttachment()),
        profile: 'embedding',
        relation: `neo4j.${context.table}`,
      })),
    setMode: async (mode, options) => {
      if (mode === 'observe' || mode === 'enforce') throw notSupported('Neo4j', 'modes')
      return look({}, (state) => bindModesInMemory(state).setMode(mode, options))
    },
    readObservations: async () => {
      throw notSupported('Neo4j', 'modes')
    },
  }
}
