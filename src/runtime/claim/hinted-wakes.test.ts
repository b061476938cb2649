import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { hashText, hintForAll, type JobHint, wakeTurnMs } from '../../policy/wake/wake-turn.ts'
import { HintedWakes } from './hinted-wakes.ts'

const ids = Array.from({ length: 10 }, (_, n) => `worker-${n}`)
const fleet = [{ queues: ['asr'], workerIds: ids }]
const hint = (fields: Partial<JobHint> = {}): JobHint => ({
  queue: 'asr',
  count: 1,
  dueInMs: 0,
  seed: 7,
  ...fields,
})
/** In the order in which this hint wakes them. */
const ranked = ids.toSorted((a, b) => turnOf(a) - turnOf(b))
function turnOf(id: string): number {
  return wakeTurnMs(hint(), hashText(id), [{ queues: ['asr'], hashes: ids.map(hashText) }]) ?? 0
}

let claims: number
let looks: number
let isDue: boolean
let freeSlots: number
let opened: HintedWakes[]

beforeEach(() => {
  vi.useFakeTimers()
  claims = 0
  looks = 0
  isDue = false
  freeSlots = 1
  opened = []
})
afterEach(() => {
  for (const wakes of opened) wakes.clear()
  vi.useRealTimers()
})

function open(workerId = ranked[0] ?? '', isKnown = true): HintedWakes {
  const wakes = new HintedWakes({
    workerId,
    queues: ['asr'],
    claim: () => claims++,
    hasFreeSlot: () => freeSlots > 0,
    hasDueJobs: async () => {
      looks++
      return isDue
    },
  })
  if (isKnown) wakes.meet(fleet)
  opened.push(wakes)
  return wakes
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

it('WORK-1 C16 the first worker claims at once, without a look', () => {
  open().hear(hint())
  expect({ claims, looks }).toEqual({ claims: 1, looks: 0 })
})

it('WORK-1 C16 the next one looks after 50 ms, and claims only if a job is left', async () => {
  const wakes = open(ranked[1])
  wakes.hear(hint())
  await pass(45)
  expect({ claims, looks }).toEqual({ claims: 0, looks: 0 })
  await pass(20)
  expect({ claims, looks }).toEqual({ claims: 0, looks: 1 })
  isDue = true
  await pass(1_000)
  wakes.hear(hint())
  await pass(65)
  expect({ claims, looks }).toEqual({ claims: 1, looks: 2 })
})

it('WORK-1 C16 a look that cannot be answered ends in a claim, which reports the error', async () => {
  const wakes = new HintedWakes({
    workerId: ranked[1] ?? '',
    queues: ['asr'],
    claim: () => claims++,
    hasFreeSlot: () => true,
    hasDueJobs: () => Promise.reject(new Error('the database is away')),
  })
  wakes.meet(fleet)
  wakes.hear(hint())
  await pass(100)
  expect(claims).toBe(1)
})

it('WORK-1 C16 a worker without a free slot at its turn does not look', async () => {
  open(ranked[1]).hear(hint())
  freeSlots = 0
  await pass(1_000)
  expect(looks).toBe(0)
})

it('WORK-1 C16 many hints in a row make one worker look at most five times a second, and none is forgotten', async () => {
  const wakes = open(ranked[1])
  for (let round = 0; round < 100; round++) {
    wakes.hear(hint())
    await pass(10)
  }
  expect(looks).toBeGreaterThanOrEqual(4)
  expect(looks).toBeLessThanOrEqual(5)
  const before = looks
  await pass(1_000)
  expect(looks).toBe(before + 1)
})

it('WORK-1 C16 everybody claims while the fleet is not known, and once it has not been reported for 45 s', async () => {
  open(ranked[9], false).hear(hint())
  expect(claims).toBe(1)
  const wakes = open(ranked[9])
  await pass(45_001)
  wakes.hear(hint())
  expect(claims).toBe(2)
})

it('WORK-1 C16 a worker that the list does not have yet takes a turn of its own', async () => {
  open('newcomer').hear(hint())
  await pass(1_000)
  expect(claims + looks).toBe(1)
})

it('WORK-1 C16 hints for all claim at once or when they are due, and those of other queues never', async () => {
  const wakes = open(ranked[9])
  wakes.hear(hint({ queue: 'mail' }))
  wakes.hear(hintForAll(1_000))
  await pass(999)
  expect(claims).toBe(0)
  await pass(300)
  expect(claims).toBe(1)
  wakes.hear()
  expect(claims).toBe(2)
})

it('WORK-1 C16 jobs that are due later wake the first worker then, and the next one 50 ms after it', async () => {
  open(ranked[0]).hear(hint({ dueInMs: 2_000 }))
  open(ranked[1]).hear(hint({ dueInMs: 2_000 }))
  await pass(1_999)
  expect({ claims, looks }).toEqual({ claims: 0, looks: 0 })
  await pass(300)
  expect({ claims, looks }).toEqual({ claims: 1, looks: 1 })
})

it('WORK-4 nothing follows once it is cleared', async () => {
  const wakes = open(ranked[1])
  wakes.hear(hint())
  wakes.clear()
  await pass(1_000)
  expect(looks).toBe(0)
})
