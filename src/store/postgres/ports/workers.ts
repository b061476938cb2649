import { jsonText } from '../../../job/json-text.ts'
import type {
  DrainOutcome,
  WorkerReport,
  WorkerState,
  WorkerStatus,
  WorkerStore,
} from '../../ports/worker-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { columnOf, date, dateOrNull, numberOrNull, text } from '../rows/values.ts'

export function bindWorkerVerbs(call: CallQuery): WorkerStore {
  return {
    async reportWorker(report) {
      const [row] = await call('report_worker', [reportToJson(report)])
      return { isDrainRequested: row?.['is_drain_requested'] === true }
    },

    async listWorkers() {
      return (await call('list_workers', [])).map(toWorkerStatus)
    },

    async drainWorker(workerId, { actor, reason } = {}) {
      const [row] = await call('drain_worker', [workerId, actor ?? null, reason ?? null])
      return row?.['outcome'] as DrainOutcome
    },
  }
}

function reportToJson(report: WorkerReport): string {
  const entries = Object.entries(report).map(([name, value]) => [columnOf(name), value as unknown])
  return jsonText('report', Object.fromEntries(entries))
}

function toWorkerStatus(row: Row): WorkerStatus {
  return {
    workerId: String(row['worker_id']),
    state: row['state'] as WorkerState,
    host: text(row['host']),
    pid: numberOrNull(row['pid']),
    version: text(row['version']),
    types: row['types'] as string[],
    concurrency: Number(row['concurrency']),
    running: Number(row['running']),
    leases: Number(row['leases']),
    loopLagMs: numberOrNull(row['loop_lag_ms']),
    seenMs: Number(row['seen_ms']),
    startedAt: date(row['started_at']),
    seenAt: date(row['seen_at']),
    drainingAt: dateOrNull(row['draining_at']),
    stoppedAt: dateOrNull(row['stopped_at']),
    exitCode: numberOrNull(row['exit_code']),
    drainRequestedAt: dateOrNull(row['drain_requested_at']),
    drainRequestedBy: text(row['drain_requested_by']),
    drainReason: text(row['drain_reason']),
  }
}
