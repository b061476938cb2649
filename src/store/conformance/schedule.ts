import { describe, expect, it } from 'vitest'
import type { JobStore } from '../job-store.ts'
import type { NewSchedule, Schedule, ScheduleRun } from '../ports/schedule-store.ts'
import {
  claimMany,
  claimOne,
  complete,
  DAY,
  expectAbout,
  HOUR,
  invalidArgument,
  MINUTE,
  readJob,
  SECOND,
  TYPE,
} from './builders.ts'
import type { TestBench } from './harness.ts'

const NAME = 'nightly-report'

/** A schedule whose next run is `dueInMs` away. The store does not parse cron: the tests move the time. */
async function writeOne(
  store: JobStore,
  dueInMs: number,
  change: Partial<NewSchedule> = {},
): Promise<Schedule> {
  const { now } = await store.listSchedules()
  const nextRunAt = new Date(now.getTime() + dueInMs)
  return store.writeSchedule({
    name: NAME,
    cron: '0 3 * * *',
    timezone: 'UTC',
    job: { type: TYPE },
    nextRunAt,
    ...change,
  })
}

async function readOne(store: JobStore): Promise<Schedule> {
  const [schedule, ...others] = (await store.listSchedules()).schedules
  if (schedule === undefined || others.length > 0) throw new Error('there is not one schedule')
  return schedule
}

/** Runs the occurrence that the schedule shows; the next one is a day later. */
async function runOne(store: JobStore): Promise<ScheduleRun> {
  const { name, nextRunAt } = await readOne(store)
  if (nextRunAt === null) throw new Error('no occurrence is left')
  return store.runSchedule(name, { dueAt: nextRunAt, nextRunAt: new Date(nextRunAt.getTime() + DAY) })
}

async function expectEnqueued(store: JobStore): Promise<string> {
  const run = await runOne(store)
  if (run.outcome !== 'enqueued') throw new Error(`the run was ${run.outcome}`)
  return run.jobId
}

export function describeSchedule(opened: () => TestBench): void {
  describe('schedules', () => {
    describeRuns(opened)
    describeOverlap(opened)
    describeWriting(opened)
    describeRefusals(opened)
  })
}

