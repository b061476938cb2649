import { expect, it } from 'vitest'
import { groupLimit, groupTypes, isLow, planClaim, type TypeFacts } from './claim-plan.ts'

const facts = { freeSlots: 10, waiting: 0, inFlight: 0, prefetch: 0 }
const type = (name: string, fields: Partial<TypeFacts> = {}): TypeFacts => ({
  type: name,
  queue: name,
  allowance: Number.POSITIVE_INFINITY,
  hasDependency: false,
  ...fields,
})

it('WORK-1 a worker claims for its free slots, and ahead of them as much as may wait', () => {
  expect(planClaim(facts)).toEqual({ slots: 10, ahead: 0 })
  expect(planClaim({ ...facts, prefetch: 200 })).toEqual({ slots: 10, ahead: 200 })
  expect(planClaim({ ...facts, prefetch: 4_000 })).toEqual({ slots: 10, ahead: 2_000 })
})

it('WORK-1 without a free slot a worker claims once half of the jobs that may wait have started', () => {
  const full = { freeSlots: 0, inFlight: 0, prefetch: 100 }
  expect(planClaim({ ...full, waiting: 51 })).toBeNull()
  expect(planClaim({ ...full, waiting: 50 })).toEqual({ slots: 0, ahead: 50 })
  expect(planClaim({ ...full, waiting: 30, inFlight: 21 })).toBeNull()
  expect(planClaim({ ...full, prefetch: 0, waiting: 0 })).toBeNull()
  // A claim brings 2,000 at most: more are claimed as soon as there is room for them.
  expect(isLow({ waiting: 2_000, inFlight: 0, prefetch: 4_000 })).toBe(true)
  expect(isLow({ waiting: 2_001, inFlight: 0, prefetch: 4_000 })).toBe(false)
})

it('WORK-1 nothing is claimed ahead beyond what may wait, whatever is under way', () => {
  const busy = { freeSlots: 10, waiting: 1_800, prefetch: 3_000 }
  expect(planClaim({ ...busy, inFlight: 0 })).toEqual({ slots: 10, ahead: 1_200 })
  expect(planClaim({ ...busy, inFlight: 1_000 })).toEqual({ slots: 10, ahead: 200 })
  expect(planClaim({ ...busy, waiting: 4_000, inFlight: 0 })).toEqual({ slots: 10, ahead: 0 })
})

it('RATE-1 a type under a limit is claimed by itself, as often as it has tokens, and not ahead of the slots', () => {
  const [limited, rest] = groupTypes([type('a'), type('b', { allowance: 3 }), type('c', { queue: 'a' })], 0)
  expect(limited).toMatchObject({ types: ['b'], queues: ['b'] })
  expect(rest).toMatchObject({ types: ['a', 'c'], queues: ['a'] })
  expect(limited && groupLimit(limited, 10, 50)).toBe(3)
  expect(limited && groupLimit(limited, 2, 50)).toBe(2)
  expect(rest && groupLimit(rest, 10, 50)).toBe(60)
})

it('BREAK-2 jobs whose breaker may open are not claimed ahead of the slots', () => {
  const [group] = groupTypes([type('a'), type('b', { hasDependency: true })], 0)
  expect(group && groupLimit(group, 10, 50)).toBe(10)
})

it('RATE-1 each round begins with another group', () => {
  const types = [type('a', { allowance: 1 }), type('b', { allowance: 1 }), type('c')]
  const firsts = [0, 1, 2, 3].map((round) => groupTypes(types, round)[0]?.types)
  expect(firsts).toEqual([['a'], ['b'], ['c'], ['a']])
})
