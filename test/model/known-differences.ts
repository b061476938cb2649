// Where PostgreSQL and the model are known to differ, each kept out of the runs here and nowhere else. A rule goes away
// with its difference.
import type { PolicyOverride } from '../../src/policy/policy.ts'
import type { ClaimRequest } from '../../src/store/job-store.ts'
import type { Model } from './two-sides.ts'

/**
 * K1: over several queues PostgreSQL shares a claim's limit out by all that waits, also by what it then refuses: other
 * types, and jobs without budget. So due time does not always decide.
 */
export async function oneQueueWhereSharesFail(model: Model, request: ClaimRequest): Promise<ClaimRequest> {
  const isSafe = request.types === undefined && (await countExhausted(model)) === 0
  return isSafe ? request : { ...request, queues: request.queues.slice(0, 1) }
}

async function countExhausted({ store }: Model): Promise<number> {
  const preview = await store.previewSweep()
  return preview.filter(({ reason }) => reason === 'attempts_exhausted').length
}

/**
 * K2: a limit that was lowered under what a running job has spent, and then a reap for the other cause. PostgreSQL
 * requeues the job and ends it in the same sweep, the memory store in the next one.
 */
export async function withinWhatRunningJobsSpent(
  model: Model,
  { maxCrashes, maxTimeouts, ...change }: PolicyOverride,
): Promise<PolicyOverride> {
  const { jobs } = await model.read()
  const running = jobs.filter(({ job }) => job.status === 'running')
  const crashes = Math.max(0, ...running.map(({ job }) => job.crashes))
  const timeouts = Math.max(0, ...running.map(({ job }) => job.timeouts))
  return {
    ...change,
    ...(maxCrashes === undefined ? {} : { maxCrashes: Math.max(maxCrashes, crashes + 1) }),
    ...(maxTimeouts === undefined ? {} : { maxTimeouts: Math.max(maxTimeouts, timeouts + 1) }),
  }
}

/**
 * K4: one job twice in a call to cancel or retry. PostgreSQL answers both alike, the memory store the second one from
 * what the first has done. Nothing else differs, so the runs ask about each job once.
 */
export function eachOnce(indexes: number[]): number[] {
  return [...new Set(indexes)]
}

/** K5: which of the jobs without budget a sweep ends first where its limit does not take all: by queue, or by id. */
export async function limitForAllExhausted(
  model: Model,
  limit: number | undefined,
): Promise<number | undefined> {
  return limit !== undefined && (await countExhausted(model)) > limit ? undefined : limit
}
