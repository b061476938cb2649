import { describe, expect, it } from 'vitest'
import type { Worker } from '../../../src/http/contract/index.ts'
import type { LiveLease } from '../api/live-state.ts'
import { signsOfLife, workerViews } from './worker-views.ts'

const lease = (worker: string, leftMs: number) =>
  ({
    worker_id: worker,
    heartbeat_at: '2026-05-12T14:00:00.000Z',
    lease_expires_at: '2026-05-12T14:00:10.000Z',
    lease_remaining_ms: leftMs,
    readAtMs: 1_000,
  }) as LiveLease

describe('workerViews', () => {
  it('SEE-5 a worker without reports is known by its leases', () => {
    const views = workerViews(
      [],
      [lease('b', 9_000), lease('b', 8_000), lease('a', 2_000), lease('c', -1)],
      1_000,
    )
    expect(views).toEqual([
      { id: 'a', state: 'late', report: null, leases: 1 },
      { id: 'b', state: 'live', report: null, leases: 2 },
      { id: 'c', state: 'silent', report: null, leases: 1 },
    ])
  })

  it('SEE-7 a worker that reports is as the server says, also if the lease of a locked row has expired', () => {
    const worker = { id: 'a', state: 'live', leases: 1 } as Worker
    for (const leases of [[lease('a', 9_000)], [lease('a', -1)], []])
      expect(workerViews([worker], leases, 1_000)).toMatchObject([{ state: 'live' }])
  })

  it('SEE-5 the worker’s own report wins', () => {
    const worker = { id: 'a', state: 'draining', leases: 4 } as Worker
    expect(workerViews([worker], [lease('a', -1)], 1_000)).toEqual([
      { id: 'a', state: 'draining', report: worker, leases: 4 },
    ])
  })
})

describe('signsOfLife', () => {
  it('SEE-9 a lane shows the reports that the server kept, before any heartbeat is seen', () => {
    const now = Date.parse('2026-05-12T14:00:00Z')
    const report = {
      report_times: ['2026-05-12T13:54:00Z', '2026-05-12T13:56:00Z', '2026-05-12T13:59:00Z'],
      seen_at: '2026-05-12T13:59:30Z',
    }
    const ago = (beats: number[]) => signsOfLife(beats, report, now).map((time) => (now - time) / 1_000)
    expect(ago([])).toEqual([240, 60, 30])
    expect(ago([now - 10_000, now - 60_000])).toEqual([240, 60, 30, 10])
    expect(signsOfLife([], null, now)).toEqual([])
  })
})
