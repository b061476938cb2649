// Apart from the other ports because the heartbeat thread loads only this: it has a heap of its own.
import { leaseKey } from '../../../job/lease.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { HeartbeatStore } from '../../job-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { toHeartbeatAnswer } from '../rows/job-rows.ts'
import { policyFromRow, policyToJson } from '../rows/policy-row.ts'
import { splitLeases } from '../rows/split-leases.ts'
import { numberOrNull } from '../rows/values.ts'

export function createPostgresHeartbeatStore(call: CallQuery, table: TableProfile): HeartbeatStore {
  return {
    async heartbeatJobs(leases, { leaseMs, policy } = {}) {
      if (leases.length === 0) return { answers: [], reaperAgeMs: null }
      const params = [...splitLeases(leases, table.idType), leaseMs ?? null, policyToJson(policy)]
      const rows = await call('heartbeat_jobs', params)
      const byLease = new Map(rows.map(toHeartbeatAnswer).map((answer) => [leaseKey(answer), answer]))
      return {
        answers: leases.map(({ jobId, leaseId }) => {
          return byLease.get(leaseKey({ jobId, leaseId })) ?? { jobId, leaseId, answer: 'lost' }
        }),
        reaperAgeMs: numberOrNull(rows[0]?.['reaper_age_ms']),
      }
    },

    async showLife(workerId) {
      await call('show_life', [workerId])
    },

    async readPolicy() {
      const [row] = await call('read_policy', [])
      return policyFromRow(row?.['policy'] as Row)
    },
  }
}
