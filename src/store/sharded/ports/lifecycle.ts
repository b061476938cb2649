// The life of a job: every verb goes to the shard of its id.

import { invalidArgument } from '../../../errors/index.ts'
import type { NewJob } from '../../../job/job.ts'
import type { HeartbeatReport, LifecycleStore, Shard, TxOption } from '../../job-store.ts'
import { ClaimRotation } from '../routing/claim-rotation.ts'
import { askFirst, callParts, readAll } from '../routing/fan-out.ts'
import { groupBy } from '../routing/group-by.ts'
import type { ShardSet } from '../routing/shard-set.ts'

const idOf = ({ jobId }: { jobId: string }) => jobId

export function bindLifecycle<Tx>(shards: ShardSet<Tx>): LifecycleStore<Tx> {
  const rotation = new ClaimRotation(shards)
  const on = <T>(jobId: string, call: (shard: Shard<Tx>) => Promise<T>) => {
    const shard = shards.of(jobId)
    return shards.noted(shard, call(shard))
  }
  return {
    async enqueueJobs(jobs, options = {}) {
      const parts = placesOf(shards, jobs, options)
      return callParts(shards, parts, (shard, part) => shard.store.enqueueJobs(part, options))
    },
    claimJobs: (request) => rotation.claim(request),
    async hasDueJobs(queues) {
      const { answers } = await readAll(shards, ({ store }) => store.hasDueJobs(queues))
      return answers.some(({ answer }) => answer)
    },
    claimJob: (jobId, request) => on(jobId, ({ store }) => store.claimJob(jobId, request)),
    async heartbeatJobs(leases, options) {
      const parts = shards.split(leases, idOf)
      if (parts.size === 0) return askFirst(shards, ({ store }) => store.heartbeatJobs([], options))
      const reports = await Promise.allSettled(
        Array.from(parts, ([shard, { items }]) =>
          shards.noted(shard, shard.store.heartbeatJobs(items, options)),
        ),
      )
      return mergeReports(reports)
    },
    enterStage: (lease, stage, options) =>
      on(lease.jobId, ({ store }) => store.enterStage(lease, stage, options)),
    reportProgress: (reports) =>
      callParts(shards, shards.split(reports, idOf), ({ store }, part) => store.reportProgress(part)),
    completeJobs: (completions, options) =>
      callParts(shards, shards.split(completions, idOf), ({ store }, part) =>
        store.completeJobs(part, options),
      ),
    failJobs: (failures, options) =>
      callParts(shards, shards.split(failures, idOf), ({ store }, part) => store.failJobs(part, options)),
    releaseJobs: (leases, options) =>
      callParts(shards, shards.split(leases, idOf), ({ store }, part) => store.releaseJobs(part, options)),
    recordLateResult: (lease, details) =>
      on(lease.jobId, ({ store }) => store.recordLateResult(lease, details)),
  }
}

/** Jobs of a call stay together unless keys or routes part them, so that they are written all or none. */
function placesOf<Tx>(shards: ShardSet<Tx>, jobs: NewJob[], { tx }: TxOption<Tx>) {
  if (tx !== undefined)
    throw invalidArgument(
      'tx',
      'a transaction of one shard',
      'none: use q.shard(key), which names the shard of the transaction',
    )
  let anywhere: Shard<Tx> | undefined
  return groupBy(jobs, (job) => {
    if (shards.isPlaced(job)) return shards.forJob(job)
    anywhere ??= shards.forJob(job)
    return anywhere
  })
}

/** Leases of a shard that did not answer get no answer: their jobs are at risk, the others go on. */
function mergeReports(reports: PromiseSettledResult<HeartbeatReport>[]): HeartbeatReport {
  const answered = reports.flatMap((report) => (report.status === 'fulfilled' ? [report.value] : []))
  const failed = reports.find((report) => report.status === 'rejected')
  if (answered.length === 0 && failed !== undefined) throw failed.reason
  const ages = answered.flatMap(({ reaperAgeMs }) => (reaperAgeMs === null ? [] : [reaperAgeMs]))
  return {
    answers: answered.flatMap(({ answers }) => answers),
    reaperAgeMs: ages.length < answered.length ? null : Math.max(...ages),
  }
}
