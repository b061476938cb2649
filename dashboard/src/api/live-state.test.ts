import { describe, expect, it } from 'vitest'
import type { JobEvent, RunningJob } from '../../../src/http/contract/index.ts'
import { applyMessage, emptyLiveState, leaseLeftMs, leaseLengthMs } from './live-state.ts'

const db_now = '2026-05-12T14:00:10.000Z'
const lease: RunningJob = {
  id: 'a',
  table: 'jobs',
  type: 'run_asr',
  queue: 'media',
  stage: 'asr',
  owner: null,
  worker_id: 'worker-1',
  fence: '7',
  attempt: 1,
  started_at: '2026-05-12T14:00:00.000Z',
  heartbeat_at: '2026-05-12T14:00:05.000Z',
  lease_expires_at: '2026-05-12T14:00:35.000Z',
  lease_remaining_ms: 25_000,
  deadline_at: null,
}
const leases = (found: RunningJob[], now = db_now) =>
  ({ topic: 'leases', data: { db_now: now, leases: found, is_complete: true } }) as const
const event: JobEvent = { id: '1', job_id: 'a', table: 'jobs', type: 'retry', at: db_now, details: {} }

describe('applyMessage', () => {
  it('SEE-5 a lease counts down from what the database said, on the monotonic clock', () => {
    const [live] = applyMessage(emptyLiveState, leases([lease]), 1_000).leases ?? []
    expect(live && leaseLeftMs(live, 4_000)).toBe(22_000)
    expect(live && leaseLeftMs(live, 31_000)).toBe(-5_000)
    expect(leaseLengthMs(lease)).toBe(30_000)
  })

  it('SEE-5 heartbeats are the changes of leases, kept for five minutes', () => {
    const first = applyMessage(emptyLiveState, leases([lease]), 0)
    const again = applyMessage(first, leases([lease]), 1_000)
    expect(again.beats.get('worker-1')).toHaveLength(1)
    const beaten = { ...lease, heartbeat_at: '2026-05-12T14:00:15.000Z' }
    expect(applyMessage(again, leases([beaten]), 2_000).beats.get('worker-1')).toHaveLength(2)
    expect(applyMessage(again, leases([], '2026-05-12T14:05:06.000Z'), 3_000).beats.size).toBe(0)
  })

  it('SEE-5 an event that comes twice is shown once, the newest first', () => {
    const told = [event, { ...event, id: '2' }, event].reduce(
      (state, one) => applyMessage(state, { topic: 'events', data: { db_now, event: one } }, 0),
      emptyLiveState,
    )
    expect(told.events.map(({ id }) => id)).toEqual(['2', '1'])
  })

  it('SEE-5 what was known stays while the database cannot be read', () => {
    const known = applyMessage(emptyLiveState, leases([lease]), 0)
    const stale = applyMessage(known, { topic: 'stale', data: { code: 'X', detail: 'timeout' } }, 5_000)
    expect(stale).toMatchObject({ stale: { detail: 'timeout' }, heardAtMs: 0 })
    expect(stale.leases).toHaveLength(1)
    expect(applyMessage(stale, leases([]), 6_000).stale).toBeNull()
  })
})
