import { describe, expect, it } from 'vitest'
import type { JobEvent, Reclaim, RunningJob } from '../../../src/http/contract/index.ts'
import { mergeRescues, percentile, rescueOf, returnOf } from './rescues.ts'

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
  it('SEE-5 a rescue says from whom, and after what silence', () => {
    expect(rescueOf(rescued)).toMatchObject({ worker: 'worker-1', outcome: 'requeued', silentMs: 19_000 })
    expect(rescueOf(claim)).toBeNull()
  })

  it('SEE-5 a rescue goes on with who has the job now', () => {
    const rescue = rescueOf(rescued)
    if (rescue === null) throw new Error('it is a rescue')
    expect(returnOf(rescue, [lease], [claim, rescued])).toEqual({ worker: 'worker-2', afterMs: 3_100 })
    expect(returnOf(rescue, [lease], [rescued])).toEqual({ worker: 'worker-2', afterMs: null })
    expect(returnOf(rescue, [{ ...lease, heartbeat_at: '2026-05-12T14:00:01.000Z' }], [])).toBeNull()
  })

  it('SEE-5 what the server remembers and what came since stand together, each once', () => {
    const remembered = {
      id: '7',
      table: 'jobs',
      job_id: 'a',
      reaped_at: rescued.at,
      action: 'requeued',
      last_heartbeat_at: '2026-05-12T14:00:01.000Z',
      next_run_at: '2026-05-12T14:00:22.000Z',
      claimed_by: 'worker-3',
      claimed_again_at: '2026-05-12T14:00:24.000Z',
    } as Reclaim
    const newer = { ...rescued, id: '9', job_id: 'b', at: '2026-05-12T14:00:30.000Z' }
    const [first, second, ...none] = mergeRescues([remembered], [newer, rescued, claim])
    expect(first).toMatchObject({ jobId: 'b', back: null })
    expect(second).toMatchObject({
      silentMs: 19_000,
      backoffMs: 2_000,
      back: { worker: 'worker-3', afterMs: 4_000 },
    })
    expect(none).toEqual([])
    if (second !== undefined) expect(returnOf(second, [lease], [])).toEqual(second.back)
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
