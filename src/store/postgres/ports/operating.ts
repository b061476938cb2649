// What people ask of jobs and do to them, in the PostgreSQL store: every verb is one call of a function.
import type { DiscardOutcome, RunNowOutcome } from '../../../job/outcome.ts'
import type { JobFacts } from '../../../policy/explain-job.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type { ManualOptions, PolicyOption, Settled } from '../../ports/call-options.ts'
import type {
  CauseMark,
  DeadJobGroups,
  GroupOptions,
  JobFilter,
  JobPage,
  ListOptions,
  OperatorStore,
  Slo,
  SloRequest,
} from '../../ports/operator-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row, SqlClient } from '../connection/executor.ts'
import { withCursor } from '../connection/postgres-errors.ts'
import { filterToJson } from '../rows/filter-json.ts'
import { toDeadJobGroup, toJobFacts, toJobSummary, toSlo } from '../rows/operator-rows.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { PostgresOperations } from './operations.ts'

export class PostgresOperators extends PostgresOperations implements OperatorStore<SqlClient> {
  readonly #call: CallQuery
  readonly #table: TableProfile

  constructor(call: CallQuery, table: TableProfile) {
    super(call)
    this.#call = call
    this.#table = table
  }

  async listJobs(filter: JobFilter = {}, options: ListOptions = {}): Promise<JobPage> {
    const { limit = 100, cursor, withPayload = false } = options
    const params = [filterToJson(filter), limit, cursor ?? null, withPayload]
    const [row] = await withCursor(cursor, () => this.#call('list_jobs', params))
    const page = row?.['page'] as { jobs: Row[]; next: string | null }
    return { jobs: page.jobs.map((job) => toJobSummary(job, this.#table)), next: page.next }
  }

  async findJobIds(prefix: string, limit = 5): Promise<string[]> {
    return (await this.#call('find_job_ids', [prefix, limit])).map((row) => String(row['id']))
  }

  async groupDeadJobs({ limit = 100, owner }: GroupOptions = {}): Promise<DeadJobGroups> {
    const rows = await this.#call('group_dead_jobs', [limit, owner ?? null])
    return { groups: rows.map(toDeadJobGroup), isComplete: rows[0]?.['is_complete'] !== false }
  }

  async markCause(causeId: string, { state, actor, reason }: CauseMark): Promise<void> {
    await this.#call('mark_cause', [causeId, state, actor ?? null, reason ?? null])
  }

  async readJobFacts(jobId: string, { policy }: PolicyOption = {}): Promise<JobFacts | null> {
    const [row] = await this.#call('explain_job', [jobId, policyToJson(policy)])
    const facts = (row?.['facts'] ?? null) as Row | null
    return facts === null ? null : toJobFacts(facts, this.#table)
  }

  async readSlo({ windowMs, pollMs, policy }: SloRequest = {}): Promise<Slo> {
    const params = [windowMs ?? 86_400_000, pollMs ?? 2_000, policyToJson(policy)]
    const [row] = await this.#call('read_slo', params)
    return toSlo(row ?? {})
  }

  async runJobsNow(
    jobIds: string[],
    options: ManualOptions<SqlClient> = {},
  ): Promise<Settled<RunNowOutcome>[]> {
    return this.#act('run_jobs_now', jobIds, options)
  }

  async discardJobs(
    jobIds: string[],
    options: ManualOptions<SqlClient> = {},
  ): Promise<Settled<DiscardOutcome>[]> {
    return this.#act('discard_jobs', jobIds, options)
  }

  async #act<Outcome>(
    name: string,
    jobIds: string[],
    { owner, actor, reason, generation, tx }: ManualOptions<SqlClient>,
  ): Promise<Settled<Outcome>[]> {
    if (jobIds.length === 0) return []
    const params = [jobIds, owner ?? null, actor ?? null, reason ?? null, generation ?? null]
    const rows = await this.#call(name, params, tx)
    return rows.map((row) => ({ jobId: String(row['id']), outcome: row['outcome'] as Outcome }))
  }
}
