// Workers of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
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
import { PostgresDispatches } from './dispatches.ts'

export class PostgresWorkers extends PostgresDispatches implements WorkerStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    super(call)
    this.#call = call
  }

  async reportWorker(report: WorkerReport): Promise<{ isDrainAsked: boolean }> {
    const [row] = await this.#call('report_worker', [reportToJson(report)])
    return { isDrainAsked: row?.['is_drain_asked'] === true }
  }

  async listWorkers(): Promise<WorkerStatus[]> {
    return (await this.#call('list_workers', [])).map(toWorkerStatus)
  }

  async drainWorker(
    workerId: string,
    { actor, reason }: { actor?: string; reason?: string } = {},
  ): Promise<DrainOutcome> {
    const [row] = await this.#call('drain_worker', [workerId, actor ?? null, reason ?? null])
    return row?.['outcome'] as DrainOutcome
  }
}

function reportToJson(report: WorkerReport): string {
  const { workerId, isStart, phase, host, pid, version, types, concurrency, running } = report
  const { loopLagMs, reportMs, exitCode } = report
  const told = {
    worker_id: workerId,
    is_start: isStart,
    phase,
    host,
    pid,
    version,
    types,
    concurrency,
    running,
  }
  const rest = { loop_lag_ms: loopLagMs, report_ms: reportMs, exit_code: exitCode }
  return jsonText('report', { ...told, ...rest })
}

const text = (value: unknown) => (value ?? null) as string | null
const number = (value: unknown) => (value === null ? null : Number(value))
const date = (value: unknown) => new Date(value as string | Date)
const dateOrNull = (value: unknown) => (value === null ? null : date(value))

function toWorkerStatus(row: Row): WorkerStatus {
  return {
    workerId: String(row['worker_id']),
    state: row['state'] as WorkerState,
    host: text(row['host']),
    pid: number(row['pid']),
    version: text(row['version']),
    types: row['types'] as string[],
    concurrency: Number(row['concurrency']),
    running: Number(row['running']),
    leases: Number(row['leases']),
    loopLagMs: number(row['loop_lag_ms']),
    seenMs: Number(row['seen_ms']),
    startedAt: date(row['started_at']),
    seenAt: date(row['seen_at']),
    drainingAt: dateOrNull(row['draining_at']),
    stoppedAt: dateOrNull(row['stopped_at']),
    exitCode: number(row['exit_code']),
    drainRequestedAt: dateOrNull(row['drain_requested_at']),
    drainRequestedBy: text(row['drain_requested_by']),
    drainReason: text(row['drain_reason']),
  }
}
