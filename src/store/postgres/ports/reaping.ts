// Rescues and sweeps of the PostgreSQL store: every verb is one call of a function, or two readings. Nothing is decided here.
import type { TableProfile } from '../../../profile/profile.ts'
import type {
  PageRequest,
  ReclaimPage,
  ReclaimRequest,
  RescueStore,
  StaleJobs,
  StaleRequest,
  SweepPage,
} from '../../ports/rescue-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row } from '../connection/executor.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { toLastSweep, toPastSweep, toReclaim, toStaleJob } from '../rows/rescue-rows.ts'
import { PostgresOperators } from './operating.ts'

export class PostgresRescues extends PostgresOperators implements RescueStore {
  readonly #call: CallQuery

  constructor(call: CallQuery, table: TableProfile) {
    super(call, table)
    this.#call = call
  }

  async listReclaims({ workerId, stage, before, limit }: ReclaimRequest = {}): Promise<ReclaimPage> {
    const params = [workerId ?? null, stage ?? null, before ?? null, limit ?? 100]
    const [row] = await this.#call('list_reclaims', params)
    const page = row?.['page'] as { reclaims: Row[]; next: string | null }
    return { reclaims: page.reclaims.map(toReclaim), next: page.next }
  }

  async listStaleJobs({ isPastTwiceLease, limit, policy }: StaleRequest = {}): Promise<StaleJobs> {
    const params = [isPastTwiceLease ?? false, limit ?? 100, policyToJson(policy)]
    const rows = await this.#call('list_stale_jobs', params)
    return { jobs: rows.map(toStaleJob), count: Number(rows[0]?.['count'] ?? 0) }
  }

  async listSweeps({ before, limit = 100 }: PageRequest = {}): Promise<SweepPage> {
    const rows = await this.#call('list_sweeps', [before ?? null, limit])
    const [last] = await this.#call('read_last_sweep', [])
    const sweeps = rows.map(toPastSweep)
    return {
      last: last === undefined ? null : toLastSweep(last),
      sweeps,
      next: sweeps.length < limit ? null : (sweeps.at(-1)?.sweepId ?? null),
    }
  }
}
