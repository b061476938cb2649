import { describe, expect, it } from 'vitest'
import { judgeBeat } from '../../policy/lease/beat-check.ts'
import { nativePolicy, presetPolicies, withOverride } from '../../policy/policy.ts'
import { loadConfig } from './load-config.ts'

const env = { UNSTUCK_PRESET: 'brisk' }
const patient = { UNSTUCK_PRESET: 'patient' }

describe('a preset', () => {
  it('OPS-8 brisk sets lease, beat and sweep together, and says where they come from', () => {
    const { policy, values, warnings } = loadConfig({ env })
    expect(policy).toEqual({ defaultLeaseMs: 20_000, heartbeatMs: 5_000, sweepIntervalMs: 2_000 })
    const lease = values.find(({ name }) => name === 'policy.defaultLeaseMs')
    expect(lease).toMatchObject({ value: 20_000, source: 'preset' })
    expect(warnings).toEqual([])
  })

  it('OPS-8 patient sets the steps after a reap as well', () => {
    const { policy, values } = loadConfig({ env: patient })
    expect(policy).toEqual({
      defaultLeaseMs: 300_000,
      heartbeatMs: 15_000,
      sweepIntervalMs: 60_000,
      reapBackoffStepsMs: [30_000, 120_000, 600_000],
    })
    const steps = values.find(({ name }) => name === 'policy.reapBackoffStepsMs')
    expect(steps).toMatchObject({ value: '[30000,120000,600000]', source: 'preset' })
  })

  it('OPS-8 yields to what is set one by one, in the environment or in the file', () => {
    const file = { preset: 'brisk', policy: { sweepIntervalMs: 10_000 } } as const
    const { policy } = loadConfig({ env: { DEFAULT_LEASE_SEC: '90' }, file })
    expect(policy).toEqual({ defaultLeaseMs: 90_000, heartbeatMs: 5_000, sweepIntervalMs: 10_000 })
  })

  it.each([
    { name: 'a variable', env: { ...patient, JOB_RETRY_BACKOFF_MS_BASE: '5000' }, file: {} },
    { name: 'the file', env: patient, file: { policy: { reapBackoffBaseMs: 5_000 } } },
  ])('REAP-5 a base from $name replaces the steps of patient, and keeps their cap', ({ env, file }) => {
    const { policy, values } = loadConfig({ env, file })
    expect(policy).toMatchObject({
      reapBackoffStepsMs: [],
      reapBackoffBaseMs: 5_000,
      reapBackoffMaxMs: 600_000,
    })
    expect(values.some(({ name }) => name === 'policy.reapBackoffStepsMs')).toBe(false)
  })

  it('REAP-5 steps in the file replace those of patient', () => {
    const { policy } = loadConfig({ env: patient, file: { policy: { reapBackoffStepsMs: [0] } } })
    expect(policy.reapBackoffStepsMs).toEqual([0])
  })

  it('OPS-8 is refused by another name, with those there are', () => {
    expect(() => loadConfig({ env: { UNSTUCK_PRESET: 'fast' } })).toThrow(/UNSTUCK_PRESET.*brisk.*patient/s)
  })

  it('LEASE-4 a heartbeat that does not fit into its lease is refused with its name', () => {
    const refused = () => loadConfig({ env: { ...env, HEARTBEAT_SEC: '15' } })
    expect(refused).toThrow(/HEARTBEAT_SEC.*lease of 20 s \(UNSTUCK_PRESET\)/s)
  })

  it.each(Object.entries(presetPolicies))(
    'LEASE-4 %s fits at least four heartbeats into a lease, so there is no warning',
    (_, preset) => {
      const policy = withOverride(nativePolicy, preset)
      expect(judgeBeat(policy)).toEqual({ warnings: [] })
      expect(policy.defaultLeaseMs / policy.heartbeatMs).toBeGreaterThanOrEqual(4)
    },
  )
})
