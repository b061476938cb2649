// Everything an operator could see of the jobs, in a form in which two stores with other ids and other clocks are equal.
import type pg from 'pg'
import type { EventType } from '../../src/job/event.ts'
import type { Job } from '../../src/job/job.ts'
import type { TableProfile } from '../../src/profile/profile.ts'
import { quoteIdentifier } from '../../src/store/postgres/render/identifiers.ts'
import { functionSuffix } from '../../src/store/postgres/render/render.ts'
import { toJob } from '../../src/store/postgres/rows/job-rows.ts'
import { stepsUntil } from './timing.ts'
import { assertEqual, nameOfJob, nameOfLease, type Pair, type Side } from './two-sides.ts'

export interface Snapshot {
  nowMs: number
  jobs: { job: Job; events: EventType[] }[]
}

interface RowVersion {
  id: string
  version: string
  job: Job
}

/**
 * Reads the table again and again: a look after every step must cost little, and the record of a job is most of it. So only
 * rows that were written since the last look are read whole; which these are, PostgreSQL's own version of the row says.
 */
export function createTableReader({ pool, table, schema }: ReadOptions): () => Promise<Snapshot> {
  const text = readStatement(table, schema)
  let known = new Map<string, RowVersion>()
  return async () => {
    const values = [table.attachment, [...known.values()].map(({ id, version }) => `${id} ${version}`)]
    const { rows } = await pool.query<FoundRow>({ name: 'read_table', text, values })
    const read = rows.map(({ id, version, job }) => {
      const before = known.get(id)
      if (job !== null) return { id, version, job: toJob(job, table) }
      if (before === undefined) throw new Error(`job ${id} was never read`)
      return before
    })
    known = new Map(read.map((row) => [row.id, row]))
    const nowMs = rows[0]?.now_ms ?? 0
    return { nowMs, jobs: read.map(({ job }, index) => ({ job, events: rows[index]?.events ?? [] })) }
  }
}

interface ReadOptions {
  pool: pg.Pool
  table: TableProfile
  schema: string
}

interface FoundRow {
  now_ms: number
  id: string
  version: string
  /** Null where the version is the known one. */
  job: Record<string, unknown> | null
  events: EventType[]
}

function readStatement(table: TableProfile, schema: string): string {
  const engine = quoteIdentifier(schema)
  const record = `${engine}.${quoteIdentifier(`job_record${functionSuffix(table)}`)}`
  return `
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, job.id::text as id, job.xmin::text as version,
           case when job.id::text || ' ' || job.xmin::text <> all ($2::text[]) then ${record}(job.id) end as job,
           array(select event.type from ${engine}.events event
                  where event.attachment = $1 and event.job_id = job.id::text order by event.id) as events
      from ${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)} job order by job.id`
}

export async function assertSameState({ model, system }: Pair): Promise<void> {
  const expected = describe(model, await model.read())
  const actual = describe(system, await system.read())
  for (const [index, job] of actual.entries())
    assertEqual(model, `the state of ${job.name}`, job, expected[index])
  assertEqual(
    model,
    'the jobs there are',
    actual.map(({ name }) => name),
    expected.map(({ name }) => name),
  )
}

function describe(side: Side, { nowMs, jobs }: Snapshot) {
  const steps = (at: Date | null) => (at === null ? null : stepsUntil(at.getTime(), nowMs))
  return jobs.map(({ job, events }) => {
    const { id, leaseId, finishedLeaseId, ...rest } = job
    return {
      name: nameOfJob(side, id),
      ...rest,
      lease: nameOfLease(side, id, leaseId),
      finishedLease: nameOfLease(side, id, finishedLeaseId),
      createdAt: steps(job.createdAt),
      updatedAt: steps(job.updatedAt),
      queuedAt: steps(job.queuedAt),
      runAt: steps(job.runAt),
      startedAt: steps(job.startedAt),
      finishedAt: steps(job.finishedAt),
      lastAttemptAt: steps(job.lastAttemptAt),
      leaseExpiresAt: steps(job.leaseExpiresAt),
      heartbeatAt: steps(job.heartbeatAt),
      deadlineAt: steps(job.deadlineAt),
      cancelRequestedAt: steps(job.cancelRequestedAt),
      reapedAt: steps(job.reapedAt),
      events,
    }
  })
}
