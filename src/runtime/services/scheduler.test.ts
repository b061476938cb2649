import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import { RuntimeEventEmitter } from '../../observe/events.ts'
import type { JobStore } from '../../store/job-store.ts'
import { createMemoryStore, type MemoryJobStore } from '../../store/memory/index.ts'
import { withResolvers } from '../timing/with-resolvers.ts'
import { type RecurringJob, type Scheduler, type SchedulerOptions, startScheduler } from './scheduler.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A look may come a quarter of a second late. */
const LATE = 500

let store: MemoryJobStore
let schedulers: Scheduler[]
let enqueued: { name: string; dueAt: string }[]
let failed: { name: string; error: unknown }[]
let events: RuntimeEventEmitter

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-01-01T00:30:00Z') })
  store = createMemoryStore()
  schedulers = []
  enqueued = []
  failed = []
  events = new RuntimeEventEmitter()
  events.on('schedule:enqueued', ({ name, dueAt }) =>
    enqueued.push({ name, dueAt: dueAt.toISOString().slice(11, 16) }),
  )
  events.on('schedule:failed', (fields) => failed.push(fields))
})

afterEach(async () => {
  await Promise.all(schedulers.map((scheduler) => scheduler.stop()))
  vi.useRealTimers()
})

const hourly: RecurringJob = { name: 'hourly', cron: '0 * * * *', job: { type: 'report' } }

function start(schedules: RecurringJob[] = [hourly], options: Partial<SchedulerOptions> = {}): Scheduler {
  const scheduler = startScheduler({ store, schedules, events, ...options })
  schedulers.push(scheduler)
  return scheduler
}

/** The real store, with one of its verbs answered otherwise. */
function withVerb<Name extends 'listSchedules' | 'runSchedule' | 'writeSchedule'>(
  verb: Name,
  answer: JobStore[Name],
): JobStore {
  return new Proxy<JobStore>(store, {
    get: (target, name, receiver) => (name === verb ? answer : Reflect.get(target, name, receiver)),
  })
}

async function endJobs(): Promise<number> {
  const jobs = await store.claimJobs({ workerId: 'w', queues: ['report'], limit: 100 })
  await store.completeJobs(jobs)
  return jobs.length
}

it('WORK-7 an answer that is read late delays no occurrence', async () => {
  const lists = vi.fn(async () => {
    const list = await store.listSchedules()
    await new Promise((resolve) => setTimeout(resolve, lists.mock.calls.length === 2 ? 20 * MINUTE : 0))
    return list
  })
  start([hourly], { store: withVerb('listSchedules', lists), pollMs: HOUR })
  await vi.advanceTimersByTimeAsync(30 * MINUTE + LATE)
  expect(enqueued).toEqual([{ name: 'hourly', dueAt: '01:00' }])
})

it('WORK-4 a call that hangs does not keep a process from leaving, and its failure is not reported then', async () => {
  const lost = withResolvers<Error>()
  const hanging = withVerb('listSchedules', async () => {
    throw await lost.promise
  })
  const scheduler = start([hourly], { store: hanging })
  await vi.advanceTimersByTimeAsync(LATE)
  const stopped = vi.fn()
  void scheduler.stop().then(stopped)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(stopped).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(stopped).toHaveBeenCalledOnce()
  lost.resolve(new Error('the connection was closed'))
  await vi.advanceTimersByTimeAsync(LATE)
  expect(failed).toEqual([])
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a scheduler', () => {
  it('WORK-7 enqueues a job at each occurrence and tells it', async () => {
    start()
    await pass(29 * MINUTE)
    expect(enqueued).toEqual([])
    await pass(MINUTE + LATE)
    expect(enqueued).toEqual([{ name: 'hourly', dueAt: '01:00' }])
    expect(await endJobs()).toBe(1)
    await pass(HOUR)
    expect(enqueued.at(-1)).toEqual({ name: 'hourly', dueAt: '02:00' })
    expect(enqueued).toHaveLength(2)
    expect(failed).toEqual([])
  })

  it('WORK-7 beside others makes one job of each occurrence', async () => {
    const often: RecurringJob = { ...hourly, name: 'often', cron: '* * * * *', overlap: 'allow' }
    for (let nth = 0; nth < 3; nth += 1) start([often])
    await pass(10 * MINUTE + LATE)
    expect(enqueued).toHaveLength(10)
    expect(await endJobs()).toBe(10)
    expect(failed).toEqual([])
  })

  it('WORK-7 makes up for a downtime with one job, and goes on from now', async () => {
    await start().stop()
    await pass(5 * HOUR)
    start()
    await pass(LATE)
    expect(enqueued).toEqual([{ name: 'hourly', dueAt: '01:00' }])
    expect(await endJobs()).toBe(1)
    await pass(HOUR)
    expect(enqueued.at(-1)).toEqual({ name: 'hourly', dueAt: '06:00' })
    expect(enqueued).toHaveLength(2)
  })

  it('WORK-7 skips what would overlap, without calling it a failure', async () => {
    start()
    await pass(3 * HOUR)
    expect(enqueued).toHaveLength(1)
    expect(failed).toEqual([])
    expect((await store.listSchedules()).schedules).toMatchObject([
      { nextRunAt: new Date('2026-01-01T04:00Z') },
    ])
  })

  it('WORK-7 computes occurrences from the clock of the store', async () => {
    store = createMemoryStore({ now: () => Date.now() + 5 * HOUR })
    start()
    await pass(LATE)
    const { schedules } = await store.listSchedules()
    expect(schedules).toMatchObject([{ nextRunAt: new Date('2026-01-01T06:00Z') }])
    await pass(30 * MINUTE)
    expect(enqueued).toEqual([{ name: 'hourly', dueAt: '06:00' }])
  })

  it('WORK-7 runs what is stored, also where another process wrote it', async () => {
    const now = new Date()
    await store.writeSchedule({ ...hourly, name: 'other', timezone: 'UTC', nextRunAt: now })
    start([])
    await pass(LATE)
    expect(enqueued).toEqual([{ name: 'other', dueAt: '00:30' }])
  })

  it('WORK-7 notices within a minute what was written after it had looked', async () => {
    start([])
    await pass(LATE)
    const nextRunAt = new Date(Date.now() + MINUTE)
    await store.writeSchedule({ ...hourly, timezone: 'UTC', nextRunAt })
    await pass(2 * MINUTE)
    expect(enqueued).toHaveLength(1)
  })

  it('OPS-8 enqueues with the policy it was given', async () => {
    start([hourly], { policy: { maxAttempts: 9 } })
    await pass(HOUR)
    const [job] = await store.claimJobs({ workerId: 'w', queues: ['report'], limit: 1 })
    expect(job?.maxAttempts).toBe(9)
  })

  it('WORK-7 a wait that was rounded to nothing is no failure', async () => {
    const dueAt = new Date('2026-01-01T01:00Z')
    const early = withVerb('listSchedules', async () => {
      const list = await store.listSchedules()
      if (list.schedules.length === 0) return list
      const schedules = list.schedules.map((schedule) => ({ ...schedule, dueInMs: 0 }))
      return { now: new Date(dueAt.getTime() - 1), schedules }
    })
    start([hourly], { store: early })
    await pass(LATE)
    expect(failed).toEqual([])
    expect(enqueued).toEqual([])
  })
})

