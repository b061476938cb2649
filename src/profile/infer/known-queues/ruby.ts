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
  rule: 'its process in solid_queue_processes is gone, or last_heartbeat_at + 5 min (process_alive_threshold)',
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
  rule: 'its process in good_job_processes is gone, or updated_at + 5 min',
  remedy:
    'Its advisory lock goes with the connection of its process, and then any running GoodJob process performs it again, after it has cleared away the dead one: start one.',
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
  rule: 'an advisory lock in the session of its worker; its row does not change while it runs',
  remedy: 'Nothing is left behind: the lock goes with the session, and any running Que worker takes the job.',
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
  rule: 'locked_at + 4 h (Delayed::Worker.max_run_time); there is no heartbeat',
  remedy:
    'A worker takes it again once max_run_time is over. Set Delayed::Worker.max_run_time as short as the longest job allows; a job that runs longer is stopped.',
}

export const rubyQueues: readonly KnownQueue[] = [solidQueue, goodJob, que, delayedJob]
