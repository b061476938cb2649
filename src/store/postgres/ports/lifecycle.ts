import { setTimeout } from 'node:timers/promises'
import { jsonText } from '../../../job/json-text.ts'
import type { Lease } from '../../../job/lease.ts'
import type { CompleteOutcome } from '../../../job/outcome.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import type { TableProfile } from '../../../profile/profile.ts'
import type {
  ClaimCursors,
  Completion,
  Failure,
  LifecycleStore,
  ProgressReport,
} from '../../ports/lifecycle-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import type { Row, SqlClient } from '../connection/executor.ts'
import { toClaimedJobs } from '../rows/claimed-jobs.ts'
import { toEnqueuedJobs, toEnteredStage, toFailedJob, toReleasedJob } from '../rows/job-rows.ts'
import { newJobsToJson } from '../rows/new-job-json.ts'
import { policyToJson } from '../rows/policy-row.ts'
import { type SplitLeases, splitLeases } from '../rows/split-leases.ts'
import { storable } from '../rows/values.ts'

/** From this size on, a claim waits for another of the same queues (those of limited queues always do), a few milliseconds at a time, */
const SERIAL_JOBS = 200
/** about as long as the largest claim takes: a session that is stuck never stops a queue. */
const MAX_REFUSALS = 12

export function bindLifecycleVerbs(
  call: CallQuery,
  table: TableProfile,
): Omit<LifecycleStore<SqlClient>, 'heartbeatJobs'> {
  const split = (leases: Lease[]) => splitLeases(leases, table.idType)
  return {
    ...bindAttemptVerbs(call, split),

    async enqueueJobs(jobs, { tx, policy } = {}) {
      if (jobs.length === 0) return []
      return toEnqueuedJobs(await call('enqueue_batch', [...newJobsToJson(jobs), policyToJson(policy)], tx))
    },

    async claimJobs({ workerId, queues, limit, types, leaseMs, policy, actor, cursors, onHeldBack }) {
      if (queues.length === 0) return []
      const names = [...new Set(queues)]
      const params = [workerId, names, limit, types ?? null, leaseMs ?? null, policyToJson(policy)]
      const claim = (isSerial: boolean) =>
        call('claim_jobs', [...params, actor ?? null, cursorsToJson(cursors), isSerial])
      for (let triesLeft = MAX_REFUSALS; triesLeft > 0; triesLeft--) {
        const batches = await claim(limit >= SERIAL_JOBS)
        if (!isRefused(batches)) return toClaimedJobs(batches, onHeldBack)
        await setTimeout(2 + 3 * Math.random())
      }
      return toClaimedJobs(await claim(false), onHeldBack)
    },

    async hasDueJobs(queues) {
      const [row] = await call('has_due_jobs', [queues])
      return row?.['is_due'] === true
    },

    async claimJob(jobId, { workerId, leaseMs, policy }) {
      const rows = await call('claim_job', [jobId, workerId, leaseMs ?? null, policyToJson(policy)])
      return toClaimedJobs(rows)[0] ?? 'not-claimable'
    },

    async completeJobs(completions, { tx, policy, actor } = {}) {
      if (completions.length === 0) return []
      const params = [...oneLease(split(completions), completions), resultTexts(completions)]
      const rows = await call('complete_jobs', [...params, actor ?? null, keepingToJson(policy)], tx)
      // Only other outcomes are returned, so most calls return no row at all.
      const others = new Map(rows.map((row) => [Number(row['place']), row['outcome'] as CompleteOutcome]))
      return completions.map(({ jobId }, index) => ({ jobId, outcome: others.get(index + 1) ?? 'completed' }))
    },

    async failJobs(failures, { tx, policy, actor } = {}) {
      if (failures.length === 0) return []
      const params = [failuresToJson(failures), policyToJson(policy), actor ?? null]
      return (await call('fail_jobs', params, tx)).map(toFailedJob)
    },

    async releaseJobs(leases, options = {}) {
      if (leases.length === 0) return []
      const { delayMs = null, cause = 'release', spreadMs = 0, actor = null, reason = null, tx } = options
      const params = [...split(leases), delayMs, cause, spreadMs, actor, reason]
      return (await call('release_jobs', params, tx)).map(toReleasedJob)
    },
  }
}

/** Verbs of a running attempt. */
function bindAttemptVerbs(
  call: CallQuery,
  split: (leases: Lease[]) => SplitLeases,
): Pick<LifecycleStore, 'enterStage' | 'reportProgress' | 'recordLateResult'> {
  return {
    async enterStage({ jobId, leaseId }, stage, { policy } = {}) {
      const [row] = await call('enter_stage', [jobId, leaseId, stage, policyToJson(policy)])
      return toEnteredStage(row ?? {})
    },

    async reportProgress(reports) {
      if (reports.length === 0) return []
      const rows = await call('report_progress', [...split(reports), ...progressTexts(reports)])
      return rows.map((row) => row['is_kept'] === true)
    },

    async recordLateResult({ jobId, leaseId }, details) {
      const [row] = await call('record_late_result', [jobId, leaseId, jsonText('details', details)])
      return row?.['is_recorded'] === true
    },
  }
}

const isRefused = ([first, ...others]: Row[]) => first?.['priority'] === null && others.length === 0

function cursorsToJson(cursors: ClaimCursors | undefined): string | null {
  if (cursors === undefined || cursors.size === 0) return null
  const entries = Array.from(cursors, ([queue, times]) => [queue, Object.fromEntries(times)])
  return JSON.stringify(Object.fromEntries(entries))
}

/** The lease is sent once if it is the same for all. */
function oneLease([ids, leaseIds]: SplitLeases, [first, ...rest]: Lease[]): SplitLeases {
  return [ids, rest.every(({ leaseId }) => leaseId === first?.leaseId) ? `{${first?.leaseId}}` : leaseIds]
}

/** Almost always null: the server then need not merge policies. */
function keepingToJson({ keepCompleted, typeKeepCompleted }: PolicyOverride = {}): string | null {
  return policyToJson({ keepCompleted, typeKeepCompleted } as PolicyOverride)
}

function resultTexts(completions: Completion[]): (string | null)[] | null {
  if (completions.every(({ result }) => result === undefined)) return null
  return completions.map(({ result }) => (result === undefined ? null : jsonText('result', result)))
}

function failuresToJson(failures: Failure[]): string {
  // A message cut inside an emoji, or with a NUL, must not keep a job from failing.
  const cleaned = (message: string | undefined) => (message === undefined ? undefined : storable(message))
  const entries = failures.map((failure) => ({
    id: failure.jobId,
    lease_id: failure.leaseId,
    code: cleaned(failure.code),
    reason: cleaned(failure.reason),
    category: failure.category,
    stack: cleaned(failure.stack),
    is_retryable: failure.isRetryable,
    retry_in_ms: failure.retryInMs,
    backoff_steps_ms: failure.backoffStepsMs,
    max_attempts: failure.maxAttempts,
    cause: failure.cause,
  }))
  return jsonText('failures', entries)
}

function progressTexts(reports: ProgressReport[]): [values: string[], texts: (string | null)[]] {
  return [reports.map(({ value }) => String(value)), reports.map(({ text }) => text)]
}
