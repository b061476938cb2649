// The simulator's judge of breakers, on made-up calls and claims.
import { beforeEach, describe, expect, it } from 'vitest'
import { BreakerModel } from '../../../sim/src/judge/gates/breaker-model.ts'
import { BreakerJudge } from '../../../sim/src/judge/gates/breakers.ts'
import { drawPlan } from '../../../sim/src/plan/plan.ts'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { closedBreaker, defaultBreakerSettings } from '../../../src/policy/dependency/breaker.ts'
import type { Breaker } from '../../../src/store/job-store.ts'

const settings = {
  ...defaultBreakerSettings,
  windowCalls: 4,
  minCalls: 2,
  cooldownMs: 1_000,
  closeAfter: 2,
  probeIntervalMs: 100,
  probeTimeoutMs: 5_000,
}
const failed = (jobId: string) => ({ isFailure: true, jobId })
const good = (jobId: string) => ({ isFailure: false, jobId })

describe('the model of a breaker', () => {
  const opened = (change = {}) => {
    const model = new BreakerModel({ ...settings, ...change })
    model.report([failed('a'), failed('b')], 0)
    return model
  }

  it('opens when enough of its last calls have failed', () => {
    const model = new BreakerModel(settings)
    model.report([failed('a')], 0)
    expect(model.stateAt(0)).toBe('closed')
    model.report([good('b'), good('c')], 0)
    expect(model.stateAt(0)).toBe('closed')
    model.report([failed('d')], 0)
    expect(model.stateAt(0)).toBe('open')
  })

  it('lets one job through at a time after the cooldown, and closes by their calls alone', () => {
    const model = opened()
    expect(model.claim('a', 999)).toContain('open')
    expect(model.claim('a', 1_000)).toBeNull()
    expect(model.claim('b', 1_001)).toContain('beside 1')
    model.report([good('x')], 1_100)
    model.report([good('a')], 1_200)
    expect(model.claim('c', 1_300)).toContain('beside 1')
    model.report([good('b')], 1_400)
    expect(model.stateAt(1_400)).toBe('closed')
  })

  it('opens again when a job that it let through meets the failure', () => {
    const model = opened()
    model.claim('a', 1_000)
    model.report([failed('a')], 1_500)
    expect([model.stateAt(2_499), model.stateAt(2_500)]).toEqual(['open', 'half-open'])
  })

  it('is held for as long as its service asks, and holds nothing else back', () => {
    const model = new BreakerModel(settings)
    model.report([{ ...good('a'), limitedMs: 500 }], 0)
    expect([model.stateAt(499), model.stateAt(500)]).toEqual(['held', 'closed'])
  })

  it('closes by health probes in mode hold, and waits twice as long if it closed too early', () => {
    const model = opened({ mode: 'hold' })
    model.probe(true, 999)
    model.probe(true, 1_000)
    model.probe(true, 1_099)
    expect(model.stateAt(1_099)).toBe('open')
    model.probe(true, 1_100)
    expect(model.stateAt(1_100)).toBe('closed')
    model.report([failed('a'), failed('b')], 1_200)
    model.probe(true, 2_300)
    model.probe(true, 3_199)
    expect(model.longestCooldownMs).toBe(2_000)
    expect(model.stateAt(3_199)).toBe('open')
  })

  it('ends its first cooldown early by health probes in mode half-open', () => {
    const model = opened()
    model.probe(true, 100)
    model.probe(true, 200)
    expect(model.stateAt(200)).toBe('half-open')
  })
})

describe('the judge of breakers', () => {
  let violations: string[]
  let failovers: number
  let judge: BreakerJudge
  const answer = (state: string) => ({ state }) as Breaker
  const job = (jobId: string) => ({ jobId, leaseId: 'l', type: 'call' }) as ClaimedJob
  const failure = { jobId: 'a', leaseId: 'l', code: 'GW_5XX' }

  beforeEach(() => {
    violations = []
    failovers = 0
    judge = new BreakerJudge({
      planned: { settings, probe: 'none' },
      facts: () => closedBreaker,
      failovers: () => failovers,
      onViolation: (message) => violations.push(message),
    })
    judge.noteCalls([failed('x'), failed('y')], answer('open'), 0)
  })

  it('reports a claim while it is open, and nothing after a failover restored a closed one', () => {
    judge.noteClaims('w1', [job('a')], 500)
    expect(violations).toHaveLength(1)
    failovers = 1
    judge.noteClaims('w1', [job('b')], 600)
    judge.noteClaims('w1', [job('c')], 700)
    expect(violations).toHaveLength(1)
  })

  it('reports a state that its calls do not explain', () => {
    judge.noteClaims('w1', [job('a')], 1_000)
    judge.noteCalls([good('a')], answer('closed'), 1_100)
    expect(violations).toHaveLength(1)
  })

  it('reports an attempt that the failure behind it has cost, unless the call could not be reported', () => {
    judge.noteClaims('w1', [job('a')], 1_000)
    judge.noteFailures([failure], [{ outcome: 'released' }])
    judge.noteFailures([{ ...failure, code: 'EIO' }], [{ outcome: 'retried' }])
    expect(violations).toEqual([])
    judge.noteFailures([failure], [{ outcome: 'retried' }])
    expect(violations).toHaveLength(1)
    judge.noteFailedCall('w1')
    judge.noteFailures([failure], [{ outcome: 'retried' }])
    expect(violations).toHaveLength(1)
  })

  it('knows since when it is closed', () => {
    expect(judge.openSince(200, 900)).toBeNull()
    for (const [jobId, at] of [
      ['a', 1_000],
      ['b', 1_200],
    ] as const) {
      judge.noteClaims('w1', [job(jobId)], at)
      judge.noteCalls([good(jobId)], answer(jobId === 'a' ? 'half-open' : 'closed'), at + 100)
    }
    expect(violations).toEqual([])
    expect(judge.openSince(200, 2_000)).toBe(1_300)
    expect(judge.openSince(1_500, 2_000)).toBe(1_500)
  })

  it('reports a due job that waits although everything is healed', () => {
    const queued = { id: '1', jobId: 'a', type: 'queued', at: 100, details: {} }
    const types = new Map([['a', 'call']])
    const check = (to: number) => [...judge.check([queued], types, { from: 10_000, to }, 1_000)]
    expect(check(18_000)).toEqual([])
    expect(check(19_000)).toHaveLength(1)
  })
})

describe('the plans', () => {
  it('have services in some runs, whose jobs come with times in which it fails', () => {
    const plans = Array.from({ length: 300 }, (_, nth) => drawPlan(nth + 1))
    const withService = plans.filter(({ breaker }) => breaker !== undefined)
    expect(withService.length).toBeGreaterThan(10)
    expect(new Set(withService.map(({ breaker }) => breaker?.settings.mode))).toEqual(
      new Set(['half-open', 'hold']),
    )
    for (const { breaker, jobs, faults } of plans) {
      expect(jobs.some(({ type }) => type === 'call' || type === 'client')).toBe(breaker !== undefined)
      expect(faults.some(({ kind }) => kind === 'dependency-down')).toBe(breaker !== undefined)
    }
  })
})
