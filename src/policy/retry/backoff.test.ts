import { describe, expect, it } from 'vitest'
import vectors from '../../../test/vectors/backoff.json' with { type: 'json' }
import { nativePolicy } from '../policy.ts'
import { backoffMs, failureBackoff, reapBackoff } from './backoff.ts'

describe('backoffMs', () => {
  it.each(vectors)('$name', ({ input, expected }) => {
    const { ordinal, random, ...backoff } = input
    expect(backoffMs(backoff, ordinal, random)).toBe(expected)
  })

  it('FAIL-4 never falls from one failure to the next, and never passes maximum and jitter', () => {
    const backoff = failureBackoff(nativePolicy)
    const waits = Array.from({ length: 60 }, (_, index) => backoffMs(backoff, index, 0))
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(Math.max(...waits)).toBe(nativePolicy.failureBackoffMaxMs)
  })
})

describe('the backoffs of a policy', () => {
  it('FAIL-4 a failure waits by the failure backoff, with jitter', () => {
    const policy = { ...nativePolicy, failureBackoffStepsMs: [], failureBackoffBaseMs: 5_000 }
    expect(backoffMs(failureBackoff({ ...policy, failureBackoffJitterMs: 5_000 }), 1, 0.5)).toBe(7_500)
  })

  it('REAP-5 a reap waits by the reap backoff, without jitter', () => {
    const policy = { ...nativePolicy, reapBackoffStepsMs: [30_000, 120_000, 600_000] }
    expect(backoffMs(reapBackoff(policy), 2, 0.5)).toBe(120_000)
  })

  it('REAP-5 FAIL-4 the native table waits shortly after a crash, and after a failure as documented', () => {
    expect([1, 2, 3].map((ordinal) => backoffMs(reapBackoff(nativePolicy), ordinal, 0))).toEqual([
      1_000, 10_000, 60_000,
    ])
    expect([1, 2, 3].map((ordinal) => backoffMs(failureBackoff(nativePolicy), ordinal, 0))).toEqual([
      5_000, 10_000, 20_000,
    ])
  })
})
