// Running leases, and the verbs of a worker that speaks HTTP. A lost lease is refused as LEASE_LOST.
import type { JsonValue } from '../job/job.ts'
import type { ClaimedJob, Lease } from '../job/lease.ts'
import type { RefusedOutcome } from '../job/outcome.ts'
import type { Failure, HeartbeatReport, JobSummary, ProgressReport } from '../store/job-store.ts'
import { command, done, findTable, findTables, jobNotFound, policyOf, refused } from './command.ts'
import { given } from './given.ts'
import { fillPage } from './jobs/fill-page.ts'

export interface HeldLease {
  table: string
  job: JobSummary
}

/** Running jobs of one table, or of all. */
export const listLeases = command(
  'listLeases',
  async (context, { limit, table: name }: { limit: number; table?: string | undefined }) => {
    const { owner } = context.actor
    const tables = findTables(context, name)
    if (!tables.isDone) return tables
    const leases: HeldLease[] = []
    let isComplete = true
    for (const table of tables.value) {
      const room = limit - leases.length
      if (room === 0) {
        isComplete = false
        break
      }
      const filter = { status: 'running', ...given({ owner }) } as const
      const page = await fillPage(table.store, filter, { limit: room })
      leases.push(...page.jobs.map((job) => ({ table: table.name, job })))
      if (page.next !== null) isComplete = false
    }
    return done<{ leases: HeldLease[]; isComplete: boolean }>({ leases, isComplete })
  },
)

export interface ClaimInput {
  workerId: string
  queues: string[]
  limit: number
  types?: string[] | undefined
  leaseMs?: number | undefined
  table?: string | undefined
}

export const claimJobs = command('claimJobs', async (context, input: ClaimInput) => {
  const { workerId, queues, limit, types, leaseMs } = input
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const jobs = await table.value.store.claimJobs({
    workerId,
    queues,
    limit,
    ...given({ types, leaseMs }),
    ...policyOf(context),
    actor: context.actor.id,
  })
  return done<{ table: string; jobs: ClaimedJob[] }>({ table: table.value.name, jobs })
})

export interface HeartbeatInput {
  leases: Lease[]
  leaseMs?: number | undefined
  table?: string | undefined
}

/** Each lease gets its own answer: a lost one does not refuse the others. */
export const heartbeatJobs = command('heartbeatJobs', async (context, input: HeartbeatInput) => {
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const { leases, leaseMs } = input
  const options = { ...given({ leaseMs }), ...policyOf(context) }
  return done<HeartbeatReport>(await table.value.store.heartbeatJobs(leases, options))
})

/** Whether each was kept: false if its lease is lost, or its row locked for the moment. */
export const reportProgress = command(
  'reportProgress',
  async (context, input: { reports: ProgressReport[]; table?: string | undefined }) => {
    const table = findTable(context, input.table)
    if (!table.isDone) return table
    return done<boolean[]>(await table.value.store.reportProgress(input.reports))
  },
)

export interface EndedLease {
  id: string
  outcome: string
  retryInMs?: number | null
}

export interface CompleteInput extends Lease {
  result?: JsonValue | undefined
  table?: string | undefined
}

export const completeJob = command('completeJob', async (context, input: CompleteInput) => {
  const { jobId, leaseId, result } = input
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const completion = { jobId, leaseId, ...given({ result }) }
  const options = { ...policyOf(context), actor: context.actor.id }
  const [ended] = await table.value.store.completeJobs([completion], options)
  return endOf(jobId, ended?.outcome)
})

export const failJob = command(
  'failJob',
  async (context, input: { failure: Failure; table?: string | undefined }) => {
    const table = findTable(context, input.table)
    if (!table.isDone) return table
    const options = { ...policyOf(context), actor: context.actor.id }
    const [ended] = await table.value.store.failJobs([input.failure], options)
    return endOf(input.failure.jobId, ended?.outcome, ended?.retryInMs ?? null)
  },
)

export interface ReleaseInput extends Lease {
  delayMs?: number | undefined
  cause?: 'release' | 'interruption' | undefined
  reason?: string | undefined
  table?: string | undefined
}

export const releaseJob = command('releaseJob', async (context, input: ReleaseInput) => {
  const { jobId, leaseId, delayMs, cause, reason } = input
  const table = findTable(context, input.table)
  if (!table.isDone) return table
  const options = { ...given({ delayMs, cause, reason }), actor: context.actor.id }
  const [ended] = await table.value.store.releaseJobs([{ jobId, leaseId }], options)
  return endOf(jobId, ended?.outcome, ended?.retryInMs ?? null)
})

/** `already-done` is a success: the same lease ended the job before, and the answer was lost. */
function endOf(id: string, outcome: string | undefined, retryInMs?: number | null) {
  if (outcome === ('lease-lost' satisfies RefusedOutcome))
    return refused('LEASE_LOST', `job ${id}: this is not its current lease`)
  if (outcome === undefined || outcome === ('not-found' satisfies RefusedOutcome)) return jobNotFound(id)
  return done<EndedLease>({ id, outcome, ...given({ retryInMs }) })
}
