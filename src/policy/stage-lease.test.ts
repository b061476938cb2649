import { describe, expect, it } from 'vitest'
import vectors from '../../test/vectors/stage-lease.json' with { type: 'json' }
import { nativePolicy, type Policy } from './policy.ts'
import { stageDeadlineMs, stageLeaseMs } from './stage-lease.ts'

/** JSON knows a map of stages only by the keys it happens to have. */
interface StageLeaseVector {
  name: string
  input: Pick<
    Policy,
    'defaultLeaseMs' | 'stageLeasesMs' | 'stageFactors' | 'defaultDeadlineMs' | 'stageDeadlinesMs'
  > & { stage: string; expectedDurationMs: number | null }
  expected: { leaseMs: number; deadlineMs: number | null }
}

describe('stageLeaseMs and stageDeadlineMs', () => {
  it.each(vectors as unknown as StageLeaseVector[])('$name', ({ input, expected }) => {
    const { stage, expectedDurationMs, ...settings } = input
    const policy = { ...nativePolicy, ...settings }
    expect({
      leaseMs: stageLeaseMs(policy, stage, expectedDurationMs),
      deadlineMs: stageDeadlineMs(policy, stage),
    }).toEqual(expected)
  })

  it('LEASE-3 LEASE-8 the native table has a lease of 300 s and a deadline of a day', () => {
    expect(stageLeaseMs(nativePolicy, 'any', null)).toBe(300_000)
    expect(stageDeadlineMs(nativePolicy, 'any')).toBe(86_400_000)
  })
})
