import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import { startMainHeartbeat } from '../heartbeat/heartbeat.ts'
import { Claimer } from './claimer.ts'
import type { ClaimerOptions } from './claimer-options.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const nothing = () => {}

type Answer = (count: number, heldBack?: string[]) => void

/** Ten slots that start every waiting job at once. The test answers the claims. */
function startClaimer(options: Partial<ClaimerOptions<never>> = {}) {
  const bench = new MemoryWorkerBench()
  const claims: { limit: number; isFromStart: boolean; answer: Answer }[] = []
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
      ({ limit, cursors, onHeldBack }) =>
        new Promise((resolve) =>
          claims.push({
            limit,
            isFromStart: cursors === undefined || cursors.size === 0,
            answer: (count, heldBack) => {
              if (heldBack !== undefined) onHeldBack?.(heldBack)
              resolve(Array.from({ length: count }, claimed))
            },
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
    areHintsTrusted: () => true,
    freeSlots: () => 10,
    canClaim: () => true,
    startWaiting() {
      while (claimer.take(true) !== undefined);
    },
    stopping: stopping.signal,
    leaving: new AbortController().signal,
    ...options,
  })
  const release = vi.spyOn(bench.store, 'releaseJobs')
  return { claims, claimer, stopping, release, ended: claimer.run() }
}

/** Handlers of this duration have run in ten slots for 100 ms; then the claim under way is answered. */
async function work({ claims, claimer }: ReturnType<typeof startClaimer>, handlerMs: number): Promise<void> {
  for (let ms = 0; ms < 100; ms += handlerMs) {
    for (let slot = 0; slot < 10; slot++) claimer.noteStart()
    vi.advanceTimersByTime(handlerMs)
    for (let slot = 0; slot < 10; slot++) claimer.noteEnd('asr')
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
  expect(started.claims.map(({ limit }) => limit)).toEqual([10, 10 + 2_000])
})

it('WORK-1 the claim after a full one is sent before the jobs of that one start, so that the server works meanwhile', async () => {
  const claimsAtStart: number[] = []
  const started = startClaimer({
    startWaiting() {
      while (started.claimer.take(true) !== undefined) claimsAtStart.push(started.claims.length)
    },
  })
  await work(started, 0.1)
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(0)
  started.claims[1]?.answer(10 + 2_000)
  await vi.advanceTimersByTimeAsync(0)
  // The jobs that are not started yet fill the slots, and half of those that may wait.
  expect(started.claims.map(({ limit }) => limit)).toEqual([10, 10 + 2_000, 2_000])
  expect(claimsAtStart.slice(10)).toEqual(Array(10 + 2_000).fill(3))
})

it('WORK-4 jobs of a claim that are not started yet when it ends are released', async () => {
  const started = startClaimer({ startWaiting: nothing })
  await work(started, 0.1)
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(0)
  started.claims[1]?.answer(10 + 2_000)
  started.stopping.abort()
  started.claimer.wake()
  await vi.advanceTimersByTimeAsync(1_000)
  await started.ended
  const released = started.release.mock.calls.flatMap(([leases]) => leases.map(({ jobId }) => jobId))
  expect(new Set(released).size).toBe(10 + 10 + 2_000)
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
  // As for a job whose transaction began before those of the others and has ended now.
  claimer.wakeForHint()
  await vi.advanceTimersByTimeAsync(0)
  await answer(0)
  expect(claims.map(({ isFromStart }) => isFromStart)).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(260)
  expect(claims.map(({ isFromStart }) => isFromStart)).toEqual([true, false, true])
  // That found all there is: now it polls.
  await answer(0)
  await vi.advanceTimersByTimeAsync(900)
  expect(claims).toHaveLength(3)
})

it('WORK-1 after a claim that found less than it asked for, the next one follows when a job ends, or in 250 ms', async () => {
  const { claims, claimer } = startClaimer()
  claims[0]?.answer(3)
  await vi.advanceTimersByTimeAsync(200)
  expect(claims).toHaveLength(1)
  claimer.wakeIfLow(false, 'asr')
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(2)
  claims[1]?.answer(3)
  await vi.advanceTimersByTimeAsync(251)
  expect(claims).toHaveLength(3)
})

it('WORK-1 the end of a job is no reason to claim again after a claim that found nothing, unless the worker is idle', async () => {
  const { claims, claimer } = startClaimer()
  claims[0]?.answer(0)
  await vi.advanceTimersByTimeAsync(0)
  claimer.wakeIfLow(false, 'asr')
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(1)
  claimer.wakeIfLow(true, 'asr')
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(2)
})

it('WORK-1 without hints the end of a job is a reason to claim again', async () => {
  const { claims, claimer } = startClaimer({ areHintsTrusted: () => false })
  claims[0]?.answer(0)
  await vi.advanceTimersByTimeAsync(0)
  claimer.wakeIfLow(false, 'asr')
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(2)
})

it('WORK-1 slots of slow jobs that become free within a fiftieth of their time are filled by one claim', async () => {
  const slots = { free: 10 }
  const { claims, claimer } = startClaimer({ freeSlots: () => slots.free })
  for (let slot = 0; slot < 10; slot++) claimer.noteStart()
  slots.free = 0
  claims[0]?.answer(10)
  await vi.advanceTimersByTimeAsync(800)
  for (let slot = 0; slot < 10; slot++) {
    claimer.noteEnd('asr')
    slots.free++
    claimer.wakeIfLow(slot === 9, 'asr')
    await vi.advanceTimersByTimeAsync(slot % 2)
  }
  expect(claims).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(20)
  expect(claims[1]?.limit).toBeGreaterThanOrEqual(10)
})

it.each([0, 2])(
  'RATE-7 after a claim of %i jobs that limits held back, the next one follows when a result is written, not when a handler returns',
  async (count) => {
    const { claims, claimer } = startClaimer()
    claims[0]?.answer(count, ['asr'])
    await vi.advanceTimersByTimeAsync(0)
    claimer.wakeIfLow(true, 'asr')
    await vi.advanceTimersByTimeAsync(0)
    expect(claims).toHaveLength(1)
    claimer.noteWritten('asr')
    await vi.advanceTimersByTimeAsync(0)
    expect(claims).toHaveLength(2)
  },
)

it('RATE-7 a result that is written while the claim is in flight makes it claim again if a limit held jobs back', async () => {
  const { claims, claimer } = startClaimer()
  claimer.noteWritten('asr')
  claims[0]?.answer(0, ['asr'])
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(2)
  claims[1]?.answer(0, ['asr'])
  await vi.advanceTimersByTimeAsync(900)
  expect(claims).toHaveLength(2)
})

it('RATE-7 results of other queues, and of queues that no limit holds back, are no reason to claim', async () => {
  const { claims, claimer } = startClaimer()
  claimer.noteWritten('mail')
  claims[0]?.answer(0, ['asr'])
  await vi.advanceTimersByTimeAsync(0)
  claimer.noteWritten('mail')
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(1)
  claimer.noteWritten('asr')
  await vi.advanceTimersByTimeAsync(0)
  claimer.noteWritten('asr')
  claims[1]?.answer(0)
  await vi.advanceTimersByTimeAsync(0)
  claimer.noteWritten('asr')
  await vi.advanceTimersByTimeAsync(900)
  expect(claims).toHaveLength(2)
})

it('RATE-7 a worker that limits hold back polls as if there were no hints', async () => {
  const { claims } = startClaimer({ pollMs: (isHeldBack) => (isHeldBack ? [1_000, 1_000] : [5_000, 5_000]) })
  claims[0]?.answer(0)
  await vi.advanceTimersByTimeAsync(4_900)
  expect(claims).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(200)
  claims[1]?.answer(0, ['asr'])
  await vi.advanceTimersByTimeAsync(1_100)
  expect(claims).toHaveLength(3)
})

it('C6 a worker whose heartbeats begin to fail does not claim the other groups of types', async () => {
  let isHealthy = true
  const limits = [{ key: 'mail', ratePerS: 1, burst: 1 }]
  const { claims, claimer } = startClaimer({
    canClaim: () => isHealthy,
    handlers: [
      { type: 'asr', handler: async () => {} },
      { type: 'mail', handler: async () => {}, limits },
    ],
  })
  isHealthy = false
  claims[0]?.answer(0)
  await vi.advanceTimersByTimeAsync(900)
  expect(claims).toHaveLength(1)
  isHealthy = true
  claimer.wake()
  await vi.advanceTimersByTimeAsync(0)
  claims[1]?.answer(0)
  await vi.advanceTimersByTimeAsync(0)
  expect(claims).toHaveLength(3)
})
