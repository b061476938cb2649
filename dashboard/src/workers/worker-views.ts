// Workers of the page: those that report, and those known only by their leases.

import type { Worker } from '../../../src/http/contract/index.ts'
import { KEPT_BEATS_MS, type LiveLease, leaseLeftMs, leaseLengthMs } from '../api/live-state.ts'
import { groupBy } from '../format/group-by.ts'

export interface WorkerView {
  id: string
  state: Worker['state']
  /** Null if only its leases show it. */
  report: Worker | null
  leases: number
}

const LATE_SHARE = 0.25

export function workerViews(workers: Worker[], leases: LiveLease[], nowMs: number): WorkerView[] {
  const byWorker = groupBy(leases, ({ worker_id }) => worker_id ?? '')
  const ids = new Set(workers.map(({ id }) => id))
  // A worker that reports has the state that Now, HTTP and the command line show: the lease of a job whose row is locked
  // expires although its worker lives.
  const known = workers.map(
    (worker): WorkerView => ({ id: worker.id, state: worker.state, report: worker, leases: worker.leases }),
  )
  const seen = [...byWorker]
    .filter(([id]) => id !== '' && !ids.has(id))
    .map(([id, held]): WorkerView => ({ id, state: stateOf(held, nowMs), report: null, leases: held.length }))
  return [...known, ...seen].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function stateOf(leases: LiveLease[], nowMs: number): Worker['state'] {
  const shares = leases.map((lease) => (leaseLeftMs(lease, nowMs) ?? 0) / (leaseLengthMs(lease) ?? 1))
  if (shares.every((share) => share <= 0)) return 'silent'
  return shares.some((share) => share < LATE_SHARE) ? 'late' : 'live'
}

/** Reports that the server kept, and heartbeats seen here, oldest first: at most 5 minutes. */
export function signsOfLife(
  beats: number[],
  report: Pick<Worker, 'report_times' | 'seen_at'> | null,
  nowMs: number,
): number[] {
  const reports =
    report === null ? [] : [...report.report_times, report.seen_at].map((time) => Date.parse(time))
  const known = [...new Set([...beats, ...reports])]
  return known.filter((time) => time > nowMs - KEPT_BEATS_MS).toSorted((a, b) => a - b)
}
