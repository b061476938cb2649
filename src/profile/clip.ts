// The clip pipeline of documents 000 and 001: `jobs` and `asr_jobs` beside `job_events(job_id, data)`.
import { attachedPolicy, type Policy } from '../policy/policy.ts'
import type { Profile, TableProfile } from './profile.ts'

const clipPolicy: Policy = {
  ...attachedPolicy,
  presence: 'off',
  attemptCountedAt: 'claim',
  failureBudget: 'attempts',
  reapBudget: 'attempts',
  stageFactors: { clip: 6, asr: 12, burnin: 8 },
  maxRuntimeMs: 0,
  failureBackoffStepsMs: [30_000, 120_000, 600_000],
  failureBackoffJitterMs: 0,
  legacyAgeRule: true,
}

function clipTable(table: string, defaultType: string, defaultStage: string | null): TableProfile {
  return {
    attachment: table,
    schema: 'public',
    table,
    idType: 'uuid',
    columns: {
      worker_id: 'locked_by',
      heartbeat_at: 'last_heartbeat_at',
      attempt: 'attempt_count',
      run_at: 'next_earliest_run_at',
      error_code: 'fail_code',
      error_reason: 'fail_reason',
    },
    statuses: {
      waiting: 'queued',
      running: ['processing'],
      succeeded: 'completed',
      dead: 'failed',
      cancelled: null,
    },
    defaultType,
    // Document 001 adds the column, and its reaper compares it.
    features: ['max-attempts'],
    ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
    teamEvents: { schema: 'public', table: 'job_events', jobIdColumn: 'job_id', dataColumn: 'data' },
    documentIndexes: [{ name: `idx_${table}_status_lease`, columns: ['status', 'lease_expires_at'] }],
    policy: { ...clipPolicy, defaultStage },
  }
}

export const clipProfile: Profile = {
  name: 'clip',
  tables: [clipTable('jobs', 'clip', null), clipTable('asr_jobs', 'asr', 'asr')],
}
