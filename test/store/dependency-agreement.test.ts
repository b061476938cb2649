// The memory store and PostgreSQL go through the same random story of breakers and limits, and tell the same.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../src/job/lease.ts'
import { nativeProfile } from '../../src/profile/native.ts'
import type { TestBench } from '../../src/store/conformance/harness.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { Breaker } from '../../src/store/ports/dependency-store.ts'
import { createPostgresBench, type PostgresBench } from '../support/postgres-harness.ts'

const STEPS = 120
const [table] = nativeProfile('unstuck').tables
const limits = [
  { key: 'a', ratePerS: 0.01, burst: 7 },
  { key: 'b', ratePerS: 0.0031, burst: 3 },
]

/** A story is its seed: the same numbers for both stores. */
function numbersOf(seed: number): (below: number) => number {
  let last = seed
  return (below) => {
    last = (Math.imul(last, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (last >> 8) % below
  }
}

/** How a time is told: as it is, or as any that is near. */
type Near = (ms: number) => unknown

/** Without what differs between any two runs: ids and the times that calls take. */
function describeWith(near: Near): (breaker: Breaker) => unknown[] {
  return ({
    state,
    changedBy,
    reason,
    calls,
    failures,
    successes,
    probing,
    reopens,
    unheard,
    ...breaker
  }) => {
    const { nextProbeInMs, heldForMs, earlyProbeInMs } = breaker
    const times = [nextProbeInMs, heldForMs, earlyProbeInMs].map((ms) => (ms === null ? null : near(ms)))
    return [state, changedBy, reason, calls, failures, successes, probing, reopens, unheard, ...times]
  }
}

async function runStory({ store, elapse }: TestBench, seed: number, near: Near): Promise<unknown[]> {
  const tell = describeWith(near)
  const draw = numbersOf(seed)
  const probes: string[] = []
  const leases: ClaimedJob[] = []
  let enqueued = 0
  const story: unknown[] = []
  const claim = async () => {
    const answer = await store.claimJobs({ workerId: 'w', queues: ['x', 'y'], limit: 1 + draw(3) })
    // A claim of two queues answers in any order.
    const claimed = answer.toSorted((one, other) => Number(one.payload) - Number(other.payload))
    probes.push(...claimed.map(({ jobId }) => jobId))
    leases.push(...claimed)
    return claimed.length
  }
  const calls = () =>
    Array.from({ length: draw(8) }, () => {
      const jobId = probes.splice(draw(probes.length + 1), 1)[0]
      if (jobId !== undefined && draw(6) === 0) return { jobId }
      const limit = draw(12) === 0 ? { limitedMs: 1_000 * (1 + draw(90)) } : {}
      return { isFailure: draw(5) < 2, ...(jobId === undefined || draw(4) === 0 ? {} : { jobId }), ...limit }
    })
  const fail = async () => {
    const lease = leases.splice(draw(leases.length + 1), 1)[0]
    if (lease === undefined) return null
    // It does not come back in this story.
    const [failed] = await store.failJobs([{ ...lease, code: 'GW_5XX', retryInMs: 36_000_000 }])
    return failed?.outcome
  }
  const steps: (() => Promise<unknown>)[] = [
    claim,
    claim,
    fail,
    async () => tell(await store.recordCalls('d', calls())),
    async () => tell(await store.recordCalls('d', calls())),
    async () => tell(await store.recordProbe('d', draw(4) > 0)),
    async () => tell(await store.recordProbe('d', true)),
    async () => elapse((1 + draw(3)) * 37_000),
    async () =>
      store
        .enqueueJobs([{ type: draw(2) === 0 ? 'x' : 'y', payload: enqueued++ }])
        .then(({ length }) => length),
    async () => draw(3) > 0 || tell(await store.holdBreaker('d', { actor: 'ana', durationMs: 50_000 })),
    async () => draw(4) > 0 || tell(await store.resumeBreaker('d', { actor: 'ben' })),
    async () =>
      draw(2) > 0 || tell(await store.writeBreaker('d', { mode: draw(2) > 0 ? 'hold' : 'half-open' })),
    async () => draw(2) > 0 || tell(await store.writeBreaker('d', { windowMs: draw(2) > 0 ? null : 60_000 })),
    async () => draw(2) > 0 || store.pauseQueue('x', draw(2) > 0 ? { durationMs: 45_000 } : {}),
    async () => draw(2) > 0 || store.resumeQueue('x'),
    async () => (await store.takeTokens(draw(2) > 0 ? limits : limits.slice(1), 1 + draw(4))).granted,
  ]
  await store.mapDependency('x', 'd')
  await store.mapDependency('y', 'd')
  await store.writeBreaker('d', {
    cooldownMs: 60_000,
    probeSlots: 2,
    probeTimeoutMs: 100_000,
    probeIntervalMs: 20_000,
    minCalls: 4,
  })
  for (let nth = 0; nth < STEPS; nth += 1) {
    const pick = draw(steps.length)
    story.push([pick, await steps[pick]?.()])
  }
  story.push(
    (await store.listQueues()).queues.map(({ queue, waiting, running, isPaused }) => [
      queue,
      waiting,
      running,
      isPaused,
    ]),
  )
  return story
}

describe('breakers and limits', () => {
  let bench: PostgresBench
  beforeAll(async () => {
    bench = await createPostgresBench({ profile: nativeProfile('unstuck'), table })
  })
  afterAll(() => bench.close())

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'BREAK-3 RATE-1 story %i is the same in memory and in PostgreSQL',
    async (seed) => {
      const memory = createMemoryStore()
      const expected = await runStory(
        {
          store: memory,
          elapse: async (ms) => memory.elapse(ms),
          plantJob: async (job) => memory.plantJob(job),
        },
        seed,
        // Within 5 s.
        (ms) => expect.closeTo(ms, -4) as unknown,
      )
      expect(await runStory(await bench.open(), seed, (ms) => ms)).toEqual(expected)
    },
  )
})
