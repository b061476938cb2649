import { describe, expect, it } from 'vitest'
import maxRuntimeVectors from '../../../test/vectors/max-runtime.json' with { type: 'json' }
import vectors from '../../../test/vectors/stage-lease.json' with { type: 'json' }
import { clipProfile } from '../../profile/clip.ts'
import { converterProfile } from '../../profile/converter.ts'
import { embeddingProfile } from '../../profile/embedding.ts'
import { executorProfile } from '../../profile/executor.ts'
import { nativePolicy, type Policy } from '../policy.ts'
import { maxRuntimeMs, stageDeadlineMs, stageLeaseMs } from './stage-lease.ts'

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

  it('LEASE-3 LEASE-8 the native table has a lease of 60 s and a deadline of a day', () => {
    expect(stageLeaseMs(nativePolicy, 'any', null)).toBe(60_000)
    expect(stageDeadlineMs(nativePolicy, 'any')).toBe(86_400_000)
  })
})

interface MaxRuntimeVector {
  name: string
  input: Pick<Policy, 'maxRuntimeMs' | 'typeRuntimesMs'> & { type: string }
  expected: number | null
}

describe('maxRuntimeMs', () => {
  it.each(maxRuntimeVectors as unknown as MaxRuntimeVector[])('$name', ({ input, expected }) => {
    const { type, ...settings } = input
    expect(maxRuntimeMs({ ...nativePolicy, ...settings }, type)).toBe(expected)
  })

  it('LEASE-11 is a day for the native table, and off in the profiles of the documents', () => {
    expect(maxRuntimeMs(nativePolicy, 'any')).toBe(86_400_000)
    for (const { tables } of [clipProfile, embeddingProfile, executorProfile, converterProfile])
      for (const { policy } of tables) expect(maxRuntimeMs(policy, 'any')).toBeNull()
  })
})
