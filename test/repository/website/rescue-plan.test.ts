import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LEAST_GRACE_MS, LOOK_MS } from '../../../src/policy/lease/presence-times.ts'
import { nativePolicy, type Policy } from '../../../src/policy/policy.ts'
import { DEFAULT_POLL_MS, presets } from '../../../website/presets.ts'
import { planRescue } from '../../../website/rescue-plan.ts'
import { showTime } from '../../../website/show-time.ts'

const planOf = (policy: Partial<Policy>, load = { runningJobs: 5_000, workers: 50 }) =>
  planRescue({ policy: { ...nativePolicy, ...policy }, pollMs: DEFAULT_POLL_MS, ...load })

function presetOf(wanted: string): Policy {
  const found = presets.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`there is no preset ${wanted}`)
  return found.policy
}

describe('planRescue', () => {
  it('REAP-5 the worst case is lease, sweep, backoff, spread and poll; the promise leaves out what the policy asks for', () => {
    expect(planOf({})).toMatchObject({
      worstMs: 75_000,
      promiseMs: 72_000,
      backoffMs: 1_000,
      spreadMs: 2_000,
    })
  })

  it('LEASE-10 a process that died is found by presence, and without it by its lease', () => {
    const alone = { runningJobs: 10, workers: 10 }
    const { processEndedMs, worstMs, backoffMs, spreadMs } = planOf({}, alone)
    expect(processEndedMs).toBe(LOOK_MS + LEAST_GRACE_MS + backoffMs + spreadMs + DEFAULT_POLL_MS)
    expect(planOf({ presence: 'off' }, alone)).toMatchObject({ processEndedMs: null, worstMs })
    // Presence does not depend on the lease, and shares the spread of the jobs of one worker.
    expect(planOf({ defaultLeaseMs: 3_600_000 }, alone).processEndedMs).toBe(processEndedMs)
    expect(planOf({}, { runningJobs: 3_000, workers: 1 }).processEndedMs).toBe(66_000)
  })

  it.each([
    { runningJobs: 10, workers: 10, spreadMs: 20 },
    { runningJobs: 10, workers: 1, spreadMs: 1_000 },
    { runningJobs: 1_000, workers: 100, spreadMs: 1_000 },
    { runningJobs: 3_000, workers: 1, spreadMs: 60_000 },
  ])(
    'REAP-15 REAP-16 a worker of $workers that run $runningJobs jobs adds $spreadMs ms of spread, and no second lease',
    ({ spreadMs, ...load }) => {
      expect(planOf({}, load)).toMatchObject({ spreadMs, worstMs: 73_000 + spreadMs })
      expect(planOf({ requeueRatePerS: 0 }, load)).toMatchObject({ spreadMs: 0, worstMs: 73_000 })
    },
  )

  it.each([
    { name: 'brisk', promiseMs: 24_000, backoffMs: 1_000, beatsPerLease: 4 },
    { name: 'patient', promiseMs: 362_000, backoffMs: 30_000, beatsPerLease: 20 },
  ])('REAP-5 the preset $name is at most $promiseMs ms and the backoff', ({ name, ...plan }) => {
    expect(planOf(presetOf(name))).toMatchObject(plan)
  })

  it.each(['README.md', 'docs/compare.md', 'docs/start/quickstart.md', 'docs/start/demo-tour.md'])(
    'REAP-5 %s tells the worst cases of the calculator, without the spread',
    (page) => {
      const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8')
      for (const { worstMs, spreadMs } of [planOf(nativePolicy), planOf(presetOf('brisk'))])
        expect(text).toContain(`${(worstMs - spreadMs) / 1_000} s`)
      // Without the poll, and those of earlier defaults.
      expect(text).not.toMatch(/\b(?:23|52|71|80|82|390) s\b/)
    },
  )

  it.each(['README.md', 'docs/compare.md', 'docs/start/quickstart.md', 'docs/guides/operate/drill.md'])(
    'LEASE-10 %s gives the time after the end of a process: look, grace, backoff and poll',
    (page) => {
      const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8')
      const { processEndedMs, spreadMs } = planOf(nativePolicy)
      const seconds = ((processEndedMs ?? Number.NaN) - spreadMs) / 1_000
      expect(text).toMatch(new RegExp(`\\b${seconds} s\\b`))
    },
  )

  it.each(['docs/compare.md', 'docs/tools/rescue-calculator.md'])(
    'LEASE-10 %s gives look and grace',
    (page) => {
      const text = readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8')
      expect(text).toContain(`${LOOK_MS / 1_000} s until a look + ${LEAST_GRACE_MS / 1_000} s of grace`)
    },
  )

  it('LEASE-4 judges heartbeats as a worker does at its start', () => {
    expect(planOf({ defaultLeaseMs: 29_000 }).refusal).toContain('fewer than 2 heartbeats')
    expect(planOf({ defaultLeaseMs: 40_000 })).toMatchObject({
      refusal: undefined,
      warnings: [expect.any(String)],
    })
    expect(planOf({ defaultLeaseMs: 45_000 })).toMatchObject({ refusal: undefined, warnings: [] })
  })

  it.each([
    { leaseMs: 30_000, spared: 0 },
    { leaseMs: 31_000, spared: 1 },
    { leaseMs: 45_000, spared: 1 },
    { leaseMs: 60_000, spared: 2 },
    { leaseMs: 300_000, spared: 18 },
  ])('LEASE-4 with a beat of 15 s a lease of $leaseMs ms bears $spared lost beats', ({ leaseMs, spared }) => {
    expect(planOf({ defaultLeaseMs: leaseMs }).sparedBeats).toBe(spared)
  })

  it('LEASE-4 a statement extends all leases of a worker, and a row is written for each job', () => {
    const { rowWritesPerS, statementsPerS, walBytesPerS } = planOf({ heartbeatMs: 10_000 })
    expect([rowWritesPerS, statementsPerS, walBytesPerS]).toEqual([500, 5, 55_000])
  })
})

it.each([
  [0, 'at once'],
  [430, '430 ms'],
  [2_000, '2 s'],
  [2_500, '2.5 s'],
  [392_000, '6 min 32 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h 1 min 1 s'],
])('showTime: %d ms is %s', (ms, text) => {
  expect(showTime(ms)).toBe(text)
})
