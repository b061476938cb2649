// Calls of all attempts of a worker, gathered into few statements.
import type { Lease } from '../../job/lease.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../../store/job-store.ts'
import { type Batcher, createBatcher, createShardedBatcher } from '../calls/batcher.ts'
import type { AttemptDependencies } from './attempt-dependencies.ts'

type AttemptBatchers = Pick<AttemptDependencies, 'completions' | 'failures' | 'releases' | 'progress'>

/** `gather` delays completions, so that more of them go together. */
export function attemptBatchers<Tx>(
  store: JobStore<Tx>,
  policy: PolicyOverride,
  gather?: () => Promise<void>,
): AttemptBatchers {
  return {
    completions: batcherOf(store, (completions) => store.completeJobs(completions, { policy }), gather),
    failures: batcherOf(store, (failures) => store.failJobs(failures, { policy })),
    releases: batcherOf(store, (leases) => store.releaseJobs(leases, { cause: 'interruption' })),
    progress: batcherOf(store, (reports) => store.reportProgress(reports)),
  }
}

/** Split by shard before anything is sent, if there are several. */
function batcherOf<Tx, Item extends Lease, Answer>(
  { shards }: JobStore<Tx>,
  call: (items: Item[]) => Promise<Answer[]>,
  pause?: () => Promise<void>,
): Batcher<Item, Answer> {
  if (shards === undefined) return createBatcher(call, pause)
  return createShardedBatcher(
    ({ jobId }) => shards.of(jobId).number,
    () => createBatcher(call, pause),
  )
}
