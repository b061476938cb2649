import type { CommandContext } from '../../commands/command.ts'
import { listJobs } from '../../commands/jobs/job-commands.ts'
import { type HeldLease, listLeases } from '../../commands/lease-commands.ts'
import { listBreakers, readHealth, type TableHealth } from '../../commands/queue-control-commands.ts'
import { listWorkers, readSlo } from '../../commands/worker-commands.ts'
import type { Breaker, JobSummary, Slo, WorkerStatus } from '../../store/job-store.ts'
import { type CliContext, databaseNow, valueOf } from '../connection/with-commands.ts'
import { withoutLease } from '../jobs/without-lease.ts'

type OfTable<Value> = { table: string; value: Value }

/** A snapshot. Remaining times are durations: only the database clock counts. */
export interface Snapshot {
  /** By the database. */
  now: Date
  health: OfTable<Omit<TableHealth, 'queues'>>[]
  slo: OfTable<Slo>[]
  running: HeldLease[]
  /** False if more jobs are running than are shown. */
  isComplete: boolean
  /** The newest dead jobs of each table. */
  dead: { table: string; job: JobSummary }[]
  workers: OfTable<WorkerStatus>[]
  breakers: Breaker[]
}

const SHOWN_LEASES = 200
const SHOWN_DEAD = 5
const HOUR_MS = 3_600_000

export async function readSnapshot(context: CommandContext & Pick<CliContext, 'access'>): Promise<Snapshot> {
  const { leases, isComplete } = valueOf(await listLeases(context, { limit: SHOWN_LEASES }))
  const dead: Snapshot['dead'] = []
  for (const { name: table } of context.tables) {
    const page = valueOf(await listJobs(context, { filter: { status: 'dead' }, limit: SHOWN_DEAD, table }))
    dead.push(...page.jobs.map((job) => ({ table, job })))
  }
  const workers = valueOf(await listWorkers(context, {}))
  const health = valueOf(await readHealth(context, {}))
  return {
    now: await databaseNow(context),
    health: health.map(({ table, value: { queues: _queues, ...value } }) => ({ table, value })),
    slo: valueOf(await readSlo(context, {})),
    running: leases.toSorted((a, b) => shareLeft(a.job, 0) - shareLeft(b.job, 0)),
    isComplete,
    dead,
    workers: workers.filter(({ value }) => isHere(value)),
    breakers: valueOf(await listBreakers(context, undefined)),
  }
}

/** A killed worker stays for an hour, as in the dashboard. */
const isHere = ({ state, seenMs }: WorkerStatus) =>
  (state !== 'gone' && state !== 'stopped') || seenMs < (state === 'gone' ? HOUR_MS : HOUR_MS / 60)

/** Remaining share of the lease, from 1 to 0; negative without a valid lease. */
export function shareLeft(job: JobSummary, elapsedMs: number): number {
  const { leaseLeftMs, leaseExpiresAt, heartbeatAt, lastAttemptAt } = job
  const grantedAt = heartbeatAt ?? lastAttemptAt
  if (leaseLeftMs === null || leaseExpiresAt === null || grantedAt === null) return -1
  const wholeMs = Math.max(1, leaseExpiresAt.getTime() - grantedAt.getTime())
  return (leaseLeftMs - elapsedMs) / wholeMs
}

/** JSON output, without lease ids, which are credentials. */
export function publicSnapshot({ running, dead, ...others }: Snapshot) {
  const shown = ({ table, job }: { table: string; job: JobSummary }) => ({ table, ...withoutLease(job) })
  return { ...others, running: running.map(shown), dead: dead.map(shown) }
}
