// Queues and engines that live in SQL or have their own server.
import type { KnownQueue } from './known-queue.ts'

const pgmq: KnownQueue = {
  name: 'pgmq',
  version: '1.5.1',
  columns: ['read_ct', 'msg_id', 'vt', 'enqueued_at', 'message'],
  running: [{ column: 'read_ct', above: 0 }],
  timeColumns: ['vt'],
  ends: [{ column: 'vt' }],
  rule: 'read, neither deleted nor archived, and vt (the visibility timeout) has passed',
  remedy:
    'The next pgmq.read of the queue returns it again: run a consumer. Archive messages whose read_ct keeps growing.',
  parts: [{ columns: ['read_ct', 'msg_id', 'vt', 'enqueued_at', 'message', 'archived_at'] }],
}

const absurd: KnownQueue = {
  name: 'absurd',
  version: '0.4.0',
  columns: ['claim_expires_at', 'wake_event', 'claimed_by', 'run_id', 'task_id', 'available_at', 'state'],
  running: [{ column: 'state', words: ['running'] }],
  timeColumns: ['started_at'],
  ends: [{ column: 'claim_expires_at' }],
  rule: 'claim_expires_at has passed',
  remedy:
    'The next absurd.claim_task of its queue fails the run and schedules the next attempt: run a worker.',
  parts: [
    { columns: ['retry_strategy', 'first_started_at', 'last_attempt_run', 'task_name', 'state'] },
    { columns: ['checkpoint_name', 'owner_run_id', 'task_id', 'state', 'status'] },
  ],
}

const aliveSeconds = 30
const remedy =
  'The Hatchet engine reassigns tasks of workers without heartbeats, and ends tasks past their timeout: check that it is running.'

const hatchet: KnownQueue = {
  name: 'Hatchet',
  version: '0.104.7',
  columns: ['task_inserted_at', 'task_id', 'retry_count', 'worker_id', 'tenant_id', 'timeout_at'],
  running: [{ column: 'worker_id', isNull: false }],
  timeColumns: [],
  ends: [{ column: 'timeout_at' }],
  owners: {
    table: 'Worker',
    key: 'id',
    jobColumn: 'worker_id',
    timeColumn: 'lastHeartbeatAt',
    aliveSeconds,
  },
  rule: 'its worker is missing from "Worker", lastHeartbeatAt + 30 s, or timeout_at has passed',
  remedy,
  parts: [
    { columns: ['readable_status', 'tenant_id', 'external_id'] },
    { columns: ['workflow_run_id', 'step_readable_id', 'workflow_version_id', 'tenant_id'] },
    { columns: ['jobId', 'workflowRunId', 'tenantId', 'status'] },
    { columns: ['workflowVersionId', 'tenantId', 'status'] },
  ],
}

const hatchetStepRuns: KnownQueue = {
  name: 'Hatchet',
  version: '0.104.7',
  columns: ['jobRunId', 'stepId', 'tickerId', 'workerId', 'timeoutAt', 'tenantId', 'status'],
  running: [{ column: 'status', words: ['ASSIGNED', 'RUNNING'] }],
  timeColumns: ['startedAt'],
  ends: [{ column: 'timeoutAt' }],
  owners: { table: 'Worker', key: 'id', jobColumn: 'workerId', timeColumn: 'lastHeartbeatAt', aliveSeconds },
  rule: 'its worker is missing from "Worker", lastHeartbeatAt + 30 s, or timeoutAt has passed',
  remedy,
}

export const databaseQueues: readonly KnownQueue[] = [pgmq, absurd, hatchet, hatchetStepRuns]
