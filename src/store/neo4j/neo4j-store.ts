// The store over Neo4j 5: the verbs of the memory store over locked parts of the graph, with the names of document 002.
import type { Driver } from 'neo4j-driver'
import type { Policy, PolicyOverride } from '../../policy/policy.ts'
import { embeddingProfile } from '../../profile/embedding.ts'
import { notSupported } from '../capability.ts'
import type { EnqueuedJob, JobStore } from '../job-store.ts'
import { enqueueJobs } from '../memory/lifecycle/enqueue.ts'
import { heartbeatJobs } from '../memory/lifecycle/heartbeat.ts'
import { completeJobs, failJobs, releaseJobs } from '../memory/lifecycle/outcomes.ts'
import { enterStage, recordLateResult } from '../memory/lifecycle/stage.ts'
import { cancelJobs, retryJobs } from '../memory/operating/manual.ts'
import { createJobIds } from '../memory/state/job-id.ts'
import { policyOf } from '../memory/state/policy-of.ts'
import { checkLabel, DEFAULT_LABEL } from './graph/cypher-files.ts'
import { openGraph } from './graph/graph.ts'
import { neo4jLacks } from './lacks.ts'
import { activeKey, toJob } from './state/job-node.ts'
import { type PartContext, readPart, toEvent } from './state/state-part.ts'
import { createVerbRunner, type VerbRunner } from './state/verb-runner.ts'
import { writePart } from './state/write-part.ts'
import { bindMissingVerbs } from './unsupported.ts'
import { createClaims } from './verbs/claim.ts'
import { bindDependencyVerbs } from './verbs/dependencies.ts'
import { readHealth } from './verbs/lists.ts'
import { bindOperatorVerbs } from './verbs/operators.ts'
import { pruneJobs } from './verbs/prune.ts'
import { previewSweep, sweepJobs } from './verbs/sweep.ts'
import { bindModeVerbs, bindScheduleVerbs, bindWorkerVerbs } from './verbs/workers.ts'

export interface Neo4jStoreOptions {
  driver: Driver
  /** The user's home database where absent. */
  database?: string
  /** Of the job nodes; `EmbeddingJob` where absent. */
  label?: string
  /** Over the policy of document 002, where none was written yet. */
  policy?: PolicyOverride
}

export function createNeo4jStore(options: Neo4jStoreOptions): JobStore {
  const { label = DEFAULT_LABEL } = options
  checkLabel(label)
  const context: PartContext = {
    table: label,
    policy: policyOf(documentPolicy(), options.policy),
    createJobId: createJobIds(),
  }
  const runner = createVerbRunner(openGraph({ ...options, label }), context)
  return {
    lacks: neo4jLacks,
    ...bindMissingVerbs(),
    ...bindModeVerbs(runner),
    ...bindDependencyVerbs(runner),
    ...bindScheduleVerbs(runner),
    ...bindWorkerVerbs(runner),
    ...bindOperatorVerbs(runner),
    ...createClaims(runner),
    ...bindLeaseVerbs(runner),
    ...bindManualVerbs(runner),
    ...bindReadVerbs(runner),
    enqueueJobs: (jobs, { policy, ...others } = {}) => {
      refuseTransaction(others)
      return enqueueOnce(runner, jobs, policy)
    },
    sweepJobs: (request = {}) => sweepJobs(runner, request),
    previewSweep: (request = {}) => previewSweep(runner, request),
    pruneJobs: (request = {}) => pruneJobs(runner, request),
  }
}

function documentPolicy(): Policy {
  return embeddingProfile.tables[0].policy
}

type LeaseVerbs = Pick<
  JobStore,
  'heartbeatJobs' | 'enterStage' | 'completeJobs' | 'failJobs' | 'releaseJobs' | 'recordLateResult'
>

