// The embedding jobs of document 002: a table with `lock_owner` and `lock_until`.
import { attachedPolicy, type Policy } from '../policy/policy.ts'
import type { Profile } from './profile.ts'

const embeddingPolicy: Policy = {
  ...attachedPolicy,
  presence: 'off',
  attemptCountedAt: 'failure',
  failureBudget: 'attempts',
  maxCrashes: 5,
  maxTimeouts: 5,
  maxRuntimeMs: 0,
  heartbeatMs: 120_000,
  reapBackoffStepsMs: [0],
  requeueRatePerS: 0,
}

export const embeddingProfile: Profile = {
  name: 'embedding',
  tables: [
    {
      attachment: 'embedding_jobs',
      schema: 'public',
      table: 'embedding_jobs',
      idType: 'uuid',
      columns: {
        worker_id: 'lock_owner',
        lease_expires_at: 'lock_until',
        attempt: 'attempts',
        error_reason: 'error_message',
      },
      statuses: {
        waiting: 'pending',
        running: ['processing'],
        succeeded: 'completed',
        dead: 'failed',
        cancelled: null,
      },
      defaultType: 'embed',
      // The failure columns that the document asks for.
      features: ['errors'],
      ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
      teamEvents: null,
      policy: embeddingPolicy,
    },
  ],
  isPruned: true,
}
