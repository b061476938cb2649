import { describe, expect, it } from 'vitest'
import { makePresence, presenceFaults } from '../../../chaos/src/faults/presence-schedule.ts'
import { faultKinds, makeLocks, makeSchedule } from '../../../chaos/src/faults/schedule.ts'

describe('the schedule of a chaos run', () => {
  it('is the same for the same seed, and another for another', () => {
    const schedule = makeSchedule({ seed: 7, durationMs: 60_000 })
    expect(makeSchedule({ seed: 7, durationMs: 60_000 })).toEqual(schedule)
    expect(makeSchedule({ seed: 8, durationMs: 60_000 })).not.toEqual(schedule)
  })

  it('has every kind of fault in ten minutes, each within the time', () => {
    const schedule = makeSchedule({ seed: 1, durationMs: 600_000 })
    expect(new Set(schedule.map(({ kind }) => kind))).toEqual(new Set(faultKinds.map(({ kind }) => kind)))
    expect(schedule.every(({ atMs }) => atMs < 600_000)).toBe(true)
  })

  it('has over 2,000 faults in eight minutes, most of them cheap ones', () => {
    const schedule = makeSchedule({ seed: 5, durationMs: 480_000 })
    const dear = schedule.filter(({ kind }) => kind === 'kill' || kind === 'terminate')
    expect(schedule.length).toBeGreaterThan(2_800)
    expect(dear.length / schedule.length).toBeLessThan(0.04)
  })

  it('deals every fault of presence once before any comes again', () => {
    const schedule = makePresence({ seed: 3, durationMs: 600_000 })
    const dealt = presenceFaults.map(({ kind }) => kind).toSorted()
    for (const from of [0, dealt.length])
      expect(
        schedule
          .slice(from, from + dealt.length)
          .map(({ kind }) => kind)
          .toSorted(),
      ).toEqual(dealt)
    expect(makePresence({ seed: 3, durationMs: 600_000 })).toEqual(schedule)
  })

  it('locks the table for shorter and for longer than a lease, one lock at a time', () => {
    const locks = makeLocks({ seed: 3, durationMs: 3_600_000 })
    expect(new Set(locks.map(({ kind }) => kind))).toEqual(new Set(['table-locked', 'vacuum-full']))
    for (const kind of ['table-locked', 'vacuum-full']) {
      const durations = locks.filter((lock) => lock.kind === kind).map(({ durationMs }) => durationMs)
      expect(Math.min(...durations)).toBeLessThan(2_000)
      expect(Math.max(...durations)).toBeGreaterThan(18_000)
    }
    for (const [index, { atMs, durationMs }] of locks.entries())
      expect(locks[index + 1]?.atMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + durationMs)
  })

  it('stops the database for up to ten leases, and one outage at a time', () => {
    const outages = makeSchedule({ seed: 3, durationMs: 3_600_000 }).filter(
      ({ kind }) => kind === 'database-stopped',
    )
    const longestMs = Math.max(...outages.map(({ durationMs }) => durationMs))
    expect(longestMs).toBeGreaterThan(18_000)
    expect(longestMs).toBeLessThanOrEqual(20_000)
    for (const [index, { atMs, durationMs }] of outages.entries())
      expect(outages[index + 1]?.atMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(atMs + durationMs)
  })
})
