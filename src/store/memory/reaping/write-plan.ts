// Applies a plan: the row, its event, and the dispatch of a job that waits again.
import type { ReapedJob } from '../../job-store.ts'
import { recordDispatch } from '../dispatches.ts'
import { changeJob, type MemoryState, recordEvent } from '../state/memory-state.ts'
import type { Moment, ReapPlan } from './reap-plan.ts'

export function writePlan(state: MemoryState, moment: Moment, { report, write }: ReapPlan): ReapedJob {
  const job = state.jobs.get(report.jobId)
  if (job !== undefined && write !== null) {
    changeJob(state, job, write.change)
    recordEvent(state, moment.nowMs, { jobId: job.id, type: write.event, details: write.details })
    if (report.action === 'requeued') recordDispatch(state, moment.policy, job.id)
  }
  return report
}
