import { HOUR_S, type KnownQueue } from './known-queue.ts'

/** Version 9 has names without underscores, version 10 an interval where later ones have seconds. */
const pgBoss: KnownQueue = {
  name: 'pg-boss',
  version: '12.35.0',
  columns: [
    ['singleton_key', 'singletonkey'],
    ['singleton_on', 'singletonon'],
    ['retry_limit', 'retrylimit'],
    ['started_on', 'startedon'],
    ['keep_until', 'keepuntil'],
    'state',
    'name',
  ],
  running: [{ column: 'state', words: ['active'] }],
  timeColumns: ['heartbeat_on', 'started_on', 'startedon'],
  ends: [
    { column: 'started_on', plusSecondsColumn: 'expire_seconds' },
    { column: 'started_on', plusIntervalColumn: 'expire_in' },
    { column: 'startedon', plusIntervalColumn: 'expirein' },
    { column: 'heartbeat_on', plusSecondsColumn: 'heartbeat_seconds' },
  ],
  rule: 'the start + its expiry (default: 15 min); since version 12 also heartbeat_on + heartbeat_seconds, if set',
  remedy:
    'Every running pg-boss retries or fails expired jobs, unless its supervision is off: start one. Set expireInSeconds to fit the longest job, and since version 12 heartbeatSeconds.',
  page: 'docs/migrate/pg-boss.md',
  parts: [
    { columns: [['archived_on', 'archivedon'], ['singleton_key', 'singletonkey'], 'state', 'name'] },
    { columns: ['table_name', 'command', 'status', 'queue', 'version', 'started_on', 'completed_on'] },
  ],
}

const remedy =
  'after locked_at. Sooner: graphile_worker.force_unlock_workers with the locked_by of the dead worker.'

const graphileWorker: KnownQueue = {
  name: 'graphile-worker',
  version: '0.17.3',
  columns: [
    'revision',
    'flags',
    ['task_id', 'task_identifier'],
    ['job_queue_id', 'queue_name'],
    'key',
    'run_at',
    'locked_at',
    'locked_by',
    'attempts',
    'max_attempts',
  ],
  running: [{ column: 'locked_at', isNull: false }],
  timeColumns: ['locked_at'],
  ends: [{ column: 'locked_at', plusSeconds: 4 * HOUR_S }],
  rule: 'locked_at + 4 h; no heartbeat',
  remedy: `A worker picks it up again 4 h ${remedy}`,
  page: 'docs/migrate/graphile-worker.md',
}

const graphileQueues: KnownQueue = {
  name: 'graphile-worker queues',
  version: '0.17.3',
  columns: ['queue_name', 'locked_at', 'locked_by'],
  table: /job_queues$/,
  running: [{ column: 'locked_at', isNull: false }],
  timeColumns: ['locked_at'],
  ends: [{ column: 'locked_at', plusSeconds: 4 * HOUR_S }],
  rule: 'locked_at + 4 h; until then no job of the queue runs',
  remedy: `The queue is unlocked 4 h ${remedy}`,
  page: 'docs/migrate/graphile-worker.md',
}

export const javascriptQueues: readonly KnownQueue[] = [pgBoss, graphileWorker, graphileQueues]
