import type { Job } from '../../job/job.ts'
import type { JobStore, Operation } from '../../store/job-store.ts'

export type SourceStore = Pick<JobStore, 'getJob' | 'listOperationJobs'>

const PAGE = 1000

/** Finds the jobs of the next step whose source no longer exists: the rule of a retry by id (OPS-1). */
export function sourceGoneFinder(
  store: SourceStore,
  { id, action }: Operation,
  sourceExists: ((job: Job) => Promise<boolean>) | undefined,
): (limit: number) => Promise<string[]> {
  if (sourceExists === undefined || (action !== 'retry' && action !== 'redrive')) return async () => []
  let cursor = 0
  /** The step takes the first pending jobs; only this process changes them while it holds the lease. */
  const nextJobs = async (limit: number) => {
    const pending: string[] = []
    let from = cursor
    for (;;) {
      const { jobs, next } = await store.listOperationJobs(id, { limit: PAGE, cursor: from })
      for (const { jobId, position, outcome } of jobs) {
        if (outcome !== null) continue
        if (pending.length === 0) cursor = position - 1
        pending.push(jobId)
        if (pending.length === limit) return pending
      }
      if (next === null) return pending
      from = next
    }
  }
  return async (limit) => {
    const gone: string[] = []
    for (const jobId of await nextJobs(limit)) {
      const job = await store.getJob(jobId)
      if (job?.status === 'dead' && !(await sourceExists(job))) gone.push(jobId)
    }
    return gone
  }
}
