// What the heartbeat thread calls, apart from the rest of the store: the thread has a heap of its own, and loads this alone.
import { type Lease, leaseKey } from '../../../job/lease.ts'
import type { Policy } from '../../../policy/policy.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { HeartbeatOptions, HeartbeatReport, JobStore } from '../../job-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { toHeartbeatAnswer, toReaperAge } from '../rows/job-rows.ts'
import { policyFromRow, policyToJson } from '../rows/policy-row.ts'
import { splitLeases } from '../rows/split-leases.ts'

export class PostgresHeartbeatStore implements Pick<JobStore, 'heartbeatJobs' | 'readPolicy'> {
  readonly #call: CallQuery
  readonly #table: TableProfile

  constructor(call: CallQuery, table: TableProfile) {
    this.#call = call
    this.#table = table
  }

  async heartbeatJobs(leases: Lease[], { leaseMs, policy }: HeartbeatOptions = {}): Promise<HeartbeatReport> {
    if (leases.length === 0) return { answers: [], reaperAgeMs: null }
    const rows = await this.#call('heartbeat_jobs', [
      ...splitLeases(leases, this.#table.idType),
      leaseMs ?? null,
      policyToJson(policy),
    ])
    const byLease = new Map(rows.map(toHeartbeatAnswer).map((answer) => [leaseKey(answer), answer]))
    return {
      answers: leases.map(({ jobId, leaseId }) => {
        return byLease.get(leaseKey({ jobId, leaseId })) ?? { jobId, leaseId, answer: 'lost' }
      }),
      reaperAgeMs: toReaperAge(rows[0]),
    }
  }

  async readPolicy(): Promise<Policy> {
    const [row] = await this.#call('read_policy', [])
    return policyFromRow(row?.['policy'] as Row)
  }
}
