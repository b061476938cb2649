// Reads the answer to a claim: batches of jobs, with a list for each column.
import type { JsonValue } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import type { Row } from '../connection/executor.ts'
import { date, dateOrNull, numberOrNull, text } from './values.ts'

interface Lists {
  id: unknown[]
  queue: string[]
  type: string[]
  payload: JsonValue[]
  fence: unknown[]
  attempt: number[]
  created_at: string[]
  lease_ms: number[]
  deadline_ms: (number | null)[]
  /** Fields that few jobs have. */
  other: (Row | null)[]
}

const NO_FIELDS: Row = {}

export function toClaimedJobs(batches: Row[]): ClaimedJob[] {
  return batches.flatMap(readBatch)
}

function readBatch(batch: Row): ClaimedJob[] {
  const lists = JSON.parse(String(batch['jobs'])) as Lists
  const leaseId = String(batch['lease_id'])
  const priority = Number(batch['priority'])
  const maxAttempts = Number(batch['max_attempts'])
  const defaultStage = text(batch['default_stage'])
  const grantedAt = date(batch['granted_at'])
  return lists.id.map((id, place): ClaimedJob => {
    const type = lists.type[place] as string
    const createdAt = date(lists.created_at[place])
    const fields = lists.other[place] ?? NO_FIELDS
    const dueAt = dateOrNull(fields['run_at']) ?? createdAt
    return {
      jobId: String(id),
      leaseId,
      type,
      queue: lists.queue[place] as string,
      payload: lists.payload[place] as JsonValue,
      priority,
      stage: text(fields['stage']) ?? defaultStage ?? type,
      owner: text(fields['owner']),
      fence: Number(lists.fence[place]),
      attempt: lists.attempt[place] as number,
      failures: Number(fields['failures'] ?? 0),
      crashes: Number(fields['crashes'] ?? 0),
      timeouts: Number(fields['timeouts'] ?? 0),
      maxAttempts: Number(fields['max_attempts'] ?? maxAttempts),
      generation: Number(fields['generation'] ?? 1),
      createdAt,
      startedAt: dateOrNull(fields['started_at']) ?? grantedAt,
      expectedDurationMs: numberOrNull(fields['expected_duration_ms']),
      leaseMs: lists.lease_ms[place] as number,
      deadlineMs: lists.deadline_ms[place] ?? null,
      traceparent: text(fields['traceparent']),
      isRescue: (fields['reaped_at'] ?? null) !== null,
      waitedMs: grantedAt.getTime() - dueAt.getTime(),
      runsAlone: fields['runs_alone'] === true,
    }
  })
}
