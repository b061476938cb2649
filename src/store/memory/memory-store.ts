// The reference model of the SQL engine, and a store for tests: the same verbs and outcomes, without a database.
import { randomUUID } from 'node:crypto'
import { invalidArgument } from '../../errors/index.ts'
import type { Job } from '../../job/job.ts'
import { nativePolicy, type PolicyOverride } from '../../policy/policy.ts'
import { notSupported } from '../capability.ts'
import type {
  JobStore,
  LifecycleStore,
  OperatingStore,
  ReadingStore,
  ReapingStore,
  StoreCapability,
} from '../job-store.ts'
import type { LocalStore } from '../local-store.ts'
import { bindDependencyVerbs } from './dependencies/dependencies.ts'
import { bindDispatchVerbs } from './dispatches.ts'
import { claimJob, claimJobs, hasDueJobs } from './lifecycle/claim.ts'
import { enqueueJobs } from './lifecycle/enqueue.ts'
import { heartbeatJobs } from './lifecycle/heartbeat.ts'
import { completeJobs, failJobs, releaseJobs } from './lifecycle/outcomes.ts'
import { readProgress, reportProgress } from './lifecycle/progress.ts'
import { enterStage, recordLateResult } from './lifecycle/stage.ts'
import { cancelJobs, discardJobs, markCause, retryJobs, runJobsNow } from './operating/manual.ts'
import { bindOperationVerbs } from './operating/operations.ts'
import { readEnds } from './reading/ends.ts'
import { readHealth } from './reading/health.ts'
import { readJobFacts } from './reading/job-facts.ts'
import { findJobIds, groupDeadJobs, listJobs } from './reading/list-jobs.ts'
import { readSlo } from './reading/slo.ts'
import { bindModeVerbs } from './reaping/modes.ts'
import { pruneJobs } from './reaping/prune.ts'
import { listReclaims, listStaleJobs } from './reaping/rescues.ts'
import { previewSweep, sweepJobs } from './reaping/sweep.ts'
import { listSweeps } from './reaping/sweep-history.ts'
import { bindScheduleVerbs } from './schedules.ts'
import { createJobIds } from './state/job-id.ts'
import { JobTable } from './state/job-table.ts'
import { keepTables } from './state/keep-tables.ts'
import type { MemoryState } from './state/memory-state.ts'
import { emptyRow } from './state/new-job.ts'
import { deletionPolicyOf, policyOf } from './state/policy-of.ts'
import { bindWebhookVerbs } from './webhooks.ts'
import { bindWorkerVerbs } from './workers.ts'

export interface MemoryStoreOptions {
  /** Overrides the native policy. */
  policy?: PolicyOverride
  /** In [0, 1), for jitter and spread. Default: `Math.random`. */
  random?: () => number
  /** The clock, in milliseconds since 1970. Default: `Date.now`. */
  now?: () => number
  /** Ids of leases and the ends of job ids: all different. Default: `crypto.randomUUID`. */
  createUuid?: () => string
  /** The table name in events. Default: `jobs`. */
  table?: string
  /** Whether waiting jobs are compared with their budget; a team's own table does not (C29). Default: true. */
  judgesWaiting?: boolean
  /** Workers whose session is gone, with when each vanished (LEASE-10). Default: none, since this store has no sessions. */
  goneWorkers?: () => ReadonlyMap<string, number>
  /** Runs the work of a handler's `tx`, which the store then completes. Default: `tx` throws NOT_SUPPORTED. */
  transaction?: LocalStore['transaction']
}

export interface MemoryJobStore extends LocalStore {
  /** Moves the store's clock forward. */
  elapse(ms: number): void
  /** Inserts a row in any state, as an older worker or a manual edit would leave it. Returns its id. */
  plantJob(fields: Partial<Job>): string
  /** Takes a snapshot of all rows. The returned function restores it, like a failover to an older replica. */
  keep(): () => void
}

const memoryLacks: ReadonlySet<StoreCapability> = new Set([
  'transactions',
  'notify',
  'skip-locked',
  'audit',
  'doctor',
  'attach',
  'trends',
])

export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryJobStore {
  return openMemoryStore(options).store
}

