// How an attempt ended, read from its job's row: the answer to the call that wrote it was lost.
import type { Lease } from '../../job/lease.ts'
import type { AttemptEnd } from '../../observe/events.ts'
import type { JobStore } from '../../store/job-store.ts'

/** An earlier call was committed: a `tx`, or the failure itself. */
export async function readWrittenEnd<Tx>(
  store: Pick<JobStore<Tx>, 'getJob'>,
  { jobId, leaseId }: Lease,
): Promise<AttemptEnd> {
  const job = await store.getJob(jobId)
  // A retried job may have run elsewhere and ended since.
  if (job?.finishedLeaseId !== leaseId) return 'retried'
  if (job.status === 'succeeded') return 'completed'
  return job.status === 'dead' ? 'dead' : 'retried'
}

export function isGone<Tx>(store: Pick<JobStore<Tx>, 'getJob'>, { jobId }: Lease): Promise<boolean> {
  return store.getJob(jobId).then(
    (job) => job === null,
    () => false,
  )
}
