import { invalidArgument } from '../../errors/index.ts'
import type {
  NewSchedule,
  Occurrence,
  Overlap,
  Schedule,
  ScheduledJob,
  ScheduleRun,
  ScheduleStore,
} from '../ports/schedule-store.ts'
import { enqueueJobs } from './lifecycle/enqueue.ts'
import { checkText } from './state/checks.ts'
import type { MemorySchedule, MemoryState } from './state/memory-state.ts'
import { checkNewJob } from './state/new-job.ts'

const MAX_LENGTH = 200
const overlaps: readonly Overlap[] = ['allow', 'skip']
const decidedBySchedule = ['delayMs', 'runAt', 'dedupeKey', 'dedupe', 'expiresAt']

export function bindScheduleVerbs(state: MemoryState): ScheduleStore {
  return {
    writeSchedule: async (schedule) => writeSchedule(state, schedule),
    deleteSchedule: async (name) => {
      checkText('name', name, MAX_LENGTH)
      return state.schedules.delete(name)
    },
    listSchedules: async () => {
      const nowMs = state.nowMs()
      const schedules = [...state.schedules.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return { now: new Date(nowMs), schedules: schedules.map((schedule) => describe(schedule, nowMs)) }
    },
    runSchedule: async (name, occurrence) => runSchedule(state, name, occurrence),
  }
}

function writeSchedule(state: MemoryState, schedule: NewSchedule): Schedule {
  const { name, cron, timezone, job, nextRunAt, overlap = 'skip' } = schedule
  checkText('name', name, MAX_LENGTH)
  checkText('cron', cron, MAX_LENGTH)
  checkText('timezone', timezone, MAX_LENGTH)
  if (!overlaps.includes(overlap)) throw invalidArgument('overlap', overlap, 'allow or skip')
  checkTime('nextRunAt', nextRunAt)
  checkScheduledJob(job)
  const known = state.schedules.get(name)
  const isSame = known?.cron === cron && known.timezone === timezone
  const row: MemorySchedule = {
    lastRunAt: null,
    lastJobId: null,
    lastSkippedAt: null,
    ...known,
    name,
    cron,
    timezone,
    overlap,
    job: structuredClone(job),
    nextRunAt: isSame ? known.nextRunAt : new Date(nextRunAt),
  }
  state.schedules.set(name, row)
  return describe(row, state.nowMs())
}

function checkScheduledJob(job: ScheduledJob): void {
  checkNewJob(job, 'job')
  const stray = Object.entries(job).find(
    ([field, value]) => decidedBySchedule.includes(field) && value !== undefined,
  )
  if (stray !== undefined)
    throw invalidArgument('job', stray[0], 'a job without delayMs, runAt, dedupeKey, dedupe and expiresAt')
}

function checkTime(name: string, time: Date): void {
  if (Number.isNaN(time.getTime())) throw invalidArgument(name, time, 'a valid date')
}

function runSchedule(state: MemoryState, name: string, occurrence: Occurrence): ScheduleRun {
  const { dueAt, nextRunAt, policy } = occurrence
  checkText('name', name, MAX_LENGTH)
  checkTime('dueAt', dueAt)
  if (nextRunAt !== null && !(nextRunAt.getTime() > dueAt.getTime()))
    throw invalidArgument('nextRunAt', nextRunAt, 'a time after dueAt, or null')
  const schedule = state.schedules.get(name)
  if (schedule === undefined) return { outcome: 'not-found' }
  if (schedule.nextRunAt?.getTime() !== dueAt.getTime()) return { outcome: 'taken' }
  const nowMs = state.nowMs()
  if (dueAt.getTime() > nowMs) return { outcome: 'not-due' }
  const key = schedule.overlap === 'allow' ? {} : { dedupeKey: `schedule:${name}` }
  const [enqueued] = enqueueJobs(state, [{ ...schedule.job, ...key }], policy)
  if (enqueued === undefined) throw new Error('an enqueue was not answered')
  const { jobId } = enqueued
  const isNew = enqueued.outcome === 'created'
  const now = new Date(nowMs)
  state.schedules.set(name, {
    ...schedule,
    nextRunAt: nextRunAt === null ? null : new Date(nextRunAt),
    ...(isNew ? { lastRunAt: now, lastJobId: jobId } : { lastSkippedAt: now }),
  })
  return { outcome: isNew ? 'enqueued' : 'skipped', jobId }
}

function describe(schedule: MemorySchedule, nowMs: number): Schedule {
  const { nextRunAt } = schedule
  return structuredClone({ ...schedule, dueInMs: nextRunAt === null ? null : nextRunAt.getTime() - nowMs })
}
