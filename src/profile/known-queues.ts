// Queues that others made, as data: how their job table is known again, which of its rows run, by what each queue judges
// that a worker is gone, and what brings such a job back there. Read from the sources of the versions named; a column that
// an older or newer version does not have is left out of the rule.
import type { Condition, EndRule, OwnerTable } from './scan-target.ts'

export interface KnownQueue {
  name: string
  /** Whose sources the rules below were read from. */
  version: string
  /** Also a POSIX expression: the catalogue is searched with it. */
  table: RegExp
  /** All of them together prove it, in whatever schema. */
  columns: string[]
  running: Condition[]
  /** The newest of them tells when the row was last touched by a worker. */
  timeColumns: string[]
  /** When the queue itself gives the worker up; the earliest counts. */
  ends: EndRule[]
  owners?: OwnerTable
  /** The rule in the words of the queue. */
  rule: string
  /** What would bring a stuck job back. */
  remedy: string
}

const HOUR_S = 3_600

export const knownQueues: readonly KnownQueue[] = [
  {
    name: 'pg-boss',
    version: '12.27.0',
    table: /^job$/,
    columns: ['state', 'name', 'started_on', 'expire_seconds', 'singleton_key', 'retry_limit'],
    running: [{ column: 'state', words: ['active'] }],
    timeColumns: ['heartbeat_on', 'started_on'],
    ends: [
      { column: 'started_on', plusSecondsColumn: 'expire_seconds' },
      { column: 'heartbeat_on', plusSecondsColumn: 'heartbeat_seconds' },
    ],
    rule: 'started_on + expire_seconds (15 min unless set), or heartbeat_on + heartbeat_seconds where that is set',
    remedy:
      'The maintenance of a running pg-boss fails or retries expired jobs: start an instance with supervise on, and give queues a heartbeatSeconds.',
  },
  {
    name: 'graphile-worker',
    version: '0.17.3',
    table: /^(_private_)?jobs$/,
    columns: ['locked_at', 'locked_by', 'attempts', 'max_attempts', 'revision', 'flags'],
    running: [{ column: 'locked_at', isNull: false }],
    timeColumns: ['locked_at'],
    ends: [{ column: 'locked_at', plusSeconds: 4 * HOUR_S }],
    rule: 'locked_at + 4 h; there is no heartbeat',
    remedy:
      'A worker takes it again 4 h after locked_at. Sooner: graphile_worker.force_unlock_workers with the locked_by of the dead worker.',
  },
  {
    name: 'graphile-worker queues',
    version: '0.17.3',
    table: /^(_private_)?job_queues$/,
    columns: ['queue_name', 'locked_at', 'locked_by', 'is_available'],
    running: [{ column: 'locked_at', isNull: false }],
    timeColumns: ['locked_at'],
    ends: [{ column: 'locked_at', plusSeconds: 4 * HOUR_S }],
    rule: 'locked_at + 4 h; no job of the queue runs meanwhile',
    remedy:
      'The queue opens 4 h after locked_at. Sooner: graphile_worker.force_unlock_workers with the locked_by of the dead worker.',
  },
  {
    name: 'River',
    version: '0.43.0',
    table: /^river_job$/,
    columns: ['state', 'attempted_at', 'attempted_by', 'kind', 'finalized_at', 'max_attempts'],
    running: [{ column: 'state', words: ['running'] }],
    timeColumns: ['attempted_at'],
    ends: [{ column: 'attempted_at', plusSeconds: HOUR_S }],
    rule: 'attempted_at + 1 h (RescueStuckJobsAfter), by age; there is no heartbeat',
    remedy:
      'The job rescuer of the elected leader retries or discards it: run a client that works jobs, with RescueStuckJobsAfter as short as the longest job allows.',
  },
  {
    name: 'Oban',
    version: '2.23.0',
    table: /^oban_jobs$/,
    columns: ['state', 'queue', 'worker', 'attempted_at', 'attempted_by', 'max_attempts'],
    running: [{ column: 'state', words: ['executing'] }],
    timeColumns: ['attempted_at'],
    ends: [{ column: 'attempted_at', plusSeconds: HOUR_S }],
    rule: 'attempted_at + 1 h (rescue_after of Lifeline), by age; there is no heartbeat',
    remedy:
      'Oban.Lifeline makes it available again, or discards it after its last attempt. It rescues only where it is configured: lifeline: [rescue_after: {5, :minutes}].',
  },
  {
    name: 'Solid Queue',
    version: '1.5.0',
    table: /^solid_queue_claimed_executions$/,
    columns: ['job_id', 'process_id', 'created_at'],
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
  },
  {
    name: 'GoodJob',
    version: '4.19.2',
    table: /^good_jobs$/,
    columns: ['active_job_id', 'serialized_params', 'performed_at', 'finished_at', 'scheduled_at'],
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
  },
  {
    name: 'procrastinate',
    version: '3.9.0',
    table: /^procrastinate_jobs$/,
    columns: ['status', 'task_name', 'queueing_lock', 'attempts', 'queue_name'],
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
    rule: 'its worker in procrastinate_workers is gone, or last_heartbeat + 30 s',
    remedy:
      'Nothing by itself: add the periodic task of its manual that calls job_manager.get_stalled_jobs() and retry_job() for each.',
  },
  {
    name: 'pgqueuer',
    version: '1.3.2',
    table: /pgqueuer$/,
    columns: ['status', 'entrypoint', 'heartbeat', 'queue_manager_id', 'priority'],
    running: [{ column: 'status', words: ['picked'] }],
    timeColumns: ['heartbeat', 'updated'],
    ends: [{ column: 'heartbeat', plusSeconds: 30 }],
    rule: 'heartbeat + 30 s (heartbeat_timeout)',
    remedy: 'Any running worker of the same entrypoint picks it again after heartbeat_timeout: start one.',
  },
]
