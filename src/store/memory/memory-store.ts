// The reference model of the SQL engine, and a store for unit tests: same verbs, same answers, no database.
import { invalidArgument } from '../../errors/index.ts'
import type { Job } from '../../job/job.ts'
import { nativePolicy, type PolicyOverride } from '../../policy/policy.ts'
import type { JobStore } from '../job-store.ts'
import { bindDependencyVerbs } from './dependencies/dependencies.ts'
import { bindDispatchVerbs } from './dispatches.ts'
import { claimJob, claimJobs } from './lifecycle/claim.ts'
import { enqueueJobs } from './lifecycle/enqueue.ts'
import { heartbeatJobs } from './lifecycle/heartbeat.ts'
import { completeJobs, failJobs, releaseJobs } from './lifecycle/outcomes.ts'
import { enterStage, recordLateResult } from './lifecycle/stage.ts'
import { cancelJobs, retryJobs } from './operating/manual.ts'
import { bindOperationVerbs } from './operating/operations.ts'
import { bindOperatorVerbs } from './operating/operators.ts'
import { readHealth } from './reading/health.ts'
import { bindModeVerbs } from './reaping/modes.ts'
import { pruneJobs } from './reaping/prune.ts'
import { bindRescueVerbs } from './reaping/rescues.ts'
import { previewSweep, sweepJobs } from './reaping/sweep.ts'
import { bindScheduleVerbs } from './schedules.ts'
import { createJobIds } from './state/job-id.ts'
import { keepTables } from './state/keep-tables.ts'
import type { MemoryState } from './state/memory-state.ts'
import { emptyRow } from './state/new-job.ts'
import { policyOf } from './state/policy-of.ts'
import { bindWebhookVerbs } from './webhooks.ts'
import { bindWorkerVerbs } from './workers.ts'

export interface MemoryStoreOptions {
  /** Over the native policy. */
  policy?: PolicyOverride
  /** In [0, 1), for jitter and spread. */
  random?: () => number
  /** The clock, in milliseconds since 1970. */
  now?: () => number
  /** What events call the table. */
  table?: string
  /** As of the native table, where absent; false: as of a team's, whose waiting jobs are not compared with a budget (C29). */
  judgesWaiting?: boolean
}

export interface MemoryJobStore extends JobStore {
  /** Moves the store's clock forward. */
  elapse(ms: number): void
  /** Inserts a row in any state, as an old worker or a hand would have left it, and answers its id. */
  plantJob(fields: Partial<Job>): string
  /** Keeps all rows as they are now. The answer brings them back, as a failover to an older replica does. */
  keep(): () => void
}

export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryJobStore {
  const clock = options.now ?? Date.now
  let elapsedMs = 0
  const state: MemoryState = {
    table: options.table ?? 'jobs',
    judgesWaiting: options.judgesWaiting ?? true,
    jobs: new Map(),
    events: new Map(),
    nowMs: () => clock() + elapsedMs,
    random: options.random ?? Math.random,
    createJobId: createJobIds(),
    policy: policyOf(nativePolicy, options.policy),
    eventCount: 0,
    sweptAtMs: null,
    reachedAtMs: null,
    outages: [],
    breakers: new Map(),
    dependencies: new Map(),
    pauses: new Map(),
    keptWorkers: new Map(),
    fullAtMs: new Map(),
    limitUses: new Map(),
    sweeps: [],
    lastSweep: null,
    sweepCount: 0,
    attachedAtMs: clock(),
    schedules: new Map(),
    dispatches: new Map(),
    workers: new Map(),
    webhooks: new Map(),
    deliveries: new Map(),
    operations: new Map(),
    causes: new Map(),
    mode: { mode: 'reap', onForeignSettle: 'record', since: null },
    observations: new Map(),
  }
  return {
    ...bindVerbs(state),
    elapse(ms) {
      if (!(Number.isFinite(ms) && ms >= 0)) throw invalidArgument('ms', ms, 'milliseconds from 0')
      elapsedMs += ms
    },
    plantJob: (fields) => plantJob(state, fields),
    keep: () => keepTables(state),
  }
}

// Each verb is async though none waits: a refused argument is a rejection, as with every store.
function bindVerbs(state: MemoryState): JobStore {
  return {
    ...bindDependencyVerbs(state),
    ...bindScheduleVerbs(state),
    ...bindDispatchVerbs(state),
    ...bindOperationVerbs(state),
    ...bindOperatorVerbs(state),
    ...bindModeVerbs(state),
    ...bindWorkerVerbs(state),
    ...bindWebhookVerbs(state),
    ...bindRescueVerbs(state),
    enqueueJobs: async (jobs, options) => enqueueJobs(state, jobs, options?.policy),
    claimJobs: async (request) => claimJobs(state, request),
    claimJob: async (jobId, request) => claimJob(state, jobId, request),
    heartbeatJobs: async (leases, options = {}) => heartbeatJobs(state, leases, options),
    enterStage: async (lease, stage, options) => enterStage(state, lease, stage, options?.policy),
    completeJobs: async (completions, options = {}) => completeJobs(state, completions, options),
    failJobs: async (failures, options = {}) => failJobs(state, failures, options),
    releaseJobs: async (leases, options = {}) => releaseJobs(state, leases, options),
    cancelJobs: async (jobIds, options = {}) => cancelJobs(state, jobIds, options),
    retryJobs: async (jobIds, options = {}) => retryJobs(state, jobIds, options),
    sweepJobs: async (request = {}) => sweepJobs(state, request),
    previewSweep: async (options = {}) => previewSweep(state, options),
    pruneJobs: async (request = {}) => pruneJobs(state, request),
    recordLateResult: async (lease, details) => recordLateResult(state, lease, details),
    getJob: async (jobId) => structuredClone(state.jobs.get(jobId) ?? null),
    listEvents: async (jobId) => structuredClone(state.events.get(jobId) ?? []),
    readHealth: async (options) => readHealth(state, options?.policy),
    readHidden: async () => null,
    readPolicy: async () => structuredClone(state.policy),
    writePolicy: async (change) => {
      state.policy = policyOf(state.policy, structuredClone(change))
      return structuredClone(state.policy)
    },
  }
}

function plantJob(state: MemoryState, fields: Partial<Job>): string {
  const nowMs = state.nowMs()
  const id = fields.id ?? state.createJobId(nowMs)
  const row = { ...emptyRow(id, new Date(nowMs)), ...structuredClone(fields) }
  state.jobs.set(id, { ...row, queue: fields.queue ?? row.type })
  return id
}
