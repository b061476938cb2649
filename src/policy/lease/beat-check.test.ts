import { describe, expect, it } from 'vitest'
import { nativePolicy } from '../policy.ts'
import { judgeBeat } from './beat-check.ts'

describe('judgeBeat', () => {
  it('LEASE-4 has nothing to say of three beats in every lease', () => {
    expect(judgeBeat(nativePolicy)).toEqual({ warnings: [] })
    expect(judgeBeat({ ...nativePolicy, defaultLeaseMs: 45_000 })).toEqual({ warnings: [] })
  })

  it('LEASE-4 warns of under three beats, naming lease, heartbeat and a proposal', () => {
    expect(judgeBeat({ ...nativePolicy, defaultLeaseMs: 300_000, heartbeatMs: 120_000 })).toEqual({
      warnings: [
        'defaultLeaseMs: a lease of 300 s has fewer than 3 heartbeats of 120 s: ' +
          'set heartbeatMs (HEARTBEAT_SEC) to at most 100 s, or the lease to at least 360 s; one lost heartbeat may lose a job',
      ],
    })
    expect(judgeBeat({ ...nativePolicy, defaultLeaseMs: 44_999 }).warnings).toHaveLength(1)
  })

  it('LEASE-4 refuses under two beats, and takes exactly two', () => {
    expect(judgeBeat({ ...nativePolicy, defaultLeaseMs: 30_000 }).refusal).toBeUndefined()
    expect(judgeBeat({ ...nativePolicy, defaultLeaseMs: 29_999 }).refusal).toContain('at least 30 s')
  })

  it('LEASE-4 judges the lease of every stage, whatever its name', () => {
    const { refusal, warnings } = judgeBeat({
      ...nativePolicy,
      stageLeasesMs: { upload: 40_000, thumb: 20_000, constructor: 10_000, asr: 600_000 },
    })
    expect(refusal?.split('\n').map((line) => line.split(':')[0])).toEqual([
      'stage thumb',
      'stage constructor',
    ])
    expect(warnings.map((line) => line.split(':')[0])).toEqual(['stage upload'])
  })
})
