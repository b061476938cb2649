// The PostgreSQL store: every verb is one call of a function in sql/functions. Nothing is decided here.
import { invalidArgument } from '../../errors/index.ts'
import type { NewJob } from '../../job/job.ts'
import type { Lease } from '../../job/lease.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type {
  Completion,
  Failure,
  JobStore,
  PolicyOption,
  ReaperFacts,
  Settled,
  SweepCursor,
  TxOption,
} from '../job-store.ts'
import { type Executor, type Row, type SqlClient, toExecutor } from './executor.ts'
import { jsonText } from './json-text.ts'
import { policyFromRow, policyToJson } from './policy-row.ts'
import { translated } from './postgres-errors.ts'
import { render } from './render.ts'
import { toClaimedJob, toEvent, toHealth, toHeartbeatAnswer, toJob, toReapedJob } from './rows.ts'
import { readSql } from './sql-files.ts'

export interface PostgresStoreOptions {
  /** A pg pool or client, postgres.js, or anything with `query(text, params)`. */
  client: SqlClient
  table: TableProfile
  schema?: string
}

export function createPostgresStore({
  client,
  table,
  schema = 'unstuck',
}: PostgresStoreOptions): JobStore<SqlClient> {
  const own = toExecutor(client)
  const queries = new Map<string, string>()

  function call(name: string, params: unknown[], tx?: SqlClient): Promise<Row[]> {
    const text = queries.get(name) ?? render(readSql('queries', name), { schema, table })
    queries.set(name, text)
    const executor: Executor = tx === undefined ? own : toExecutor(tx)
    return translated(() => executor.query(text, params))
  }

  async function settle<Outcome>(
    name: string,
    params: unknown[],
    tx?: SqlClient,
  ): Promise<Settled<Outcome>[]> {
    const rows = await call(name, params, tx)
    return rows.map((row) => ({ jobId: String(row['id']), outcome: row['outcome'] as Outcome }))
  }

  return {
    async enqueueJobs(jobs: NewJob[], options: TxOption<SqlClient> & PolicyOption = {}) {
      if (jobs.length === 0) return []
      return settle('enqueue_jobs', [newJobsToJson(jobs), policyToJson(options.policy)], options.tx)
    },

    async claimJobs({ workerId, queues, limit, types, leaseMs, policy }) {
      if (queues.length === 0) return []
      const params = [workerId, queues, limit, types ?? null, leaseMs ?? null, policyToJson(policy)]
      return (await call('claim_jobs', params)).map(toClaimedJob)
    },

    async claimJob(jobId, { workerId, leaseMs, policy }) {
      const [row] = await call('claim_job', [jobId, workerId, leaseMs ?? null, policyToJson(policy)])
      return row === undefined ? 'not-claimable' : toClaimedJob(row)
    },

    async heartbeatJobs(leases, { leaseMs, policy } = {}) {
      if (leases.length === 0) return { answers: [], reaperAgeMs: null }
      const rows = await call('heartbeat_jobs', [...split(leases), leaseMs ?? null, policyToJson(policy)])
      const byLease = new Map(rows.map(toHeartbeatAnswer).map((answer) => [key(answer), answer]))
      const reaperAgeMs = rows[0]?.['reaper_age_ms'] ?? null
      return {
        answers: leases.map((lease) => byLease.get(key(lease)) ?? { ...lease, answer: 'lost' as const }),
        reaperAgeMs: reaperAgeMs === null ? null : Number(reaperAgeMs),
      }
    },

    async completeJobs(completions: Completion[], { tx } = {}) {
      if (completions.length === 0) return []
      const results = completions.map(({ result }) =>
        result === undefined ? null : jsonText('result', result),
      )
      return settle('complete_jobs', [...split(completions), results], tx)
    },

    async failJobs(failures: Failure[], { tx, policy } = {}) {
      if (failures.length === 0) return []
      const rows = await call('fail_jobs', [failuresToJson(failures), policyToJson(policy)], tx)
      return rows.map((row) => ({
        jobId: String(row['id']),
        outcome: row['outcome'] as never,
        retryInMs: row['retry_in_ms'] === null ? null : Number(row['retry_in_ms']),
      }))
    },

    async releaseJobs(leases, { delayMs, cause, tx } = {}) {
      if (leases.length === 0) return []
      return settle('release_jobs', [...split(leases), delayMs ?? null, cause ?? 'release'], tx)
    },

    async cancelJobs(jobIds, { owner, actor, reason, tx } = {}) {
      if (jobIds.length === 0) return []
      return settle('cancel_jobs', [jobIds, owner ?? null, actor ?? null, reason ?? null], tx)
    },

    async retryJobs(jobIds, { owner, generation, keepAttempts, actor, reason, tx } = {}) {
      if (jobIds.length === 0) return []
      const params = [
        jobIds,
        owner ?? null,
        generation ?? null,
        keepAttempts ?? false,
        actor ?? null,
        reason ?? null,
      ]
      return settle('retry_jobs', params, tx)
    },

    async sweepJobs({ reaper, limit, cursor, policy } = {}) {
      const params = [
        reaper === undefined ? null : reaperToJson(reaper),
        limit ?? 1000,
        cursor ?? null,
        policyToJson(policy),
      ]
      const [row] = await call('sweep_jobs', params)
      const step = row?.['step'] as Row
      return {
        reaped: (step['reaped'] as Row[]).map(toReapedJob),
        held: Number(step['held']),
        holdReason: step['hold_reason'] as never,
        sweptAt: String(step['swept_at']),
        next: step['next'] === null ? null : (JSON.stringify(step['next']) as SweepCursor),
      }
    },

    async previewSweep({ limit, policy } = {}) {
      return (await call('preview_sweep', [limit ?? 1000, policyToJson(policy)])).map(toReapedJob)
    },

    async pruneJobs({ retentionDays, limit, cursor } = {}) {
      const [row] = await call('prune_jobs', [retentionDays ?? null, limit ?? 1000, cursor ?? null])
      return { deleted: Number(row?.['deleted']), next: (row?.['next'] ?? null) as string | null }
    },

    async getJob(jobId, { tx } = {}) {
      const [row] = await call('get_job', [jobId], tx)
      const job = (row?.['job'] ?? null) as Row | null
      return job === null ? null : toJob(job, table)
    },

    async listEvents(jobId) {
      return (await call('list_events', [jobId])).map(toEvent)
    },

    async readHealth({ policy } = {}) {
      const [row] = await call('read_health', [policyToJson(policy)])
      return toHealth(row ?? {})
    },

    async readPolicy() {
      const [row] = await call('read_policy', [])
      return policyFromRow(row?.['policy'] as Row)
    },

    async writePolicy(change) {
      const [row] = await call('write_policy', [policyToJson(change) ?? '{}'])
      return policyFromRow(row?.['policy'] as Row)
    },
  }
}

