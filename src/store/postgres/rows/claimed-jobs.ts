// Reads the answer to a claim: batches of jobs, with a list for each column.
import type { JsonValue } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import type { Row } from '../connection/executor.ts'
import { date, dateOrNull, numberOrNull, text } from './values.ts'

/** A value that all jobs of the batch share is no list. */
interface Lists {
  id: unknown[]
  queue: string | string[]
  payload: JsonValue[]
  fence: number
  attempt: number
  created_at: string[]
  lease_ms: number | number[]
  deadline_ms: number | null | (number | null)[]
  /** Fields that few jobs have, or other values than these. */
  other: (Row | null)[]
  /** Queues whose limits, or those of their groups, hold jobs back: in a batch without jobs. */
  held_back?: string[]
}

const NO_FIELDS: Row = {}

export function toClaimedJobs(batches: Row[], onHeldBack?: (queues: string[]) => void): ClaimedJob[] {
  return batches.flatMap((batch) => {
    const lists = JSON.parse(String(batch['jobs'])) as Lists
    if (lists.held_back !== undefined) onHeldBack?.(lists.held_back)
    return readBatch(batch, lists)
  })
}

function readBatch(batch: Row, lists: Lists): ClaimedJob[] {
  const leaseId = String(batch['lease_id'])
  const priority = Number(batch['priority'])
  const maxAttempts = Number(batch['max_attempts'])
  const defaultStage = text(batch['default_stage'])
  const grantedAt = date(batch['granted_at'])
  const { queue: queues, lease_ms: leases, deadline_ms: deadlines } = lists
  return lists.id.map((id, place): ClaimedJob => {
    const queue = Array.isArray(queues) ? (queues[place] as string) : queues
    const createdAt = date(lists.created_at[place])
    const fields = lists.other[place] ?? NO_FIELDS
    const type = text(fields['type']) ?? queue
    const dueAt = dateOrNull(fields['run_at']) ?? createdAt
    const leaseMs = Array.isArray(leases) ? (leases[place] as number) : leases
    const deadlineMs = Array.isArray(deadlines) ? (deadlines[place] ?? null) : deadlines
    return {
      jobId: String(id),
      leaseId,
      type,
      queue,
      payload: lists.payload[place] as JsonValue,
      priority,
      stage: text(fields['stage']) ?? defaultStage ?? type,
      owner: text(fields['owner']),
      fence: Number(fields['fence'] ?? lists.fence),
      attempt: Number(fields['attempt'] ?? lists.attempt),
      failures: Number(fields['failures'] ?? 0),
      crashes: Number(fields['crashes'] ?? 0),
      timeouts: Number(fields['timeouts'] ?? 0),
      maxAttempts: Number(fields['max_attempts'] ?? maxAttempts),
      generation: Number(fields['generation'] ?? 1),
      createdAt,
      startedAt: dateOrNull(fields['started_at']) ?? grantedAt,
      expectedDurationMs: numberOrNull(fields['expected_duration_ms']),
      leaseMs: Math.min(leaseMs, deadlineMs ?? leaseMs),
      deadlineMs,
      traceparent: text(fields['traceparent']),
      isRescue: (fields['reaped_at'] ?? null) !== null,
      waitedMs: grantedAt.getTime() - dueAt.getTime(),
      runsAlone: fields['runs_alone'] === true,
    }
  })
}