describe('trouble', () => {
  const unreachable = () => Promise.reject(new UnstuckError('DATABASE_UNREACHABLE', 'connection refused'))

  it('WORK-7 a store that cannot be reached is told, and tried again until it can', async () => {
    let isDown = true
    const flaky = withVerb('listSchedules', () => (isDown ? unreachable() : store.listSchedules()))
    start([hourly], { store: flaky })
    await pass(20 * MINUTE)
    expect(failed[0]).toMatchObject({ name: '*', error: { code: 'DATABASE_UNREACHABLE' } })
    // Ever more seldom, and once a minute at least.
    expect(failed.length).toBeGreaterThanOrEqual(20)
    expect(failed.length).toBeLessThan(30)
    isDown = false
    await pass(HOUR)
    expect(enqueued).toHaveLength(1)
  })

  it('WORK-7 a schedule that cannot be written is tried again', async () => {
    let calls = 0
    const flaky = withVerb('writeSchedule', (schedule) =>
      ++calls === 1 ? unreachable() : store.writeSchedule(schedule),
    )
    start([hourly], { store: flaky })
    await pass(HOUR)
    expect(failed).toMatchObject([{ name: 'hourly' }])
    expect(enqueued).toHaveLength(1)
    expect(calls).toBe(2)
  })

  it('WORK-7 a schedule that fails does not hold up the others', async () => {
    const broken = withVerb('runSchedule', (name, occurrence) =>
      name === 'broken' ? unreachable() : store.runSchedule(name, occurrence),
    )
    start([{ ...hourly, name: 'broken' }, hourly], { store: broken })
    await pass(HOUR)
    expect(enqueued.map(({ name }) => name)).toEqual(['hourly'])
    expect(new Set(failed.map(({ name }) => name))).toEqual(new Set(['broken']))
    expect(failed.length).toBeLessThan(40)
  })

  it('WORK-7 a stored cron that this version cannot read is told', async () => {
    const now = new Date()
    await store.writeSchedule({ ...hourly, name: 'odd', cron: 'whenever', timezone: 'UTC', nextRunAt: now })
    start([])
    await pass(LATE)
    expect(failed[0]).toMatchObject({ name: 'odd', error: { code: 'INVALID_ARGUMENT' } })
  })

  it('OPS-8 a cron without an occurrence to come is told, and the others run', async () => {
    start([{ ...hourly, name: 'never', cron: '0 0 30 2 *' }, hourly])
    await pass(HOUR)
    expect(failed[0]).toMatchObject({ name: 'never', error: { code: 'INVALID_ARGUMENT' } })
    expect(enqueued.map(({ name }) => name)).toEqual(['hourly'])
  })

  it('OPS-8 refuses at once what no schedule can be', async () => {
    const late = { type: 'report', delayMs: 5 }
    const bad: RecurringJob[][] = [
      [{ ...hourly, cron: 'nightly' }],
      [{ ...hourly, timezone: 'Mars/Olympus' }],
      [hourly, hourly],
      [{ ...hourly, job: late }],
    ]
    for (const schedules of bad) {
      expect(() => start(schedules)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    }
    expect((await store.listSchedules()).schedules).toEqual([])
  })

  it('WORK-7 after a stop nothing is asked of the store any more', async () => {
    let calls = 0
    const counted = withVerb('listSchedules', () => {
      calls += 1
      return store.listSchedules()
    })
    const scheduler = start([hourly], { store: counted })
    await pass(LATE)
    await scheduler.stop()
    const before = calls
    await pass(2 * HOUR)
    expect(calls).toBe(before)
    expect(enqueued).toEqual([])
  })
})
