import { describe, expect, it } from 'vitest'
import { judgeBeat } from '../../policy/lease/beat-check.ts'
import { briskPolicy, nativePolicy, withOverride } from '../../policy/policy.ts'
import { loadConfig } from './load-config.ts'

const env = { UNSTUCK_PRESET: 'brisk' }

describe('the preset brisk', () => {
  it('OPS-8 sets lease, beat and sweep together, and says where they come from', () => {
    const { policy, values, warnings } = loadConfig({ env })
    expect(policy).toEqual({ defaultLeaseMs: 45_000, heartbeatMs: 15_000, sweepIntervalMs: 5_000 })
    const lease = values.find(({ name }) => name === 'policy.defaultLeaseMs')
    expect(lease).toMatchObject({ value: 45_000, source: 'preset' })
    expect(warnings).toEqual([])
  })

  it('OPS-8 yields to what is set one by one, in the environment or in the file', () => {
    const file = { preset: 'brisk', policy: { sweepIntervalMs: 10_000 } } as const
    const { policy } = loadConfig({ env: { DEFAULT_LEASE_SEC: '90' }, file })
    expect(policy).toEqual({ defaultLeaseMs: 90_000, heartbeatMs: 15_000, sweepIntervalMs: 10_000 })
  })

  it('OPS-8 is refused by another name, with the one there is', () => {
    expect(() => loadConfig({ env: { UNSTUCK_PRESET: 'fast' } })).toThrow(/UNSTUCK_PRESET.*brisk/s)
  })

  it('LEASE-4 fits three heartbeats into a lease, so there is no warning', () => {
    expect(judgeBeat(withOverride(nativePolicy, briskPolicy))).toEqual({ warnings: [] })
  })
})
