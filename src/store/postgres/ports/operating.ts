import type { RetryOutcome } from '../../../job/outcome.ts'
import type { JobOutcome, ManualOptions } from '../../ports/call-options.ts'
import type { OperatingStore } from '../../ports/operating-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row, SqlClient } from '../connection/executor.ts'
import { toJobOutcome } from '../rows/job-rows.ts'
import { policyFromRow, policyToJson } from '../rows/policy-row.ts'

export function bindOperatingVerbs(call: CallQuery): OperatingStore<SqlClient> {
  const changeBy = (name: string) => {
    return async <Outcome>(
      jobIds: string[],
      { owner, actor, reason, generation, tx }: ManualOptions<SqlClient> = {},
    ): Promise<JobOutcome<Outcome>[]> => {
      if (jobIds.length === 0) return []
      const params = [jobIds, owner ?? null, actor ?? null, reason ?? null, generation ?? null]
      return (await call(name, params, tx)).map(toJobOutcome<Outcome>)
    }
  }
  return {
    cancelJobs: changeBy('cancel_jobs'),
    runJobsNow: changeBy('run_jobs_now'),
    discardJobs: changeBy('discard_jobs'),

    async retryJobs(jobIds, { owner, generation, keepAttempts, actor, reason, tx } = {}) {
      if (jobIds.length === 0) return []
      const by = [actor ?? null, reason ?? null]
      const params = [jobIds, owner ?? null, generation ?? null, keepAttempts ?? false, ...by]
      return (await call('retry_jobs', params, tx)).map(toJobOutcome<RetryOutcome>)
    },

    async markCause(causeId, { state, actor, reason }) {
      await call('mark_cause', [causeId, state, actor ?? null, reason ?? null])
    },

    async writePolicy(change) {
      const [row] = await call('write_policy', [policyToJson(change) ?? '{}'])
      return policyFromRow(row?.['policy'] as Row)
    },
  }
}
