// The PostgreSQL store: every verb is one call of a function in sql/functions. Nothing is decided here.
import type { JobEvent } from '../../job/event.ts'
import type { Job, JsonValue, NewJob } from '../../job/job.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob, Lease } from '../../job/lease.ts'
import type { CancelOutcome, CompleteOutcome, RetryOutcome } from '../../job/outcome.ts'
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type {
  ActorOption,
  ClaimMarks,
  ClaimOneRequest,
  ClaimRequest,
  Completion,
  EnqueuedJob,
  EnteredStage,
  FailedJob,
  Failure,
  Health,
  HeartbeatOptions,
  HeartbeatReport,
  HiddenJobs,
  JobStore,
  ManualOptions,
  PolicyOption,
  PruneRequest,
  PruneStep,
  ReapedJob,
  ReaperFacts,
  ReleasedJob,
  ReleaseOptions,
  RetryOptions,
  Settled,
  SweepRequest,
  SweepStep,
  TxOption,
} from '../job-store.ts'
import { type CallQuery, createCallQuery } from './connection/call-query.ts'
import type { Row, SqlClient } from './connection/executor.ts'
import { PostgresHeartbeatStore } from './ports/heartbeat-store.ts'
import { PostgresModes } from './ports/modes.ts'
import {
  toClaimedJob,
  toEnqueuedJobs,
  toEnteredStage,
  toEvent,
  toFailedJob,
  toHealth,
  toHidden,
  toJob,
  toReapedJob,
  toReleasedJob,
  toSweepStep,
} from './rows/job-rows.ts'
import { newJobToJson } from './rows/new-job-json.ts'
import { policyFromRow, policyToJson } from './rows/policy-row.ts'
import { type SplitLeases, splitLeases } from './rows/split-leases.ts'

/** From here on one long row is cheaper than many. */
const BATCH_JOBS = 100

export interface PostgresStoreOptions {
  /** A pg pool or client, postgres.js, or anything with `query(text, params)`. */
  client: SqlClient
  table: TableProfile
  schema?: string
}

export function createPostgresStore(options: PostgresStoreOptions): JobStore<SqlClient> {
  return new PostgresStore(options)
}

class PostgresStore extends PostgresModes implements JobStore<SqlClient> {
  readonly #call: CallQuery
  readonly #table: TableProfile
  readonly #beats: PostgresHeartbeatStore

  constructor({ client, table, schema = 'unstuck' }: PostgresStoreOptions) {
    const call = createCallQuery(client, { schema, table })
    super(call, table)
    this.#call = call
    this.#table = table
    this.#beats = new PostgresHeartbeatStore(call, table)
  }

