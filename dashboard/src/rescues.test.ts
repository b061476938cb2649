import { describe, expect, it } from 'vitest'
import type { JobEvent, RunningJob } from '../../src/http/contract.ts'
import { latenessMs, percentile, rescueOf, returnOf } from './rescues.ts'

const rescued: JobEvent = {
  id: '7',
  job_id: 'a',
  table: 'jobs',
  type: 'reaper:requeued',
  at: '2026-05-12T14:00:20.000Z',
  details: {
    locked_by: 'worker-1',
    stage: 'asr',
    backoff_ms: 2_000,
    last_heartbeat_at: '2026-05-12T14:00:01.000Z',
    lease_expires_at: '2026-05-12T14:00:19.200Z',
  },
}
const lease = { id: 'a', worker_id: 'worker-2', heartbeat_at: '2026-05-12T14:00:23.100Z' } as RunningJob
const claim: JobEvent = {
  ...rescued,
  id: '8',
  type: 'processing',
  at: '2026-05-12T14:00:23.100Z',
  details: {},
}

describe('rescues', () => {
  it('SEE-5 a rescue says from whom, after what silence, and how late', () => {
    expect(rescueOf(rescued)).toMatchObject({ worker: 'worker-1', outcome: 'requeued', silentMs: 19_000 })
    expect(latenessMs(rescued)).toBe(800)
    expect(rescueOf(claim)).toBeNull()
    expect(latenessMs({ ...rescued, details: {} })).toBeNull()
  })

  it('SEE-5 a rescue goes on with who has the job now', () => {
    const rescue = rescueOf(rescued)
    if (rescue === null) throw new Error('it is a rescue')
    expect(returnOf(rescue, [lease], [claim, rescued])).toEqual({ worker: 'worker-2', afterMs: 3_100 })
    expect(returnOf(rescue, [lease], [rescued])).toEqual({ worker: 'worker-2', afterMs: null })
    expect(returnOf(rescue, [{ ...lease, heartbeat_at: '2026-05-12T14:00:01.000Z' }], [])).toBeNull()
  })

  it('SEE-5 the 95th percentile is one of the values', () => {
    expect(percentile([], 0.95)).toBeNull()
    expect(percentile([3, 1, 2], 0.95)).toBe(3)
    expect(
      percentile(
        Array.from({ length: 100 }, (_, index) => index + 1),
        0.95,
      ),
    ).toBe(95)
  })
})
