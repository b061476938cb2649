// The history of a run without violations.
import type { History } from '../../../chaos/src/judge/history.ts'

export const T0 = Date.parse('2026-01-01T00:00:00Z')

export const iso = (at: number) => new Date(at).toISOString()

const row = {
  queue: 'plain',
  group: null,
  owner: 'anna',
  failures: 0,
  crashes: 0,
  timeouts: 0,
  maxAttempts: 5,
  workerId: null,
  leaseId: null,
  leaseExpiresAt: null,
}

const grouped = { ...row, type: 'ordered', queue: 'ordered', group: 'g' }

/** One job rescued from a killed worker, one that failed for good, one completed in a transaction, two of an ordered group. */
export function cleanHistory(): History {
  const event = (id: number, jobId: string, type: string, at: number, details: Record<string, unknown>) => ({
    id: String(id),
    jobId,
    type,
    at: T0 + at,
    details,
  })
  const claim = (worker: string, lease: string, fence: number) => ({
    worker_id: worker,
    lease_id: lease,
    fence,
  })
  const line = (kind: string, at: number, worker: string, job: string, lease: string, more = {}) => ({
    kind,
    at: T0 + at,
    worker,
    pid: 1,
    job,
    lease,
    ...more,
  })
  const answer = (verb: string, outcome: string) => ({ verb, outcome })
  return {
    policy: {
      attemptCountedAt: 'claim',
      failureBudget: 'failures',
      reapBudget: 'crashes',
      maxCrashes: 12,
      maxTimeouts: 3,
    },
    limits: { ordered: { groupConcurrency: 1, groupOrder: 'fifo' }, narrow: { concurrency: 2 } },
    times: { leaseMs: 2_000, sweepMs: 1_000, pollMs: 400 },
    jobs: [
      { ...row, id: 'a', type: 'quick', status: 'succeeded', attempt: 2, fence: 2, finishedLeaseId: 'l2' },
      {
        ...row,
        id: 'b',
        type: 'poison',
        status: 'dead',
        attempt: 3,
        fence: 3,
        finishedLeaseId: 'p3',
        failures: 3,
        maxAttempts: 3,
      },
      { ...row, id: 'c', type: 'tx', status: 'succeeded', attempt: 1, fence: 1, finishedLeaseId: 't1' },
      { ...grouped, id: 'd', status: 'succeeded', attempt: 2, fence: 2, finishedLeaseId: 'd2' },
      { ...grouped, id: 'e', status: 'succeeded', attempt: 1, fence: 1, finishedLeaseId: 'e1' },
    ],
    events: [
      event(1, 'a', 'queued', 0, { cause: 'enqueue' }),
      // Workers add an end of their own to the name that the run gave them.
      event(2, 'a', 'processing', 100, claim('w1-1:0a1b2c3d', 'l1', 1)),
      event(3, 'a', 'reaper:requeued', 3_000, {
        lease_id: 'l1',
        cause: 'crash',
        last_heartbeat_at: iso(T0 + 600),
        lease_expires_at: iso(T0 + 2_600),
        next_run_at: iso(T0 + 3_200),
      }),
      event(4, 'a', 'processing', 3_300, claim('w2-1', 'l2', 2)),
      event(5, 'a', 'complete', 3_400, { attempt: 2 }),
      event(6, 'b', 'queued', 0, { cause: 'enqueue' }),
      event(7, 'b', 'processing', 100, claim('w2-1', 'p1', 1)),
      event(8, 'b', 'retry', 200, { lease_id: 'p1', next_run_at: iso(T0 + 400) }),
      event(9, 'b', 'processing', 500, claim('w2-1', 'p2', 2)),
      event(10, 'b', 'retry', 600, { lease_id: 'p2', next_run_at: iso(T0 + 800) }),
      event(11, 'b', 'processing', 900, claim('w2-1', 'p3', 3)),
      event(12, 'b', 'failed', 1_000, { lease_id: 'p3' }),
      event(13, 'c', 'queued', 0, { cause: 'enqueue' }),
      event(14, 'c', 'processing', 100, claim('w2-1', 't1', 1)),
      event(15, 'c', 'complete', 200, { attempt: 1 }),
      event(16, 'd', 'queued', 0, { cause: 'enqueue' }),
      event(17, 'e', 'queued', 0, { cause: 'enqueue' }),
      event(18, 'd', 'processing', 100, claim('w2-1', 'd1', 1)),
      event(19, 'd', 'retry', 200, { lease_id: 'd1', next_run_at: iso(T0 + 300) }),
      event(20, 'd', 'processing', 400, claim('w2-1', 'd2', 2)),
      event(21, 'd', 'complete', 500, { attempt: 2 }),
      event(22, 'e', 'processing', 600, claim('w2-1', 'e1', 1)),
      event(23, 'e', 'complete', 700, { attempt: 1 }),
    ],
    txEffects: [{ jobId: 'c', leaseId: 't1' }],
    webhooks: [{ webhookId: 'h', events: ['reaper:requeued'] }],
    deliveries: [
      { webhookId: 'h', jobId: 'a', type: 'reaper:requeued', timestamp: iso(T0 + 3_000), count: 1 },
    ],
    ledger: [
      line('started', 110, 'w1-1', 'a', 'l1'),
      line('started', 3_310, 'w2-1', 'a', 'l2'),
      line('effect', 3_390, 'w2-1', 'a', 'l2'),
      line('answered', 3_410, 'w2-1', 'a', 'l2', answer('completeJobs', 'completed')),
      line('ended', 3_411, 'w2-1', 'a', 'l2', { end: 'completed' }),
      line('answered', 210, 'w2-1', 'b', 'p1', answer('failJobs', 'retried')),
      line('ended', 210, 'w2-1', 'c', 't1', { end: 'completed' }),
    ],
    samples: [{ at: T0 + 2_900, mismatched: 0, overdueMs: 300 }],
    disturbances: [{ who: 'w1-1', kind: 'gone', from: T0 + 700, to: Number.POSITIVE_INFINITY }],
    stalls: [],
    holds: [],
    enqueuedIds: ['a', 'b', 'c', 'd', 'e'],
    intrusions: [{ act: 'cancel', outcome: 'not-found' }],
  }
}

export const jobOf = (history: History, id: string) => {
  const found = history.jobs.find((job) => job.id === id)
  if (found === undefined) throw new Error(`no job ${id}`)
  return found
}

export const eventOf = (history: History, id: number) => {
  const found = history.events.find((event) => event.id === String(id))
  if (found === undefined) throw new Error(`no event ${id}`)
  return found
}
