import { describe, expect, it } from 'vitest'
import {
  afterCalls,
  afterProbe,
  type BreakerFacts,
  breakerState,
  closedBreaker,
  nextProbeInMs,
  runningProbes,
  takeProbeSlots,
} from './breaker.ts'

const calls = (failures: number, successes = 0) => [
  ...Array.from({ length: successes }, () => ({ isFailure: false })),
  ...Array.from({ length: failures }, () => ({ isFailure: true })),
]
const opened = afterCalls(closedBreaker, calls(20), 0)
const withMode = (facts: BreakerFacts, mode: 'hold' | 'half-open'): BreakerFacts => ({
  ...facts,
  settings: { ...facts.settings, mode },
})

describe('afterCalls', () => {
  it.each([
    [9, 11, 'closed'],
    [10, 10, 'open'],
    [4, 6, 'closed'],
    [5, 5, 'open'],
    [9, 0, 'closed'],
    [10, 0, 'open'],
  ])('BREAK-1 %i failures beside %i good calls leave it %s', (failures, successes, state) => {
    expect(breakerState(afterCalls(closedBreaker, calls(failures, successes), 0), 0)).toBe(state)
  })

  it('BREAK-1 one by one or in one report, the window is the same', () => {
    const story = [...calls(3, 5), ...calls(2, 8), ...calls(1, 6)]
    const singly = story.reduce((facts, call) => afterCalls(facts, [call], 0), closedBreaker)
    expect(afterCalls(closedBreaker, story, 0)).toEqual(singly)
    expect(singly.calls).toHaveLength(20)
  })

  it.each([
    [59_999, 10, 'open'],
    [60_000, 5, 'closed'],
  ])(
    'BREAK-1 with a window of a minute, %i ms later %i calls are known and it is %s',
    (laterMs, known, state) => {
      const timed = { ...closedBreaker, settings: { ...closedBreaker.settings, windowMs: 60_000 } }
      const later = afterCalls(afterCalls(timed, calls(5), 0), calls(5), laterMs)
      expect(later.calls).toHaveLength(known)
      expect(later.calledAtMs).toHaveLength(known)
      expect(breakerState(later, laterMs)).toBe(state)
    },
  )

  it('BREAK-1 without one no times are kept', () => {
    expect(afterCalls(closedBreaker, calls(5), 0).calledAtMs).toEqual([])
  })

  it('BREAK-2 an open breaker does not hear late calls', () => {
    expect(afterCalls(opened, calls(3, 30), 1_000)).toBe(opened)
  })
})

describe('breakerState', () => {
  it('BREAK-3 an open breaker is half-open after its cooldown, in that mode only', () => {
    expect(breakerState(opened, 29_999)).toBe('open')
    expect(breakerState(opened, 30_000)).toBe('half-open')
    expect(breakerState(withMode(opened, 'hold'), 30_000)).toBe('open')
  })

  it('BREAK-2 a hold stands over everything until its end', () => {
    const held = { ...opened, hold: { untilMs: 50_000 } }
    expect(breakerState(held, 49_999)).toBe('held')
    expect(breakerState(held, 50_000)).toBe('half-open')
    expect(breakerState({ ...closedBreaker, hold: { untilMs: null } }, 1e12)).toBe('held')
  })
})

describe('afterProbe', () => {
  const held = withMode(opened, 'hold')
  const after = (facts: BreakerFacts, moments: number[]) =>
    moments.reduce((before, ms) => afterProbe(before, true, ms), facts)

  it('BREAK-3 three good ones in a row, an interval apart, close it in mode hold', () => {
    const moments = [30_000, 30_500, 31_000, 32_000]
    const states = moments.map((_, index) => after(held, moments.slice(0, index + 1)).isOpen)
    expect(states).toEqual([true, true, true, false])
  })

  it('BREAK-3 in mode half-open they start half-open early, and close nothing', () => {
    const early = after(opened, [0, 500, 1_000, 2_000])
    expect([breakerState(early, 2_000), early.successes]).toEqual(['half-open', 0])
    expect(after(early, [3_000, 4_000, 5_000])).toBe(early)
    expect(afterProbe(early, false, 3_000)).toBe(early)
  })

  it('BREAK-3 a bad one begins the cooldown anew', () => {
    const again = afterProbe(afterProbe(held, true, 30_000), false, 30_100)
    expect(again).toMatchObject({ isOpen: true, successes: 0, cooldownUntilMs: 60_100 })
    expect(nextProbeInMs(again, 30_100)).toBe(30_000)
  })
})

describe('takeProbeSlots', () => {
  it('BREAK-3 gives no more slots than there are, and takes back those of silent jobs', () => {
    const taken = takeProbeSlots(opened, ['a', 'b'], 30_000)
    expect(taken.probes.map(({ jobId }) => jobId)).toEqual(['a'])
    expect(takeProbeSlots(taken, ['b'], 89_999).probes.map(({ jobId }) => jobId)).toEqual(['a'])
    const later = takeProbeSlots(taken, ['b'], 90_000)
    expect(runningProbes(later, 90_000).map(({ jobId }) => jobId)).toEqual(['b'])
    // Its failure is heard all the same.
    expect(later.probes.map(({ jobId }) => jobId)).toEqual(['a', 'b'])
    expect(breakerState(afterCalls(later, [{ isFailure: true, jobId: 'a' }], 90_000), 90_000)).toBe('open')
  })
})