const key = ({ jobId, leaseId }: Lease) => `${jobId} ${leaseId}`

/** Ids and lease ids as two arrays: one statement for all, whatever their number. */
function split(leases: Lease[]): [string[], string[]] {
  return [leases.map(({ jobId }) => jobId), leases.map(({ leaseId }) => leaseId)]
}

function newJobsToJson(jobs: NewJob[]): string {
  const wishes = jobs.map((job) => ({
    type: job.type,
    payload: job.payload,
    queue: job.queue,
    priority: job.priority,
    delay_ms: job.delayMs,
    run_at: validDate(job.runAt)?.toISOString(),
    stage: job.stage,
    expected_duration_ms: job.expectedDurationMs,
    max_attempts: job.maxAttempts,
    owner: job.owner,
    dedupe_key: job.dedupeKey,
    traceparent: job.traceparent,
  }))
  return jsonText('jobs', wishes)
}

function validDate(date: Date | undefined): Date | undefined {
  if (date !== undefined && Number.isNaN(date.getTime())) throw invalidArgument('runAt', date, 'a valid date')
  return date
}

function failuresToJson(failures: Failure[]): string {
  const entries = failures.map((failure) => ({
    id: failure.jobId,
    lease_id: failure.leaseId,
    code: failure.code,
    reason: failure.reason,
    category: failure.category,
    stack: failure.stack,
    is_retryable: failure.isRetryable,
    retry_in_ms: failure.retryInMs,
    cause: failure.cause,
  }))
  return jsonText('failures', entries)
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
