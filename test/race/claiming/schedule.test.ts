// Schedulers that meet at one occurrence.
import { describe, expect, it } from 'vitest'
import { claimMany, DAY, MINUTE, TYPE } from '../../../src/store/conformance/builders.ts'
import type { JobStore, Occurrence, ScheduleRun } from '../../../src/store/job-store.ts'
import { type Connection, isolationLevels, type Race, raceBench } from '../race-bench.ts'

const opened = raceBench()
const NAME = 'nightly'

/** With overlap: nothing but the schedule itself keeps two jobs apart. */
async function writeDue(store: JobStore, dueInMs = -MINUTE): Promise<Occurrence> {
  const { now } = await store.listSchedules()
  const dueAt = new Date(now.getTime() + dueInMs)
  const schedule = { name: NAME, cron: '0 3 * * *', timezone: 'UTC', job: { type: TYPE }, nextRunAt: dueAt }
  await store.writeSchedule({ ...schedule, overlap: 'allow' })
  return { dueAt, nextRunAt: new Date(dueAt.getTime() + DAY) }
}

async function connectTwo({ connectMany }: Race): Promise<[Connection, Connection]> {
  const [first, second] = await connectMany(2)
  if (!first || !second) throw new Error('there are not two connections')
  return [first, second]
}

const outcomes = (runs: ScheduleRun[]) => runs.map(({ outcome }) => outcome).toSorted()

describe('one occurrence', () => {
  it('WORK-7 makes one job, however many schedulers run it at once', async () => {
    const { store, connectMany } = opened()
    const occurrence = await writeDue(store)
    const connections = await connectMany(6)
    const runs = await Promise.all(connections.map((each) => each.store.runSchedule(NAME, occurrence)))
    expect(outcomes(runs)).toEqual(['enqueued', 'taken', 'taken', 'taken', 'taken', 'taken'])
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('WORK-7 is taken for a scheduler that waited for the one before it', async () => {
    const race = opened()
    const [first, second] = await connectTwo(race)
    const occurrence = await writeDue(race.store)
    await first.begin()
    expect(await first.store.runSchedule(NAME, occurrence)).toMatchObject({ outcome: 'enqueued' })
    const pending = await race.startBlocked(second, first, () => second.store.runSchedule(NAME, occurrence))
    await first.commit()
    expect(await pending.answer).toEqual({ outcome: 'taken' })
    expect(await claimMany(race.store)).toHaveLength(1)
  })

  it('WORK-7 is not lost where the scheduler that ran it never committed', async () => {
    const race = opened()
    const [first, second] = await connectTwo(race)
    const occurrence = await writeDue(race.store)
    await first.begin()
    await first.store.runSchedule(NAME, occurrence)
    const pending = await race.startBlocked(second, first, () => second.store.runSchedule(NAME, occurrence))
    await first.rollback()
    expect(await pending.answer).toMatchObject({ outcome: 'enqueued' })
    expect(await claimMany(race.store)).toHaveLength(1)
  })

  it.each(isolationLevels)('WORK-7 at %s is not run again from an older snapshot', async (isolation) => {
    const race = opened()
    const [early, late] = await connectTwo(race)
    const occurrence = await writeDue(race.store)
    await early.begin(isolation)
    await early.store.listSchedules()
    expect(await late.store.runSchedule(NAME, occurrence)).toMatchObject({ outcome: 'enqueued' })
    const run = await early.store.runSchedule(NAME, occurrence).catch((error: unknown) => error)
    if (isolation === 'read committed') expect(run).toEqual({ outcome: 'taken' })
    else expect(run).toMatchObject({ code: 'DATABASE_CONFLICT' })
    await early.rollback()
    expect(await claimMany(race.store)).toHaveLength(1)
  })
})

describe('a schedule that is changed', () => {
  it('WORK-7 meanwhile is not run by its old time', async () => {
    const race = opened()
    const [writer, runner] = await connectTwo(race)
    const occurrence = await writeDue(race.store)
    const { now } = await race.store.listSchedules()
    const nextRunAt = new Date(now.getTime() + DAY)
    await writer.begin()
    await writer.store.writeSchedule({
      name: NAME,
      cron: '0 4 * * *',
      timezone: 'UTC',
      job: { type: TYPE },
      nextRunAt,
    })
    const pending = await race.startBlocked(runner, writer, () => runner.store.runSchedule(NAME, occurrence))
    await writer.commit()
    expect(await pending.answer).toEqual({ outcome: 'taken' })
    expect((await race.store.listSchedules()).schedules).toMatchObject([{ cron: '0 4 * * *', nextRunAt }])
  })

  it('WORK-7 and deleted meanwhile is not found', async () => {
    const race = opened()
    const [deleter, runner] = await connectTwo(race)
    const occurrence = await writeDue(race.store)
    await deleter.begin()
    expect(await deleter.store.deleteSchedule(NAME)).toBe(true)
    const pending = await race.startBlocked(runner, deleter, () => runner.store.runSchedule(NAME, occurrence))
    await deleter.commit()
    expect(await pending.answer).toEqual({ outcome: 'not-found' })
    expect(await claimMany(race.store)).toEqual([])
  })

  it('WORK-7 processes that write the same schedule at once make one', async () => {
    const { store, connectMany } = opened()
    const connections = await connectMany(4)
    await Promise.all(connections.map((each) => writeDue(each.store, DAY)))
    expect((await store.listSchedules()).schedules).toHaveLength(1)
  })
})