/** The store and its tables, for the simulator, which reads them at every moment. */
export function openMemoryStore(options: MemoryStoreOptions): { store: MemoryJobStore; state: MemoryState } {
  const createUuid = options.createUuid ?? randomUUID
  // Looked up at each call: fake timers replace it.
  const clock = options.now ?? (() => Date.now())
  let elapsedMs = 0
  const state: MemoryState = {
    table: options.table ?? 'jobs',
    judgesWaiting: options.judgesWaiting ?? true,
    jobs: new JobTable(),
    events: new Map(),
    nowMs: () => clock() + elapsedMs,
    random: options.random ?? Math.random,
    createJobId: createJobIds(createUuid),
    createUuid,
    goneWorkers: options.goneWorkers ?? (() => new Map()),
    policy: policyOf(nativePolicy, options.policy),
    eventCount: 0,
    sweptAtMs: null,
    reachedAtMs: null,
    outages: [],
    breakers: new Map(),
    dependencies: new Map(),
    pauses: new Map(),
    queueLimits: new Map(),
    reachedGroups: new Map(),
    dedupeWindows: new Map(),
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
  const store: MemoryJobStore = {
    transaction: options.transaction ?? lackTransactions,
    now: state.nowMs,
    elapse(ms) {
      if (!(Number.isFinite(ms) && ms >= 0)) throw invalidArgument('ms', ms, 'milliseconds from 0')
      elapsedMs += ms
    },
    plantJob: (fields) => plantJob(state, fields),
    keep: () => keepTables(state),
    ...bindVerbs(state),
  }
  return { store, state }
}

// Verbs are async although none waits: an invalid argument is a rejection, as with every store.
function bindVerbs(state: MemoryState): JobStore {
  return {
    lacks: memoryLacks,
    ...bindLifecycleVerbs(state),
    ...bindReapingVerbs(state),
    ...bindReadingVerbs(state),
    ...bindOperatingVerbs(state),
    ...bindDependencyVerbs(state),
    ...bindScheduleVerbs(state),
    ...bindWorkerVerbs(state),
    ...bindModeVerbs(state),
    ...bindDispatchVerbs(state),
    ...bindOperationVerbs(state),
    ...bindWebhookVerbs(state),
    readEnds: async (jobIds) => readEnds(state, jobIds),
    readProgress: async (jobIds) => readProgress(state, jobIds),
    recordTrends: lackTrends,
    countTrends: lackTrends,
    listTrends: lackTrends,
    sumTrends: lackTrends,
  }
}

async function lackTransactions(): Promise<never> {
  throw notSupported('memory', 'transactions')
}

async function lackTrends(): Promise<never> {
  throw notSupported('memory', 'trends')
}

function bindLifecycleVerbs(state: MemoryState): LifecycleStore {
  return {
    enqueueJobs: async (jobs, options) => enqueueJobs(state, jobs, options?.policy),
    claimJobs: async (request) => claimJobs(state, request),
    hasDueJobs: async (queues) => hasDueJobs(state, queues),
    claimJob: async (jobId, request) => claimJob(state, jobId, request),
    heartbeatJobs: async (leases, options = {}) => heartbeatJobs(state, leases, options),
    enterStage: async (lease, stage, options) => enterStage(state, lease, stage, options?.policy),
    reportProgress: async (reports) => reportProgress(state, reports),
    completeJobs: async (completions, options = {}) => completeJobs(state, completions, options),
    failJobs: async (failures, options = {}) => failJobs(state, failures, options),
    releaseJobs: async (leases, options = {}) => releaseJobs(state, leases, options),
    recordLateResult: async (lease, details) => recordLateResult(state, lease, details),
  }
}

function bindReapingVerbs(state: MemoryState): ReapingStore {
  return {
    sweepJobs: async (request = {}) => sweepJobs(state, request),
    previewSweep: async (options = {}) => previewSweep(state, options),
    pruneJobs: async (request = {}) => pruneJobs(state, request),
    listReclaims: async (request = {}) => listReclaims(state, request),
    listStaleJobs: async (request = {}) => listStaleJobs(state, request),
    listSweeps: async (request = {}) => listSweeps(state, request),
  }
}

function bindReadingVerbs(state: MemoryState): ReadingStore {
  return {
    getJob: async (jobId) => structuredClone(state.jobs.get(jobId) ?? null),
    listEvents: async (jobId) => structuredClone(state.events.get(jobId) ?? []),
    listJobs: async (filter = {}, options = {}) => listJobs(state, filter, options),
    findJobIds: async (prefix, limit = 5) => findJobIds(state, prefix, limit),
    readJobFacts: async (jobId, options) => readJobFacts(state, jobId, options?.policy),
    groupDeadJobs: async (options = {}) => groupDeadJobs(state, options),
    readHealth: async (options) => readHealth(state, options),
    readHidden: async () => null,
    readSlo: async (request = {}) => readSlo(state, request),
    readPolicy: async () => structuredClone(state.policy),
  }
}

function bindOperatingVerbs(state: MemoryState): OperatingStore {
  return {
    cancelJobs: async (jobIds, options = {}) => cancelJobs(state, jobIds, options),
    retryJobs: async (jobIds, options = {}) => retryJobs(state, jobIds, options),
    runJobsNow: async (jobIds, options = {}) => runJobsNow(state, jobIds, options),
    discardJobs: async (jobIds, options = {}) => discardJobs(state, jobIds, options),
    markCause: async (causeId, mark) => markCause(state, causeId, mark),
    writePolicy: async (change) => {
      state.policy = deletionPolicyOf(state, structuredClone(change))
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
