import { dedupeKeyOf } from '../../../job/job-rules.ts'
import type { PolicyOverride } from '../../../policy/policy.ts'
import { notSupported } from '../../capability.ts'
import type { EnqueuedJob, JobStore, LifecycleStore } from '../../job-store.ts'
import { enqueueJobs } from '../../memory/lifecycle/enqueue.ts'
import { heartbeatJobs } from '../../memory/lifecycle/heartbeat.ts'
import { completeJobs, failJobs, releaseJobs } from '../../memory/lifecycle/outcomes.ts'
import { reportProgress } from '../../memory/lifecycle/progress.ts'
import { enterStage, recordLateResult } from '../../memory/lifecycle/stage.ts'
import { activeKey } from '../state/job-node.ts'
import { readPart } from '../state/state-part.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { writePart } from '../state/write-part.ts'
import { refuseDeletion, refuseTransaction } from '../unsupported.ts'
import { createClaims } from './claim.ts'

export function bindLifecycleVerbs(runner: VerbRunner): LifecycleStore {
  return {
    ...createClaims(runner),
    ...bindLeaseVerbs(runner),
    hasDueJobs: async () => {
      throw notSupported('Neo4j', 'notify')
    },
    enqueueJobs: (jobs, { policy, ...others } = {}) => {
      refuseTransaction(others)
      return enqueueOnce(runner, jobs, policy)
    },
  }
}

/** Each locks the jobs of its leases, and no others. */
function bindLeaseVerbs({
  change,
}: VerbRunner): Omit<LifecycleStore, 'enqueueJobs' | 'claimJob' | 'claimJobs' | 'hasDueJobs'> {
  const idsOf = (leases: { jobId: string }[]) => leases.map(({ jobId }) => jobId)
  return {
    heartbeatJobs: (leases, options = {}) =>
      change({ jobIds: idsOf(leases) }, (state) => heartbeatJobs(state, leases, options)),
    enterStage: (lease, stage, options) =>
      change({ jobIds: [lease.jobId] }, (state) => enterStage(state, lease, stage, options?.policy)),
    reportProgress: (reports) =>
      change({ jobIds: idsOf(reports) }, (state) => reportProgress(state, reports)),
    completeJobs: async (completions, options = {}) => {
      refuseTransaction(options)
      refuseDeletion(options.policy)
      return change({ jobIds: idsOf(completions) }, (state) => completeJobs(state, completions, options))
    },
    failJobs: async (failures, options = {}) => {
      refuseTransaction(options)
      // A probe of a half-open breaker may not cost an attempt.
      const part = { jobIds: idsOf(failures), kinds: ['breakers', 'dependencies'] as const }
      return change(part, (state) => failJobs(state, failures, options))
    },
    releaseJobs: async (leases, options = {}) => {
      refuseTransaction(options)
      if (leases.length === 0) return []
      const jobIds = idsOf(leases)
      // With a reason, the delay grows with the last one, which is recorded in the events.
      const eventsOf = options.reason === undefined ? [] : jobIds
      return change({ jobIds, eventsOf }, (state) => releaseJobs(state, leases, options))
    },
    recordLateResult: (lease, details) =>
      change({ jobIds: [lease.jobId] }, (state) => recordLateResult(state, lease, details)),
  }
}

/** The driver repeats a transaction whose answer was lost: the jobs of the first run are then the answer. */
async function enqueueOnce(
  { graph, context }: VerbRunner,
  jobs: Parameters<JobStore['enqueueJobs']>[0],
  policy: PolicyOverride | undefined,
): Promise<EnqueuedJob[]> {
  if (jobs.some(({ dedupe }) => dedupe?.forMs !== undefined || dedupe?.replace === true))
    throw notSupported('Neo4j', 'dedupe-rules')
  if (jobs.some(({ group }) => group !== undefined)) throw notSupported('Neo4j', 'groups')
  const activeKeys = jobs.flatMap((job) => {
    const key = dedupeKeyOf(job)
    return typeof job.type === 'string' && typeof key === 'string' ? [activeKey(job.type, key)] : []
  })
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
