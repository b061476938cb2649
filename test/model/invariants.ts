// Invariants that hold whatever the model says (correctness.md, I1, I5, I15, C10), read from PostgreSQL itself.
import type pg from 'pg'
import { columnName, type LogicalColumn, type TableProfile } from '../../src/profile/profile.ts'
import { quoteIdentifier, quoteLiteral } from '../../src/store/postgres/render/identifiers.ts'

/** Violations as `rule: job`; none is what is expected. Needs `events: 'all'`. */
export async function findViolations(pool: pg.Pool, table: TableProfile, schema: string): Promise<string[]> {
  // Named, so that it is planned once and not in every run.
  const { rows } = await pool.query<{ rule: string; job: string }>({
    name: 'violations',
    text: violations(table, quoteIdentifier(schema)),
  })
  return rows.map(({ rule, job }) => `${rule}: ${job}`)
}

function violations(table: TableProfile, schema: string): string {
  const column = (name: LogicalColumn) => `job.${quoteIdentifier(columnName(table, name))}`
  const jobs = `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)} job`
  const isRunning = `(${column('status')} in (${table.statuses.running.map(quoteLiteral).join(', ')}))`
  const leaseFields = (['worker_id', 'lease_id', 'lease_expires_at'] as const).map(
    (name) => `${isRunning} <> (${column(name)} is not null)`,
  )
  const story = `(select event.*, count(*) filter (where type = 'queued') over life as generation,
                         lag((data -> 'details' ->> 'fence')::bigint) over claims as fence_before
                    from ${schema}.events event where attachment = ${quoteLiteral(table.attachment)}
                  window life as (partition by job_id order by id),
                         claims as (partition by job_id, type order by id)) event`
  return `
    select 'I15 lease fields are set exactly while the job runs' as rule, ${column('id')}::text as job
      from ${jobs} where ${leaseFields.join(' or ')} or (${column('deadline_at')} is not null and not ${isRunning})
    union all
    select 'I1 at most one completion per job and generation', job_id
      from ${story} where type = 'complete' group by job_id, generation having count(*) > 1
    union all
    select 'I5 a lease id is handed out once per job', job_id
      from ${story} where type = 'processing' group by job_id, data -> 'details' -> 'lease_id' having count(*) > 1
    union all
    select 'I5 fence numbers grow', job_id
      from ${story} where type = 'processing' and (data -> 'details' ->> 'fence')::bigint <= fence_before
  `
}

/** Waiting jobs that no claim would ever take: after one that met all there are none (C10). Of a team's table it takes all. */
export async function findUnclaimable(pool: pg.Pool, table: TableProfile, schema: string): Promise<string[]> {
  if (table.judgesWaiting !== true) return []
  const counts = (['attempt', 'failures', 'crashes', 'timeouts', 'max_attempts'] as const)
    .map((name) => `job.${quoteIdentifier(columnName(table, name))}`)
    .join(', ')
  const engine = quoteIdentifier(schema)
  const { rows } = await pool.query<{ job: string }>({
    name: 'unclaimable',
    text: `select job.${quoteIdentifier(columnName(table, 'id'))}::text as job
       from ${quoteIdentifier(table.schema)}.${quoteIdentifier(table.table)} job,
            ${engine}.policy_of($1) policy
      where job.${quoteIdentifier(columnName(table, 'status'))} = $2
        and not ${engine}.has_budget(policy, ${counts})`,
    values: [table.attachment, table.statuses.waiting],
  })
  return rows.map(({ job }) => job)
}
