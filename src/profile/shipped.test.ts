import { describe, expect, it } from 'vitest'
import { attachedPolicy, type Policy } from '../policy/policy.ts'
import { completeTable } from './own-profile.ts'
import { type ProfileName, shippedPolicy } from './shipped.ts'

const times = ({ defaultLeaseMs, heartbeatMs, sweepIntervalMs, reapBackoffStepsMs }: Policy) => ({
  lease: defaultLeaseMs / 1_000,
  beat: heartbeatMs / 1_000,
  sweep: sweepIntervalMs / 1_000,
  afterReap: reapBackoffStepsMs.map((ms) => ms / 1_000),
})

/** In seconds. Those of the documents are fixed, whatever the native table uses. */
const expected: Record<ProfileName, ReturnType<typeof times>> = {
  native: { lease: 60, beat: 15, sweep: 10, afterReap: [1, 10, 60] },
  clip: { lease: 300, beat: 15, sweep: 60, afterReap: [30, 120, 600] },
  embedding: { lease: 300, beat: 120, sweep: 60, afterReap: [0] },
  executor: { lease: 300, beat: 15, sweep: 30, afterReap: [0] },
  converter: { lease: 300, beat: 30, sweep: 2, afterReap: [0] },
}

describe('the times of a policy', () => {
  it.each(Object.entries(expected))('LEASE-3 REAP-5 REAP-6 the profile %s has its own', (name, own) => {
    expect(times(shippedPolicy(name as ProfileName))).toEqual(own)
  })

  it('REAP-5 a base without steps is that of the documents in clip, and a short one in native', () => {
    const waits = ({ reapBackoffBaseMs, reapBackoffMaxMs }: Policy) => [reapBackoffBaseMs, reapBackoffMaxMs]
    expect(waits(shippedPolicy('clip'))).toEqual([30_000, 600_000])
    expect(waits(shippedPolicy('native'))).toEqual([1_000, 60_000])
  })

  it('LEASE-3 REAP-5 REAP-6 an attached table without a shipped profile is as patient as those of the documents', () => {
    const statuses = { waiting: 'queued', running: ['active'] as [string], succeeded: 'done', dead: 'failed' }
    const { policy } = completeTable({ table: 'tasks', idType: 'bigint', statuses })
    expect(policy).toEqual(attachedPolicy)
    expect(times(policy)).toEqual(expected.clip)
  })
})
