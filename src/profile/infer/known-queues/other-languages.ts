import { HOUR_S, type KnownQueue } from './known-queue.ts'

const river: KnownQueue = {
  name: 'River',
  version: '0.43.0',
  columns: ['finalized_at', 'attempted_by', 'attempted_at', 'kind', 'state', 'max_attempts'],
  running: [{ column: 'state', words: ['running'] }],
  timeColumns: ['attempted_at'],
  ends: [{ column: 'attempted_at', plusSeconds: HOUR_S }],
  rule: 'attempted_at + 1 h (RescueStuckJobsAfter), by age; no heartbeat',
  remedy:
    'The job rescuer of the elected leader retries or discards it: run a client that works jobs, with RescueStuckJobsAfter just above the longest job.',
}

const oban: KnownQueue = {
  name: 'Oban',
  version: '2.23.1',
  columns: ['inserted_at', 'worker', 'args', 'errors', 'queue', 'state', 'attempted_at', 'max_attempts'],
  running: [{ column: 'state', words: ['executing'] }],
  timeColumns: ['attempted_at'],
  ends: [{ column: 'attempted_at', plusSeconds: HOUR_S }],
  rule: 'attempted_at + 1 h (rescue_after of Lifeline), by age; no heartbeat',
  remedy:
    'Oban.Lifeline makes it available again, or discards it after its last attempt. It rescues only if configured: lifeline: [rescue_after: {5, :minutes}].',
}

const procrastinate: KnownQueue = {
  name: 'Procrastinate',
  version: '3.9.0',
  columns: ['queueing_lock', 'task_name', 'lock', 'status', 'attempts', 'queue_name'],
  running: [{ column: 'status', words: ['doing'] }],
  timeColumns: [],
  ends: [],
  owners: {
    table: 'procrastinate_workers',
    key: 'id',
    jobColumn: 'worker_id',
    timeColumn: 'last_heartbeat',
    aliveSeconds: 30,
  },
  rule: 'its worker is missing from procrastinate_workers, or last_heartbeat + 30 s',
  remedy:
    'Nothing by default: add the periodic task from its documentation that calls job_manager.get_stalled_jobs() and retry_job() for each.',
}

const pgqueuer: KnownQueue = {
  name: 'pgqueuer',
  version: '1.3.2',
  columns: ['queue_manager_id', 'entrypoint', 'heartbeat', 'status', 'priority'],
  running: [{ column: 'status', words: ['picked'] }],
  timeColumns: ['heartbeat', 'updated'],
  ends: [{ column: 'heartbeat', plusSeconds: 30 }],
  rule: 'heartbeat + 30 s (heartbeat_timeout)',
  remedy: 'Any running worker of the same entrypoint picks it up again after heartbeat_timeout: start one.',
}

const laravel: KnownQueue = {
  name: 'Laravel',
  version: '12.0.0',
  columns: ['reserved_at', 'available_at', 'queue', 'payload', 'attempts', 'created_at'],
  // Hand-made tables may have these names too, but their times are not numbers.
  epochColumns: ['reserved_at', 'available_at', 'created_at'],
  running: [{ column: 'reserved_at', isNull: false }],
  timeColumns: ['reserved_at'],
  ends: [{ column: 'reserved_at', plusSeconds: 90 }],
  rule: 'reserved_at + 90 s (retry_after of the connection in config/queue.php); no heartbeat',
  remedy:
    'Any running queue:work picks it up again after retry_after, or fails it after its last attempt: start one. Keep retry_after longer than the longest job.',
}

export const otherQueues: readonly KnownQueue[] = [river, oban, procrastinate, pgqueuer, laravel]
