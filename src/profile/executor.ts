// The executor of document 003: `public.executor_jobs` in a Supabase layout, swept by pg_cron. Its only rule compares the age
// of the lock or heartbeat, whichever is newer, with the TTL of the type.
import { attachedPolicy, type Policy } from '../policy/policy.ts'
import type { Profile } from './profile.ts'

const MINUTE_MS = 60_000

const executorPolicy: Policy = {
  ...attachedPolicy,
  presence: 'off',
  attemptCountedAt: 'failure-and-reap',
  failureBudget: 'attempts',
  reapBudget: 'attempts',
  maxAttempts: 10,
  stageLeasesMs: {
    protect_document_v2: 5 * MINUTE_MS,
    'document.protected': 5 * MINUTE_MS,
    build_artifact: 15 * MINUTE_MS,
    run_tsa: 30 * MINUTE_MS,
    submit_anchor_polygon: 60 * MINUTE_MS,
    submit_anchor_bitcoin: 60 * MINUTE_MS,
  },
  // Heartbeats keep a job alive without limit.
  defaultDeadlineMs: 0,
  maxRuntimeMs: 0,
  sweepIntervalMs: 30_000,
  reapBackoffStepsMs: [0],
  requeueRatePerS: 0,
  legacyAgeRule: true,
  legacyAgeStages: 'listed',
}

export const executorProfile: Profile = {
  name: 'executor',
  tables: [
    {
      attachment: 'executor_jobs',
      schema: 'public',
      table: 'executor_jobs',
      idType: 'uuid',
      columns: { worker_id: 'locked_by', last_attempt_at: 'locked_at', attempt: 'attempts' },
      statuses: {
        waiting: 'queued',
        running: ['running', 'processing'],
        succeeded: 'succeeded',
        dead: 'dead',
        cancelled: null,
      },
      defaultType: null,
      ageColumns: ['heartbeat_at', 'last_attempt_at'],
      teamEvents: null,
      hasLockTime: true,
      lastError: {
        column: 'last_error',
        requeued: 'RECLAIMED_TTL: Exceeded TTL ({lease_min} min), taken from {worker_id}',
        dead: 'RECLAIMED_TTL: Exceeded TTL ({lease_min} min). Max attempts reached ({attempt})',
      },
      teamObjects: [
        { kind: 'wrapper', name: 'process_orchestrator_jobs', calls: 'reclaim_stale_jobs', phase: 1 },
        { kind: 'wrapper', name: 'wake_execution_engine', calls: 'reclaim_stale_jobs', phase: 1 },
        { kind: 'function', name: 'reclaim_stale_jobs', phase: 1 },
        { kind: 'function', name: 'update_job_heartbeat', takes: 'uuid, text', phase: 2 },
        { kind: 'view', name: 'jobs_stale_monitor', phase: 3 },
        { kind: 'view', name: 'jobs_stale_validation', phase: 3 },
        { kind: 'view', name: 'jobs_reclaim_history', phase: 3 },
      ],
      documentIndexes: [
        { name: 'executor_jobs_reclaim_idx', columns: ['status', 'last_attempt_at', 'heartbeat_at'] },
      ],
      policy: executorPolicy,
    },
  ],
}
