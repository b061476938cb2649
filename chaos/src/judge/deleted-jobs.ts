// Jobs of a type that is not kept: their completion deleted the row, so events and ledgers are all that is left of them.
import type { History, JobRow, Violation } from './history.ts'
import type { Story } from './job-story.ts'

/** The rows that such jobs would have. A job whose last event is not its deletion is left out: it must have its row. */
export function deletedRows({ jobs, events }: History, stories: Map<string, Story>): JobRow[] {
  const present = new Set(jobs.map(({ id }) => id))
  return events.flatMap(({ jobId, type, details }) => {
    const story = stories.get(jobId)
    if (type !== 'complete' || details['is_deleted'] !== true || story === undefined || present.has(jobId))
      return []
    present.add(jobId)
    return [rowOf(story, Number(details['attempt']))]
  })
}

function rowOf({ jobId, state, claims, completions }: Story, attempt: number): JobRow {
  return {
    id: jobId,
    type: 'deleted',
    queue: 'deleted',
    group: null,
    owner: null,
    status: state,
    attempt,
    failures: 0,
    crashes: 0,
    timeouts: 0,
    maxAttempts: Number.POSITIVE_INFINITY,
    fence: claims.length,
    workerId: null,
    leaseId: null,
    leaseExpiresAt: null,
    finishedLeaseId: completions.at(-1)?.lease ?? null,
  }
}

/** Without a row, the effect of the handler shows that the work was done before the job was deleted. */
export function* checkDeleted(history: History, deleted: JobRow[]): Iterable<Violation> {
  const effects = new Set(
    history.ledger.flatMap(({ kind, job, lease }) => (kind === 'effect' ? [`${job} ${lease}`] : [])),
  )
  for (const { id, finishedLeaseId } of deleted)
    if (!effects.has(`${id} ${finishedLeaseId}`))
      yield {
        invariant: 'I7',
        message: `job ${id} was completed and deleted by lease ${finishedLeaseId}, which has no effect in the ledgers`,
      }
}
