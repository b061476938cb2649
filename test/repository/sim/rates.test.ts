// The simulator's judge of rate limits, on made-up calls and starts.
import { beforeEach, describe, expect, it } from 'vitest'
import { RateJudge } from '../../../sim/src/judge/gates/rates.ts'
import { TokenBuckets } from '../../../sim/src/judge/gates/token-buckets.ts'
import { drawPlan } from '../../../sim/src/plan/plan.ts'

const size = { ratePerS: 2, burst: 3 }

describe('a token bucket', () => {
  it('gives its burst at once, and then what it was filled with', () => {
    const buckets = new TokenBuckets()
    expect(buckets.take('a', size, 3, 0)).toBe(true)
    expect(buckets.take('a', size, 1, 499)).toBe(false)
    const others = new TokenBuckets()
    others.take('a', size, 3, 0)
    expect(others.take('a', size, 1, 500)).toBe(true)
    expect(others.take('a', size, 3, 2_000)).toBe(true)
    expect(others.take('a', size, 1, 2_000)).toBe(false)
  })

  it('knows whether it had a token all the time', () => {
    const buckets = new TokenBuckets()
    expect(buckets.hadToken('a', size, 0, 1_000)).toBe(true)
    buckets.take('a', size, 3, 400)
    expect(buckets.hadToken('a', size, 0, 300)).toBe(true)
    expect(buckets.hadToken('a', size, 0, 400)).toBe(false)
    expect(buckets.hadToken('a', size, 800, 1_000)).toBe(false)
    expect(buckets.hadToken('a', size, 900, 1_000)).toBe(true)
  })
})

describe('the judge of rate limits', () => {
  const limit = { key: 'all', ...size }
  const job = (jobId: string, owner = 'o1') => ({ jobId, leaseId: 'l', type: 'quick', owner })
  let failovers = 0
  let violations: string[]
  const judgeOf = (limits: object[]) =>
    new RateJudge({
      rates: { quick: limits as never },
      failovers: () => failovers,
      onViolation: (message) => violations.push(message),
    })

  beforeEach(() => {
    failovers = 0
    violations = []
  })

  it('reports tokens that a bucket did not have, unless a failover restored it', () => {
    const judge = judgeOf([limit])
    judge.noteTaken([limit], 3, 0)
    failovers = 1
    judge.noteTaken([limit], 3, 100)
    expect(violations).toEqual([])
    judge.noteTaken([limit], 1, 200)
    expect(violations).toHaveLength(1)
  })

  it('reports a start without a token, also of an owner', () => {
    const judge = judgeOf([limit, { key: 'owner', perOwner: true, ...size }])
    judge.noteGranted('w1', [limit], 2)
    judge.noteGranted('w1', [{ key: 'owner:o1', ...size }], 1)
    judge.noteStart('w1', job('a'))
    expect(violations).toEqual([])
    judge.noteStart('w1', job('b', 'o2'))
    judge.noteStart('w2', job('c'))
    expect(violations).toHaveLength(3)
  })

  it('counts the tokens of a process from its claims, however late a job starts', () => {
    const local = { ...limit, scope: 'process' }
    const judge = judgeOf([local])
    const claim = (ids: string[], at: number) =>
      judge.noteClaimed(
        'w1',
        ids.map((id) => job(id)),
        at,
      )
    claim(['a', 'b', 'c'], 0)
    claim(['d', 'e', 'f'], 1_500)
    for (const id of ['a', 'd', 'e', 'f', 'b', 'c']) judge.noteStart('w1', job(id))
    judge.check()
    expect(violations).toEqual([])
    claim(['g'], 1_500)
    judge.noteStart('w1', job('g'))
    judge.check()
    expect(violations).toHaveLength(1)
  })

  it('knows when shared tokens were free, and nothing of those of a process', () => {
    const judge = judgeOf([limit])
    judge.noteTaken([limit], 3, 1_000)
    expect(judge.hadToken(job('a'), 0, 900)).toBe(true)
    expect(judge.hadToken(job('a'), 0, 1_000)).toBe(false)
    expect(judgeOf([{ ...limit, scope: 'process' }]).hadToken(job('a'), 0, 900)).toBe(false)
  })
})

describe('the plans', () => {
  it('have rate limits in some runs, and never beside jobs that kill their process', () => {
    const limited = Array.from({ length: 300 }, (_, nth) => drawPlan(nth + 1)).filter(
      ({ rates }) => rates !== undefined,
    )
    expect(limited.length).toBeGreaterThan(10)
    expect(limited.filter(({ settings }) => settings.flavour === 'poison')).toEqual([])
    const limits = limited.flatMap(({ rates = {} }) => Object.values(rates).flat())
    expect(new Set(limits.map(({ scope }) => scope))).toEqual(new Set(['shared', 'process']))
  })
})
