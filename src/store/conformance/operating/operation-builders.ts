import type { JobStore, NewOperation, Operation, OperationLease } from '../../job-store.ts'
import { fail, MINUTE, startMany } from '../builders.ts'

export async function killMany(store: JobStore, count: number): Promise<string[]> {
  const leases = await startMany(store, count)
  for (const lease of leases) await fail(store, lease, { code: 'A', reason: 'r', isRetryable: false })
  return leases.map(({ jobId }) => jobId).toSorted()
}

export const retryDead: NewOperation = { action: 'retry', filter: { status: 'dead' }, q: 'status:dead' }

/** Begun and held. */
export async function begin(
  store: JobStore,
  request: Partial<NewOperation> = {},
): Promise<OperationLease & { operation: Operation }> {
  const begun = await store.beginOperation({ ...retryDead, leaseMs: MINUTE, ...request })
  if (begun.outcome !== 'begun' || begun.leaseId === null)
    throw new Error(`it did not begin: ${begun.outcome}`)
  return { operationId: begun.operation.id, leaseId: begun.leaseId, operation: begun.operation }
}

export async function step(store: JobStore, lease: OperationLease, limit = 100) {
  const progress = await store.stepOperation(lease, { limit })
  if (progress === 'lease-lost') throw new Error('the lease was lost')
  return progress
}

export async function outcomesOf(
  store: JobStore,
  { operationId }: OperationLease,
): Promise<(string | null)[]> {
  return (await store.listOperationJobs(operationId)).jobs.map(({ outcome }) => outcome)
}
