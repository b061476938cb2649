// The PDF converter of document 004: a Prisma model whose fields are camelCase in the client and snake_case in the table.
import { defaultCodes } from '../errors/index.ts'
import { attachedPolicy, type Policy } from '../policy/policy.ts'
import type { Profile } from './profile.ts'

const converterPolicy: Policy = {
  ...attachedPolicy,
  presence: 'off',
  failureBudget: 'attempts',
  maxCrashes: 5,
  maxTimeouts: 5,
  maxRuntimeMs: 0,
  heartbeatMs: 30_000,
  // The interval of the document's worker loop.
  sweepIntervalMs: 2_000,
  reapBackoffStepsMs: [0],
  requeueRatePerS: 0,
  events: 'all',
}

export const converterProfile: Profile = {
  name: 'converter',
  tables: [
    {
      attachment: 'conversion_jobs',
      schema: 'public',
      table: 'conversion_jobs',
      idType: 'text',
      columns: {
        worker_id: 'leased_by',
        attempt: 'attempt_count',
        run_at: 'retry_after',
        error_reason: 'error_message',
      },
      statuses: {
        waiting: 'queued',
        running: ['processing'],
        succeeded: 'completed',
        dead: 'failed',
        cancelled: null,
      },
      defaultType: 'convert',
      ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
      teamEvents: null,
      documentIndexes: [{ name: 'conversion_jobs_status_retry_after_idx', columns: ['status', 'run_at'] }],
      policy: converterPolicy,
    },
  ],
  codes: defaultCodes,
  breakerMode: 'hold',
}
