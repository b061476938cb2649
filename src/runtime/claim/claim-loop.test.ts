import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ClaimLoop } from './claim-loop.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A worker with ten slots, whose claims are answered when the test says so. */
function startLoop() {
  const claims: { free: number; ahead: number; answer: (claimed: number) => void }[] = []
  const state = { free: 10, waiting: 0, isAble: true, isStopping: false }
  const loop = new ClaimLoop({
    slots: 10,
    free: () => state.free,
    waiting: () => state.waiting,
    isAble: () => state.isAble,
    isStopping: () => state.isStopping,
    claim: (free, ahead) => new Promise((answer) => claims.push({ free, ahead, answer })),
    giveBackStale: async () => {},
    pauseMs: () => 1_000,
  })
  const ended = loop.run()
  return { claims, state, loop, ended }
}

/** Handlers of this duration have run in ten slots for 100 ms; then the next claim is asked for. */
async function work({ claims, loop }: ReturnType<typeof startLoop>, handlerMs: number): Promise<void> {
  for (let ms = 0; ms < 100; ms += handlerMs) {
    for (let slot = 0; slot < 10; slot++) loop.noteStart()
    vi.advanceTimersByTime(handlerMs)
    for (let slot = 0; slot < 10; slot++) loop.noteEnd()
  }
  claims.at(-1)?.answer(10)
  await vi.advanceTimersByTimeAsync(0)
}

it('WORK-1 jobs that take their time are claimed one claim after the other', async () => {
  const started = startLoop()
  // One a millisecond, for 50 ms and the time of three claims of 50 ms each, as far as is known.
  await work(started, 10)
  started.loop.wake()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(started.claims.map(({ free, ahead }) => [free, ahead])).toEqual([
    [10, 0],
    [10, 200],
  ])
})

it('WORK-1 with very short jobs a second claim is under way beside the first, for none of the slots, and no third', async () => {
  const started = startLoop()
  await work(started, 0.1)
  started.loop.wake()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(started.claims.map(({ free, ahead }) => [free, ahead])).toEqual([
    [10, 0],
    [10, 1_000],
    [0, 1_000],
  ])
})

it('WORK-1 nothing is claimed ahead beyond what may wait, whatever is under way', async () => {
  const started = startLoop()
  started.state.waiting = 1_800
  await work(started, 0.1)
  started.loop.wake()
  await vi.advanceTimersByTimeAsync(100)
  expect(started.claims.map(({ ahead }) => ahead)).toEqual([0, 1_000])
})

it('WORK-4 it ends when both claims are answered', async () => {
  const started = startLoop()
  await work(started, 0.1)
  started.loop.wake()
  await vi.advanceTimersByTimeAsync(0)
  const [, first, second] = started.claims
  started.state.isStopping = true
  started.loop.wake()
  let hasEnded = false
  void started.ended.then(() => {
    hasEnded = true
  })
  first?.answer(0)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(hasEnded).toBe(false)
  second?.answer(1_000)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(hasEnded).toBe(true)
})
