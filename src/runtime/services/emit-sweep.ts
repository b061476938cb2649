import type { RuntimeEventEmitter } from '../../observe/events.ts'
import type { SweepReport } from './run-sweep.ts'

export function emitSweep(events: RuntimeEventEmitter, table: string, report: SweepReport): void {
  const { reaped, requeuedIds, failedIds, held, holdReason, durationMs } = report
  for (const job of reaped) events.emit('job:reaped', { table, ...job })
  const counts = { requeued: requeuedIds.length, dead: failedIds.length, held }
  events.emit('sweep:done', { table, ...counts, holdReason, durationMs })
}
