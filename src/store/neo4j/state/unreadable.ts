// Nodes whose payload is no JSON. Only a claim needs the payload, so only a claim ends such a job: as a dead letter that can be
// retried once its payload is repaired.
import type { Job } from '../../../job/job.ts'
import { changeJob, type MemoryState, recordEvent } from '../../memory/state/memory-state.ts'
import type { NodeNotice } from './node-notice.ts'

export interface UnreadableJob {
  jobId: string
  reason: string
}

const reasons = new WeakMap<Job, string>()

/** Remembers why a job that was read cannot be claimed. */
export function markUnreadable(job: Job, reason: string): void {
  reasons.set(job, reason)
}

/** Ends the due ones among `jobs`, before a claim takes any. */
export function endUnreadable(state: MemoryState, jobs: Iterable<Job>): UnreadableJob[] {
  const nowMs = state.nowMs()
  const now = new Date(nowMs)
  return [...jobs].flatMap((job) => {
    const reason = reasons.get(job)
    if (reason === undefined || job.status !== 'waiting') return []
    const { id: jobId, attempt } = job
    const error = { code: 'unreadable', reason, category: 'PERMANENT', stack: null, attempt } as const
    changeJob(state, job, { status: 'dead', finishedAt: now, updatedAt: now, runAt: null, error })
    const { code, category } = error
    recordEvent(state, nowMs, {
      jobId,
      type: 'failed',
      details: { code, reason, category, attempt, worker_id: null },
    })
    return [{ jobId, reason }]
  })
}

export function reportUnreadable(
  { table, onNotice }: { table: string; onNotice: (notice: NodeNotice) => void },
  jobs: UnreadableJob[],
): void {
  for (const { jobId, reason } of jobs) {
    const fix = `Repair the node, then: unstuck jobs retry ${jobId}`
    onNotice({ table, jobId, reason: `set aside as a dead letter: ${reason}. ${fix}` })
  }
}
