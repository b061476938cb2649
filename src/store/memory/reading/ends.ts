import type { JobEnd } from '../../job-store.ts'
import type { MemoryState } from '../state/memory-state.ts'

export function readEnds({ jobs }: Pick<MemoryState, 'jobs'>, jobIds: string[]): JobEnd[] {
  return [...new Set(jobIds)].flatMap((jobId): JobEnd[] => {
    const job = jobs.get(jobId)
    if (job === undefined) return [{ jobId, status: 'gone', type: null, result: null, error: null }]
    const { status, type } = job
    if (status === 'waiting' || status === 'running') return []
    if (status === 'succeeded')
      return [{ jobId, status, type, result: structuredClone(job.result), error: null }]
    const { code = null, reason = null, category = null } = job.error ?? {}
    return [{ jobId, status, type, result: null, error: { code, reason, category } }]
  })
}
