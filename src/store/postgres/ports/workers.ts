import { jsonText } from '../../../job/json-text.ts'
import type { DrainOutcome, WorkerReport, WorkerStatus, WorkerStore } from '../../ports/worker-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { columnOf, date, fromRecord } from '../rows/values.ts'

export function bindWorkerVerbs(call: CallQuery): WorkerStore {
  return {
    async reportWorker({ sweepIntervalMs, ...report }) {
      const [row = {}] = await call('report_worker', [reportToJson(report), sweepIntervalMs ?? null])
      const groups = (row['hinted_workers'] ?? []) as { queues: string[]; worker_ids: string[] }[]
      return {
        isDrainRequested: row['is_drain_requested'] === true,
        isSweepDue: row['is_sweep_due'] === true,
        isWatched: row['is_watched'] !== false,
        reportedAt: String(row['reported_at']),
        hintedWorkers: groups.map(({ queues, worker_ids }) => ({ queues, workerIds: worker_ids })),
        hasWebhooks: row['has_webhooks'] === true,
      }
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

function reportToJson(report: Omit<WorkerReport, 'sweepIntervalMs'>): string {
  const entries = Object.entries(report).map(([name, value]) => [columnOf(name), value as unknown])
  return jsonText('report', Object.fromEntries(entries))
}

function toWorkerStatus(row: Row): WorkerStatus {
  const times = ['startedAt', 'seenAt', 'drainingAt', 'stoppedAt', 'drainRequestedAt'] as const
  const worker = fromRecord<WorkerStatus>(row, times)
  return { ...worker, reportTimes: worker.reportTimes.map(date) }
}
