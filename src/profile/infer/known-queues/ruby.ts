import { HOUR_S, type KnownQueue } from './known-queue.ts'

const page = 'docs/migrate/solid-queue-and-good-job.md'

const solidQueue: KnownQueue = {
  name: 'Solid Queue',
  version: '1.5.0',
  columns: ['process_id', 'job_id', 'created_at'],
  table: /claimed_executions$/,
  running: [],
  timeColumns: ['created_at'],
  ends: [],
  owners: {
    table: 'solid_queue_processes',
    key: 'id',
    jobColumn: 'process_id',
    timeColumn: 'last_heartbeat_at',
    aliveSeconds: 300,
  },
  rule: 'its process is missing from solid_queue_processes, or last_heartbeat_at + 5 min (process_alive_threshold)',
  remedy:
    'A supervisor prunes dead processes and marks their jobs failed, not waiting: run bin/jobs, then retry them from failed_executions.',
  page,
  parts: [{ columns: ['active_job_id', 'class_name', 'arguments', 'concurrency_key', 'queue_name'] }],
}

const goodJob: KnownQueue = {
  name: 'GoodJob',
  version: '4.19.2',
  columns: ['serialized_params', 'active_job_id', 'performed_at', 'finished_at', 'scheduled_at'],
  running: [
    { column: 'performed_at', isNull: false },
    { column: 'finished_at', isNull: true },
  ],
  timeColumns: ['performed_at', 'locked_at'],
  ends: [],
  owners: {
    table: 'good_job_processes',
    key: 'id',
    jobColumn: 'locked_by_id',
    timeColumn: 'updated_at',
    aliveSeconds: 300,
  },
  rule: 'its process is missing from good_job_processes, or updated_at + 5 min',
  remedy:
    'Its advisory lock is released with the connection of its process; any running GoodJob process then cleans up the dead one and performs the job again: start one.',
  page,
}

const que: KnownQueue = {
  name: 'Que',
  version: '2.4.1',
  columns: [
    'error_count',
    'job_class',
    ['last_error_message', 'last_error'],
    'args',
    'run_at',
    'priority',
    'queue',
  ],
  running: null,
  timeColumns: [],
  ends: [],
  rule: 'an advisory lock held by the session of its worker; the row does not change while it runs',
  remedy:
    'Nothing is left behind: the lock is released with the session, and any running Que worker picks up the job.',
}

const delayedJob: KnownQueue = {
  name: 'Delayed Job',
  version: '4.1.11',
  columns: ['handler', 'failed_at', 'locked_at', 'locked_by', 'run_at', 'last_error', 'attempts', 'priority'],
  running: [
    { column: 'locked_at', isNull: false },
    { column: 'failed_at', isNull: true },
  ],
  timeColumns: ['locked_at'],
  ends: [{ column: 'locked_at', plusSeconds: 4 * HOUR_S }],
  rule: 'locked_at + 4 h (Delayed::Worker.max_run_time); no heartbeat',
  remedy:
    'A worker picks it up again after max_run_time. Set Delayed::Worker.max_run_time just above the longest job; a job that runs longer is stopped.',
}

export const rubyQueues: readonly KnownQueue[] = [solidQueue, goodJob, que, delayedJob]