/** What a worker does with what it holds: each locks the jobs that it names, and no other. */
function bindLeaseVerbs({ change }: VerbRunner): LeaseVerbs {
  const idsOf = (leases: { jobId: string }[]) => leases.map(({ jobId }) => jobId)
  return {
    heartbeatJobs: (leases, options = {}) =>
      change({ jobIds: idsOf(leases) }, (state) => heartbeatJobs(state, leases, options)),
    enterStage: (lease, stage, options) =>
      change({ jobIds: [lease.jobId] }, (state) => enterStage(state, lease, stage, options?.policy)),
    completeJobs: async (completions, options = {}) => {
      refuseTransaction(options)
      return change({ jobIds: idsOf(completions) }, (state) => completeJobs(state, completions, options))
    },
    failJobs: async (failures, options = {}) => {
      refuseTransaction(options)
      // A job that a half-open breaker let through may lose no attempt.
      const part = { jobIds: idsOf(failures), kinds: ['breakers', 'dependencies'] as const }
      return change(part, (state) => failJobs(state, failures, options))
    },
    releaseJobs: async (leases, options = {}) => {
      refuseTransaction(options)
      if (leases.length === 0) return []
      const jobIds = idsOf(leases)
      // The wait of a job that goes back again and again grows with the last one, which is in its events.
      const eventsOf = options.reason === undefined ? [] : jobIds
      return change({ jobIds, eventsOf }, (state) => releaseJobs(state, leases, options))
    },
    recordLateResult: (lease, details) =>
      change({ jobIds: [lease.jobId] }, (state) => recordLateResult(state, lease, details)),
  }
}

function bindManualVerbs({ change }: VerbRunner): Pick<JobStore, 'cancelJobs' | 'retryJobs'> {
  return {
    cancelJobs: async (jobIds, options = {}) => {
      refuseTransaction(options)
      return change({ jobIds }, (state) => cancelJobs(state, jobIds, options))
    },
    retryJobs: async (jobIds, options = {}) => {
      refuseTransaction(options)
      return change({ jobIds, withKeyHolders: true }, (state) => retryJobs(state, jobIds, options))
    },
  }
}

type ReadVerbs = Pick<
  JobStore,
  'getJob' | 'listEvents' | 'readHealth' | 'readHidden' | 'readPolicy' | 'writePolicy'
>

function bindReadVerbs(runner: VerbRunner): ReadVerbs {
  const { graph, change, look } = runner
  return {
    getJob: async (jobId, options = {}) => {
      refuseTransaction(options)
      const [row] = await graph.read((run) => run('read_job', { id: jobId }))
      return row === undefined ? null : toJob(row['job'])
    },
    listEvents: async (jobId) => {
      const rows = await graph.read((run) => run('list_events_of', { jobIds: [jobId] }))
      return rows.map(toEvent)
    },
    readHealth: (options) => readHealth(runner, options?.policy),
    readHidden: async () => null,
    readPolicy: () => look({}, (state) => state.policy),
    writePolicy: async (override) => {
      if ((override.dispatch ?? 'off') !== 'off') throw notSupported('Neo4j', 'dispatch')
      return change({ held: [['settings', 'policy']] }, (state) => {
        state.policy = policyOf(state.policy, structuredClone(override))
        return state.policy
      })
    },
  }
}

/** Where an answer got lost the driver asks again: the jobs that are there by then are the answer. */
async function enqueueOnce(
  { graph, context }: VerbRunner,
  jobs: Parameters<JobStore['enqueueJobs']>[0],
  policy: PolicyOverride | undefined,
): Promise<EnqueuedJob[]> {
  const activeKeys = jobs.flatMap(({ type, dedupeKey }) =>
    typeof type === 'string' && typeof dedupeKey === 'string' ? [activeKey(type, dedupeKey)] : [],
  )
  let earlier: EnqueuedJob[] = []
  return graph.write(async (run) => {
    const made = earlier.find(({ outcome }) => outcome === 'created')
    if (made !== undefined && (await run('read_job', { id: made.jobId })).length > 0) return earlier
    const part = await readPart(run, context, { activeKeys })
    earlier = enqueueJobs(part.state, jobs, policy)
    await writePart(run, part)
    return earlier
  })
}

function refuseTransaction(options: { tx?: unknown }): void {
  if (options.tx !== undefined) throw notSupported('Neo4j', 'transactions')
}
