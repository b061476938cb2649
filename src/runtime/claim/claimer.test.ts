import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { startMainHeartbeat } from '../heartbeat/heartbeat.ts'
import { Claimer } from './claimer.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const nothing = () => {}

/** Ten slots that start every waiting job at once. The test answers the claims. */
function startClaimer() {
  const bench = new MemoryWorkerBench()
  const claims: { limit: number; isFromStart: boolean; answer: (count: number) => void }[] = []
  let jobs = 0
  const claimed = (): ClaimedJob =>
    ({
      jobId: String(++jobs),
      leaseId: 'lease',
      type: 'asr',
      queue: 'asr',
      priority: 0,
      leaseMs: 60_000,
      createdAt: new Date(0),
    }) as ClaimedJob
  const store = bench.withVerb(
    'claimJobs',
    () =>
      ({ limit, cursors }) =>
        new Promise((resolve) =>
          claims.push({
            limit,
            isFromStart: cursors === undefined || cursors.size === 0,
            answer: (count) => resolve(Array.from({ length: count }, claimed)),
          }),
        ),
  )
  const stopping = new AbortController()
  const events = { onBeat: nothing, onFailed: nothing, onRecovered: nothing, onLag: nothing }
  const claimer: Claimer<never> = new Claimer({
    store,
    workerId: 'worker-1',
    handlers: [{ type: 'asr', handler: async () => {} }],
    heartbeat: startMainHeartbeat({ store, intervalMs: 60_000, policy: {}, events }),
    policy: {},
    events: bench.events,
    concurrency: 10,
    pollMs: () => [1_000, 1_000],
    freeSlots: () => 10,
    canClaim: () => true,
    startWaiting() {
      while (claimer.take(true) !== undefined);
    },
    stopping: stopping.signal,
    leaving: new AbortController().signal,
  })
  return { claims, claimer, stopping, ended: claimer.run() }
}

/** Handlers of this duration have run in ten slots for 100 ms; then the claim under way is answered. */
async function work({ claims, claimer }: ReturnType<typeof startClaimer>, handlerMs: number): Promise<void> {
  for (let ms = 0; ms < 100; ms += handlerMs) {
    for (let slot = 0; slot < 10; slot++) claimer.noteStart()
    vi.advanceTimersByTime(handlerMs)
    for (let slot = 0; slot < 10; slot++) claimer.noteEnd()
  }
  claims.at(-1)?.answer(10)
  await vi.advanceTimersByTimeAsync(0)
}

it('WORK-1 jobs that take their time are claimed one claim after the other', async () => {
  const started = startClaimer()
  // One a millisecond, for 50 ms and the time of three claims of 50 ms each, as far as is known: 200 beside the slots.
  await work(started, 10)
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(started.claims.map(({ limit }) => limit)).toEqual([10, 10 + 200])
})

it('WORK-1 one claim is in flight at a time, however short the jobs are', async () => {
  const started = startClaimer()
  await work(started, 0.1)
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(started.claims.map(({ limit }) => limit)).toEqual([10, 10 + 1_500])
})

it('WORK-4 it ends when its claim is answered', async () => {
  const started = startClaimer()
  await work(started, 0.1)
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(0)
  const [, inFlight] = started.claims
  started.stopping.abort()
  started.claimer.wake()
  let hasEnded = false
  void started.ended.then(() => {
    hasEnded = true
  })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(hasEnded).toBe(false)
  inFlight?.answer(1_000)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(hasEnded).toBe(true)
})

it('WORK-1 a hint whose job is not found at the position makes it look before it, within a quarter of a second', async () => {
  const { claims, claimer } = startClaimer()
  const answer = async (count: number) => {
    claims.at(-1)?.answer(count)
    await vi.advanceTimersByTimeAsync(0)
  }
  await answer(1)
  await answer(0)
  // As for a job whose transaction began before those of the others and has ended now.
  claimer.wakeForHint()
  await vi.advanceTimersByTimeAsync(0)
  await answer(0)
  expect(claims.map(({ isFromStart }) => isFromStart)).toEqual([true, false, false])
  await vi.advanceTimersByTimeAsync(260)
  expect(claims.map(({ isFromStart }) => isFromStart)).toEqual([true, false, false, true])
  // That found all there is: now it polls.
  await answer(0)
  await vi.advanceTimersByTimeAsync(900)
  expect(claims).toHaveLength(4)
})
