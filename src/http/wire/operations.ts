// Maps dead letters and operations to the contract.
import type {
  PlannedOperation,
  ReadOperation,
  TableOperation,
} from '../../commands/jobs/operation-commands.ts'
import { redactText } from '../../observe/redact.ts'
import type { DeadJobGroup, OperationAction, OperationJob } from '../../store/job-store.ts'
import type * as wire from '../contract/index.ts'
import { redactOrNull, shownCode, shownReason, type View } from './jobs.ts'

const isoOrNull = (at: Date | null) => at?.toISOString() ?? null

export function toWireGroup(group: DeadJobGroup, table: string, view: View): wire.DeadLetterGroup {
  return {
    cause_id: group.causeId,
    table,
    code: shownCode(group.code, view),
    category: group.category,
    jobs: group.jobs,
    first_at: group.firstAt.toISOString(),
    last_at: group.lastAt.toISOString(),
    example_reason: shownReason(group.exampleReason, view),
    example_job_id: group.exampleJobId,
    max_crashes: group.maxCrashes,
    state: group.state,
    changed_by: group.changedBy,
    changed_at: isoOrNull(group.changedAt),
    state_reason: redactOrNull(group.stateReason, view.redact),
    back_since: isoOrNull(group.backSince),
  }
}

export function toWireOperation({ table, operation }: TableOperation): wire.Operation {
  return {
    id: operation.id,
    action: operation.action,
    table,
    q: redactText(operation.q),
    cause_id: operation.causeId,
    actor: operation.actor ?? '',
    reason: redactOrNull(operation.reason),
    state: operation.state,
    phase: operation.phase,
    total: operation.total,
    at_least: [],
    changed: operation.changed,
    refused: operation.refused,
    succeeded: operation.succeeded,
    failed: operation.failed,
    stopped: redactOrNull(operation.stopped),
    as_of: operation.asOf.toISOString(),
    began_at: operation.beganAt.toISOString(),
    ended_at: isoOrNull(operation.endedAt),
  }
}

export interface WirePlan extends PlannedOperation {
  action: OperationAction
  q: string
  causeId: string | null
  actor: string
  reason: string | null
}

/** A plan has no id. */
export function toWirePlan({ asOf, atLeast, causeId, q, reason, ...plan }: WirePlan): wire.Operation {
  const counts = { changed: 0, refused: 0, succeeded: 0, failed: 0, stopped: null, phase: null }
  const at = asOf.toISOString()
  return {
    id: '',
    ...plan,
    ...counts,
    at_least: atLeast,
    q: redactText(q),
    reason: redactOrNull(reason),
    cause_id: causeId,
    state: 'planned',
    as_of: at,
    began_at: at,
    ended_at: null,
  }
}

export function toWireReadOperation({ ends, ...found }: ReadOperation): wire.Operation {
  const { isComplete, ...counts } = ends
  return { ...toWireOperation(found), ends: { ...counts, is_complete: isComplete } }
}

export const toWireOperationJob = ({
  jobId,
  position,
  outcome,
  status,
}: OperationJob): wire.OperationJob => ({
  status,
  job_id: jobId,
  position,
  outcome,
})