function describeRuns(opened: () => TestBench): void {
  it('WORK-7 an occurrence that is due enqueues its job and moves the schedule on', async () => {
    const { store } = opened()
    const job = {
      type: TYPE,
      queue: 'night',
      payload: { pages: [1] },
      priority: 5,
      owner: 'ana',
      maxAttempts: 7,
    }
    const { nextRunAt } = await writeOne(store, -MINUTE, { job })
    const jobId = await expectEnqueued(store)
    expect(await readJob(store, jobId)).toMatchObject({ ...job, status: 'waiting', runAt: null })
    const schedule = await readOne(store)
    expect(schedule).toMatchObject({ lastJobId: jobId, lastSkippedAt: null, job })
    expect(schedule.nextRunAt).toEqual(new Date(Number(nextRunAt) + DAY))
    expectAbout(schedule.dueInMs, DAY - MINUTE)
    expect(schedule.lastRunAt).toBeInstanceOf(Date)
  })

  it('WORK-7 a second run of the same occurrence enqueues nothing', async () => {
    const { store } = opened()
    const { nextRunAt: dueAt } = await writeOne(store, -MINUTE, { overlap: 'allow' })
    if (dueAt === null) throw new Error('no occurrence is left')
    await expectEnqueued(store)
    const before = await readOne(store)
    const again = { dueAt, nextRunAt: new Date(dueAt.getTime() + HOUR) }
    expect(await store.runSchedule(NAME, again)).toEqual({ outcome: 'taken' })
    expect(await claimMany(store)).toHaveLength(1)
    expect((await readOne(store)).nextRunAt).toEqual(before.nextRunAt)
  })

  it('WORK-7 an occurrence that is not due yet waits for its time', async () => {
    const { store, elapse } = opened()
    await writeOne(store, MINUTE)
    expect(await runOne(store)).toEqual({ outcome: 'not-due' })
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    await expectEnqueued(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('WORK-7 a schedule without another occurrence stays, and never runs again', async () => {
    const { store } = opened()
    const { nextRunAt: dueAt } = await writeOne(store, -MINUTE)
    if (dueAt === null) throw new Error('no occurrence is left')
    expect(await store.runSchedule(NAME, { dueAt, nextRunAt: null })).toMatchObject({ outcome: 'enqueued' })
    expect(await readOne(store)).toMatchObject({ nextRunAt: null, dueInMs: null })
    expect(await store.runSchedule(NAME, { dueAt, nextRunAt: null })).toEqual({ outcome: 'taken' })
  })

  it('WORK-7 a missing schedule is an outcome, not an error', async () => {
    const { store } = opened()
    const { now } = await store.listSchedules()
    expect(await store.runSchedule('unknown', { dueAt: now, nextRunAt: null })).toEqual({
      outcome: 'not-found',
    })
    expect(await store.deleteSchedule('unknown')).toBe(false)
  })

  it('OPS-8 a run takes the policy of its call, as enqueueing does', async () => {
    const { store } = opened()
    const { nextRunAt: dueAt } = await writeOne(store, -MINUTE)
    if (dueAt === null) throw new Error('no occurrence is left')
    await store.runSchedule(NAME, { dueAt, nextRunAt: null, policy: { maxAttempts: 9 } })
    expect((await claimOne(store)).maxAttempts).toBe(9)
  })
}

function describeOverlap(opened: () => TestBench): void {
  it('WORK-7 an occurrence is skipped while the job of an earlier one is waiting or running', async () => {
    const { store, elapse } = opened()
    await writeOne(store, -MINUTE)
    const jobId = await expectEnqueued(store)
    await elapse(DAY)
    expect(await runOne(store)).toEqual({ outcome: 'skipped', jobId })
    const claimed = await claimOne(store, { leaseMs: 3 * DAY })
    await elapse(DAY)
    expect(await runOne(store)).toEqual({ outcome: 'skipped', jobId })
    const schedule = await readOne(store)
    expect(schedule.lastJobId).toBe(jobId)
    expect(Number(schedule.lastSkippedAt)).toBeGreaterThan(Number(schedule.lastRunAt))
    expectAbout(schedule.dueInMs, DAY - MINUTE)
    await complete(store, claimed)
    await elapse(DAY)
    expect(await expectEnqueued(store)).not.toBe(jobId)
  })

  it('WORK-7 schedules of one type do not skip each other', async () => {
    const { store } = opened()
    const { nextRunAt: dueAt } = await writeOne(store, -MINUTE)
    if (dueAt === null) throw new Error('no occurrence is left')
    await writeOne(store, -MINUTE, { name: 'other', nextRunAt: dueAt })
    const occurrence = { dueAt, nextRunAt: null }
    expect(await store.runSchedule(NAME, occurrence)).toMatchObject({ outcome: 'enqueued' })
    expect(await store.runSchedule('other', occurrence)).toMatchObject({ outcome: 'enqueued' })
    expect(await claimMany(store)).toHaveLength(2)
  })

  it('WORK-7 with overlap allowed every occurrence has its job', async () => {
    const { store, elapse } = opened()
    await writeOne(store, -MINUTE, { overlap: 'allow' })
    await expectEnqueued(store)
    await elapse(DAY)
    await expectEnqueued(store)
    expect(await claimMany(store)).toHaveLength(2)
  })
}

function describeWriting(opened: () => TestBench): void {
  it('WORK-7 a schedule that is written again keeps its next run and its past', async () => {
    const { store } = opened()
    const { nextRunAt } = await writeOne(store, HOUR)
    const again = await writeOne(store, DAY, { job: { type: 'mail' }, overlap: 'allow' })
    expect(again).toMatchObject({ nextRunAt, overlap: 'allow', job: { type: 'mail' } })
    expect(await readOne(store)).toMatchObject({ nextRunAt, overlap: 'allow', job: { type: 'mail' } })
  })

  it('WORK-7 another cron or timezone brings another next run', async () => {
    const { store } = opened()
    await writeOne(store, -MINUTE)
    const jobId = await expectEnqueued(store)
    expectAbout((await writeOne(store, 2 * HOUR, { cron: '0 4 * * *' })).dueInMs, 2 * HOUR)
    const moved = await writeOne(store, 3 * HOUR, { cron: '0 4 * * *', timezone: 'Europe/Berlin' })
    expectAbout(moved.dueInMs, 3 * HOUR)
    expect(moved).toMatchObject({ cron: '0 4 * * *', timezone: 'Europe/Berlin', lastJobId: jobId })
  })

  it('WORK-7 lists schedules by name with the time of the store', async () => {
    const { store } = opened()
    const empty = await store.listSchedules()
    expect(empty.schedules).toEqual([])
    expectAbout(empty.now.getTime(), Date.now())
    await writeOne(store, HOUR, { name: 'b' })
    await writeOne(store, -HOUR, { name: 'a', job: { type: TYPE, payload: null } })
    const [a, b, ...others] = (await store.listSchedules()).schedules
    expect(others).toEqual([])
    expectAbout(a?.dueInMs, -HOUR)
    expect(a?.job).toEqual({ type: TYPE, payload: null })
    expect(b).toEqual({
      name: 'b',
      cron: '0 3 * * *',
      timezone: 'UTC',
      overlap: 'skip',
      job: { type: TYPE },
      nextRunAt: expect.any(Date),
      dueInMs: expect.any(Number),
      lastRunAt: null,
      lastJobId: null,
      lastSkippedAt: null,
    })
  })

  it('WORK-7 a schedule keeps the waits of its jobs', async () => {
    const { store } = opened()
    const job = { type: TYPE, retry: { backoff: [SECOND, HOUR] } }
    await writeOne(store, HOUR, { job })
    expect((await readOne(store)).job).toEqual(job)
  })

  it('WORK-7 a deleted schedule no longer runs, and its jobs stay', async () => {
    const { store } = opened()
    await writeOne(store, -MINUTE)
    await expectEnqueued(store)
    expect(await store.deleteSchedule(NAME)).toBe(true)
    expect((await store.listSchedules()).schedules).toEqual([])
    expect(await claimMany(store)).toHaveLength(1)
  })
}

function describeRefusals(opened: () => TestBench): void {
  it('OPS-8 a bad schedule is refused and leaves nothing behind', async () => {
    const { store } = opened()
    const bad: object[] = [
      { name: '' },
      { name: 'n'.repeat(201) },
      { cron: '' },
      { timezone: '' },
      { overlap: 'sometimes' },
      { nextRunAt: new Date(Number.NaN) },
      { job: { type: '' } },
      { job: { type: TYPE, priority: 0.5 } },
      { job: { type: TYPE, delayMs: 1 } },
      { job: { type: TYPE, runAt: new Date() } },
      { job: { type: TYPE, dedupeKey: 'mine' } },
    ]
    for (const change of bad)
      await expect(writeOne(store, HOUR, change)).rejects.toMatchObject(invalidArgument)
    expect((await store.listSchedules()).schedules).toEqual([])
  })

  it('OPS-8 a run that would not move the schedule on is refused', async () => {
    const { store } = opened()
    const { nextRunAt: dueAt } = await writeOne(store, -MINUTE)
    if (dueAt === null) throw new Error('no occurrence is left')
    const nowhere = new Date(Number.NaN)
    for (const nextRunAt of [dueAt, new Date(dueAt.getTime() - 1), nowhere])
      await expect(store.runSchedule(NAME, { dueAt, nextRunAt })).rejects.toMatchObject(invalidArgument)
    await expect(store.runSchedule(NAME, { dueAt: nowhere, nextRunAt: null })).rejects.toMatchObject(
      invalidArgument,
    )
    await expect(store.runSchedule('', { dueAt, nextRunAt: null })).rejects.toMatchObject(invalidArgument)
    await expect(store.deleteSchedule('')).rejects.toMatchObject(invalidArgument)
    expect(await claimMany(store)).toEqual([])
    await expectEnqueued(store)
  })
}
