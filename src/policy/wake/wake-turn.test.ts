import { describe, expect, it } from 'vitest'
import { type FleetGroup, hashText, hintForAll, type JobHint, LAST_TURN_MS, wakeTurnMs } from './wake-turn.ts'

const ids = (count: number) => Array.from({ length: count }, (_, n) => hashText(`host:${n}:${n * 7}`))
const fleetOf = (hashes: number[], queues = ['asr']): FleetGroup[] => [{ queues, hashes }]
const hint = (fields: Partial<JobHint> = {}): JobHint => ({
  queue: 'asr',
  count: 1,
  dueInMs: 0,
  seed: 1,
  ...fields,
})
const turns = (fleet: number[], asked: JobHint) =>
  fleet.map((hash) => wakeTurnMs(asked, hash, fleetOf(fleet))).toSorted((a, b) => (a ?? 9_999) - (b ?? 9_999))

describe('the turns of a fleet', () => {
  it('WORK-1 C16 as many workers as jobs wake at once, and the others follow 50 ms after each other', () => {
    expect(turns(ids(5), hint())).toEqual([0, 50, 100, 150, 200])
    expect(turns(ids(5), hint({ count: 3 }))).toEqual([0, 0, 0, 50, 100])
    expect(turns(ids(5), hint({ count: 9 }))).toEqual([0, 0, 0, 0, 0])
  })

  it('WORK-1 C16 of a large fleet only those whose turn comes within a second follow', () => {
    const all = turns(ids(200), hint())
    expect(all.filter((turn) => turn === 0)).toHaveLength(1)
    expect(all.filter((turn) => turn !== null)).toHaveLength(1 + LAST_TURN_MS / 50)
  })

  it('WORK-1 C16 another worker comes first with another seed, each about as often', () => {
    const fleet = ids(10)
    const firsts = new Map<number, number>()
    for (let seed = 1_000; seed < 2_000; seed++) {
      const first = fleet.findIndex((hash) => wakeTurnMs(hint({ seed }), hash, fleetOf(fleet)) === 0)
      firsts.set(first, (firsts.get(first) ?? 0) + 1)
    }
    expect(firsts.size).toBe(10)
    for (const count of firsts.values()) expect(count).toBeGreaterThan(50)
  })

  it('WORK-1 C16 only workers of the queue count; a hint without a queue counts all', () => {
    const fleet = [...fleetOf(ids(3)), ...fleetOf(ids(30).slice(3), ['mail'])]
    const turnsOf = (queue: string | null) => ids(3).map((hash) => wakeTurnMs(hint({ queue }), hash, fleet))
    expect(new Set(turnsOf('asr'))).toEqual(new Set([0, 50, 100]))
    expect(turnsOf('none')).toEqual([0, 0, 0])
    const before = ids(30).filter((hash) => wakeTurnMs(hint({ queue: null }), hash, fleet) === 0)
    expect(before).toHaveLength(1)
  })

  it('WORK-1 C16 a hint without a count wakes everybody, and so does a fleet that is not known', () => {
    const fleet = ids(50)
    for (const hash of fleet) {
      expect(wakeTurnMs(hintForAll(), hash, fleetOf(fleet))).toBe(0)
      expect(wakeTurnMs(hint(), hash, [])).toBe(0)
    }
  })
})
