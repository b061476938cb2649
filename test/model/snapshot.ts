// Everything an operator could see of the jobs, in a form in which two stores with other ids and other clocks are equal.
import type pg from 'pg'
import type { EventType } from '../../src/job/event.ts'
import type { Job } from '../../src/job/job.ts'
import type { TableProfile } from '../../src/profile/profile.ts'
import { quoteIdentifier } from '../../src/store/postgres/identifiers.ts'
import { functionSuffix } from '../../src/store/postgres/render.ts'
import { toJob } from '../../src/store/postgres/rows.ts'
import { stepsUntil } from './timing.ts'
import { assertEqual, nameOfJob, nameOfLease, type Pair, type Side } from './two-sides.ts'

export interface Snapshot {
  nowMs: number
  jobs: { job: Job; events: EventType[] }[]
}

/** All rows with one query: a look after every step must cost little. */
export async function readTable(pool: pg.Pool, table: TableProfile, schema: string): Promise<Snapshot> {
  const record = `${quoteIdentifier(schema)}.${quoteIdentifier(`job_record${functionSuffix(table)}`)}`
  const { rows } = await pool.query(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
            (select jsonb_agg(jsonb_build_object('job', ${record}(job.id), 'events', array(
                      select event.type from ${quoteIdentifier(schema)}.events event
                       where event.attachment = $1 and event.job_id = job.id::text order by event.id)) order by job.id)
               from ${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)} job) as jobs`,
    [table.attachment],
  )
  const found = (rows[0].jobs ?? []) as { job: Record<string, unknown>; events: EventType[] }[]
  return {
    nowMs: rows[0].now_ms,
    jobs: found.map(({ job, events }) => ({ job: toJob(job, table), events })),
  }
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