  async #settle<Outcome>(name: string, params: unknown[], tx?: SqlClient): Promise<Settled<Outcome>[]> {
    const rows = await this.#call(name, params, tx)
    return rows.map((row) => ({ jobId: String(row['id']), outcome: row['outcome'] as Outcome }))
  }

  #split(leases: Lease[]): SplitLeases {
    return splitLeases(leases, this.#table.idType)
  }

  async enqueueJobs(
    jobs: NewJob[],
    { tx, policy }: TxOption<SqlClient> & PolicyOption = {},
  ): Promise<EnqueuedJob[]> {
    if (jobs.length === 0) return []
    const params = [jsonText('jobs', jobs.map(newJobToJson)), policyToJson(policy)]
    if (jobs.length < BATCH_JOBS) return this.#settle('enqueue_jobs', params, tx)
    return toEnqueuedJobs(await this.#call('enqueue_batch', params, tx))
  }

  async claimJobs(request: ClaimRequest): Promise<ClaimedJob[]> {
    const { workerId, queues, limit, types, leaseMs, policy, actor, marks } = request
    if (queues.length === 0) return []
    const params = [workerId, queues, limit, types ?? null, leaseMs ?? null, policyToJson(policy)]
    return (await this.#call('claim_jobs', [...params, actor ?? null, marksToJson(marks)])).map(toClaimedJob)
  }

  async claimJob(jobId: string, request: ClaimOneRequest): Promise<ClaimedJob | 'not-claimable'> {
    const { workerId, leaseMs, policy } = request
    const [row] = await this.#call('claim_job', [jobId, workerId, leaseMs ?? null, policyToJson(policy)])
    return row === undefined ? 'not-claimable' : toClaimedJob(row)
  }

  heartbeatJobs(leases: Lease[], options: HeartbeatOptions = {}): Promise<HeartbeatReport> {
    return this.#beats.heartbeatJobs(leases, options)
  }

  async enterStage(lease: Lease, stage: string, { policy }: PolicyOption = {}): Promise<EnteredStage> {
    const [row] = await this.#call('enter_stage', [lease.jobId, lease.leaseId, stage, policyToJson(policy)])
    return toEnteredStage(row ?? {})
  }

  async completeJobs(
    completions: Completion[],
    { tx, actor }: TxOption<SqlClient> & ActorOption = {},
  ): Promise<Settled<CompleteOutcome>[]> {
    if (completions.length === 0) return []
    const hasResults = completions.some(({ result }) => result !== undefined)
    const texts = ({ result }: Completion) => (result === undefined ? null : jsonText('result', result))
    const results = hasResults ? completions.map(texts) : null
    const rows = await this.#call('complete_jobs', [...this.#split(completions), results, actor ?? null], tx)
    // The answer names only those that did not complete just now: most calls are answered with no row at all.
    const others = new Map(rows.map((row) => [Number(row['place']), row['outcome'] as CompleteOutcome]))
    return completions.map(({ jobId }, index) => ({ jobId, outcome: others.get(index + 1) ?? 'completed' }))
  }

  async failJobs(
    failures: Failure[],
    { tx, policy, actor }: TxOption<SqlClient> & PolicyOption & ActorOption = {},
  ): Promise<FailedJob[]> {
    if (failures.length === 0) return []
    const params = [failuresToJson(failures), policyToJson(policy), actor ?? null]
    return (await this.#call('fail_jobs', params, tx)).map(toFailedJob)
  }

  async releaseJobs(leases: Lease[], options: ReleaseOptions<SqlClient> = {}): Promise<ReleasedJob[]> {
    if (leases.length === 0) return []
    const { delayMs = null, cause = 'release', spreadMs = 0, actor = null, reason = null, tx } = options
    const params = [...this.#split(leases), delayMs, cause, spreadMs, actor, reason]
    return (await this.#call('release_jobs', params, tx)).map(toReleasedJob)
  }

  async cancelJobs(
    jobIds: string[],
    options: ManualOptions<SqlClient> = {},
  ): Promise<Settled<CancelOutcome>[]> {
    if (jobIds.length === 0) return []
    const { owner, actor, reason, generation, tx } = options
    const params = [jobIds, owner ?? null, actor ?? null, reason ?? null, generation ?? null]
    return this.#settle('cancel_jobs', params, tx)
  }

  async retryJobs(jobIds: string[], options: RetryOptions<SqlClient> = {}): Promise<Settled<RetryOutcome>[]> {
    if (jobIds.length === 0) return []
    const { owner, generation, keepAttempts, actor, reason, tx } = options
    const params = [
      jobIds,
      owner ?? null,
      generation ?? null,
      keepAttempts ?? false,
      actor ?? null,
      reason ?? null,
    ]
    return this.#settle('retry_jobs', params, tx)
  }

  async sweepJobs(request: SweepRequest = {}): Promise<SweepStep> {
    const { reaper, limit, cursor, policy, actor, reason } = request
    const facts = reaper === undefined ? null : reaperToJson(reaper)
    const by = [actor ?? null, reason ?? null]
    const params = [facts, limit ?? 1000, cursor ?? null, policyToJson(policy), ...by]
    const [row] = await this.#call('sweep_jobs', params)
    return toSweepStep(row?.['step'] as Row)
  }

  async previewSweep({ limit, policy }: PolicyOption & { limit?: number } = {}): Promise<ReapedJob[]> {
    return (await this.#call('preview_sweep', [limit ?? 1000, policyToJson(policy)])).map(toReapedJob)
  }

  async pruneJobs({ retentionDays, limit, cursor }: PruneRequest = {}): Promise<PruneStep> {
    const [row] = await this.#call('prune_jobs', [retentionDays ?? null, limit ?? 1000, cursor ?? null])
    return { deleted: Number(row?.['deleted']), next: (row?.['next'] ?? null) as string | null }
  }

  async recordLateResult(lease: Lease, details: { [key: string]: JsonValue }): Promise<boolean> {
    const params = [lease.jobId, lease.leaseId, jsonText('details', details)]
    const [row] = await this.#call('record_late_result', params)
    return row?.['is_recorded'] === true
  }

  async getJob(jobId: string, { tx }: TxOption<SqlClient> = {}): Promise<Job | null> {
    const [row] = await this.#call('get_job', [jobId], tx)
    const job = (row?.['job'] ?? null) as Row | null
    return job === null ? null : toJob(job, this.#table)
  }

  async listEvents(jobId: string): Promise<JobEvent[]> {
    return (await this.#call('list_events', [jobId])).map(toEvent)
  }

  async readHealth({ policy }: PolicyOption = {}): Promise<Health> {
    const [row] = await this.#call('read_health', [policyToJson(policy)])
    return toHealth(row ?? {})
  }

  async readHidden(): Promise<HiddenJobs | null> {
    const [row] = await this.#call('read_hidden', [])
    return toHidden(row?.['hidden'] as Row | null)
  }

  readPolicy(): Promise<Policy> {
    return this.#beats.readPolicy()
  }

  async writePolicy(change: PolicyOverride): Promise<Policy> {
    const [row] = await this.#call('write_policy', [policyToJson(change) ?? '{}'])
    return policyFromRow(row?.['policy'] as Row)
  }
}

function marksToJson(marks: ClaimMarks | undefined): string | null {
  if (marks === undefined || marks.size === 0) return null
  const entries = Array.from(marks, ([queue, times]) => [queue, Object.fromEntries(times)])
  return JSON.stringify(Object.fromEntries(entries))
}

function failuresToJson(failures: Failure[]): string {
  const entries = failures.map((failure) => ({
    id: failure.jobId,
    lease_id: failure.leaseId,
    code: storable(failure.code),
    reason: storable(failure.reason),
    category: failure.category,
    stack: storable(failure.stack),
    is_retryable: failure.isRetryable,
    retry_in_ms: failure.retryInMs,
    cause: failure.cause,
  }))
  return jsonText('failures', entries)
}

/** A message cut inside an emoji, or with a NUL, must not keep a job from failing: PostgreSQL takes neither. */
function storable(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll('\0', '\uFFFD')
}

function reaperToJson({ reaperId, lastSweptAt, elapsedMs, failingForMs }: ReaperFacts): string {
  const facts = {
    reaper_id: reaperId,
    last_swept_at: lastSweptAt,
    elapsed_ms: elapsedMs,
    failing_for_ms: failingForMs,
  }
  return jsonText('reaper', facts)
}
