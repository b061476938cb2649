import type { JobStore } from '../../store/job-store.ts'

/** Queue and type of the canary. No worker handles it. */
export const DRILL_QUEUE = 'unstuck_drill'

const TRIES = 5
const LEFT_BEHIND_MS = 3_600_000

/** Deletes the canary in any state. Retried, since a sweep may come between two steps. */
export async function clearCanary(store: JobStore, jobId: string, actor: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const job = await store.getJob(jobId)
    if (job === null) return
    if (job.leaseId !== null) await store.releaseJobs([{ jobId, leaseId: job.leaseId }])
    const [answer] = await store.discardJobs([jobId], { actor, reason: 'drill' })
    if (answer?.outcome !== 'running') return
    if (tries === TRIES) throw new Error('it is running')
  }
}

/** Canaries of killed drills. A younger one may belong to a running drill. */
export async function clearOldCanaries(store: JobStore, actor: string): Promise<number> {
  const { jobs } = await store.listJobs({ queue: DRILL_QUEUE, olderThanMs: LEFT_BEHIND_MS })
  for (const { id } of jobs) await clearCanary(store, id, actor)
  return jobs.length
}
