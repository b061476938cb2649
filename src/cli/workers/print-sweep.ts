// A sweep for a person at a terminal.
import type { SweepAnswer } from '../../commands/queue-control-commands.ts'
import type { ReapedJob } from '../../store/job-store.ts'
import { printLine } from '../terminal/output.ts'

export function printReport(table: string, report: Omit<SweepAnswer, 'table'>): void {
  const { requeuedIds, failedIds, held, holdReason, durationMs } = report
  const hold = held > 0 ? ` · ${held} held (${holdReason ?? ''})` : ''
  printLine(`${table}: ${requeuedIds.length} requeued · ${failedIds.length} dead${hold} · ${durationMs} ms`)
  printJobs('REQUEUED', report.reaped, 'requeued')
  printJobs('DEAD', report.reaped, 'dead')
  printJobs('CANCELLED', report.reaped, 'cancelled')
  printJobs('NOT TOUCHED', report.reaped, 'reported')
}

function printJobs(title: string, reaped: ReapedJob[], action: ReapedJob['action']): void {
  const jobs = reaped.filter((job) => job.action === action)
  if (jobs.length === 0) return
  printLine(`  ${title} ${jobs.length}`)
  for (const job of jobs.slice(0, 20)) {
    const from = job.workerId === null ? '' : ` from ${job.workerId}`
    const next = job.retryInMs === null ? '' : ` → due in ${(job.retryInMs / 1000).toFixed(1)} s`
    printLine(`    ${job.jobId}  ${job.stage ?? ''}  ${job.reason}${from}, attempt ${job.attempt}${next}`)
  }
  if (jobs.length > 20) printLine(`    … and ${jobs.length - 20} more (--json lists all)`)
}

export function printWouldReap(jobs: ReapedJob[]): void {
  printJobs('WOULD REQUEUE', jobs, 'requeued')
  printJobs('WOULD DEAD-LETTER', jobs, 'dead')
  printJobs('WOULD CANCEL', jobs, 'cancelled')
  printJobs('WOULD NOT TOUCH', jobs, 'reported')
}
