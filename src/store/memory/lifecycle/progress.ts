import { checkProgress } from '../../../job/check-progress.ts'
import type { ProgressReport, ReportedProgress } from '../../job-store.ts'
import { changeJob, type MemoryState } from '../state/memory-state.ts'

export function reportProgress(state: MemoryState, reports: ProgressReport[]): boolean[] {
  for (const report of reports) checkProgress(report)
  return reports.map(({ jobId, leaseId, value, text }) => {
    const job = state.jobs.get(jobId)
    if (job?.status !== 'running' || job.leaseId !== leaseId) return false
    changeJob(state, job, { progress: { value, text } })
    return true
  })
}

export function readProgress({ jobs }: Pick<MemoryState, 'jobs'>, jobIds: string[]): ReportedProgress[] {
  return jobIds.flatMap((jobId) => {
    const progress = jobs.get(jobId)?.progress
    return progress == null ? [] : [{ jobId, ...progress }]
  })
}
