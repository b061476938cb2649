// The indexes of a partitioned table, which PostgreSQL cannot build as a whole without blocking writers.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { featureNames } from '../../../src/profile/profile.ts'
import { migrateDown, migrateStatus, migrateUp } from '../../../src/store/postgres/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { describeSchema } from '../describe.ts'
import { clipWords, teamProfile } from '../team-table.ts'

let database: TestDatabase
let before: string[]
beforeEach(async () => {
  database = await createTestDatabase()
  await database.pool.query(`
    create table team_jobs (id uuid, status text not null default 'queued', created_at timestamptz default now(),
                            primary key (id, created_at)) partition by range (created_at);
    create table old_jobs partition of team_jobs for values from (minvalue) to ('2020-01-01');
    create table new_jobs partition of team_jobs for values from ('2020-01-01') to ('2100-01-01');
    insert into team_jobs (id) select gen_random_uuid() from generate_series(1, 100)`)
  before = await describeSchema(database.pool, 'public')
})
afterEach(() => database.drop())

const target = () => ({
  databaseUrl: database.url,
  schema: 'unstuck',
  profile: teamProfile({}),
  features: featureNames,
})

/** Indexes of one partition: five of every table, and two of groups. */
const INDEXES = 7

interface Index {
  name: string
  is_valid: boolean
}

/** Those of the table and of all its partitions, but for the keys. */
async function indexes(): Promise<Index[]> {
  const { rows } = await database.pool.query<Index>(
    `select indexrelid::regclass::text as name, indisvalid as is_valid from pg_index
       join pg_class on pg_class.oid = indrelid
      where relnamespace = 'public'::regnamespace and not indisprimary order by 1`,
  )
  return rows
}

it('OPS-7 each index is put together from those of the partitions, and is valid', async () => {
  const steps: string[] = []
  await migrateUp({ ...target(), onStep: (step) => steps.push(step) })
  const built = await indexes()
  expect(built).toHaveLength(INDEXES * 3)
  expect(built.filter(({ is_valid: isValid }) => !isValid)).toEqual([])
  expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
})

it('OPS-7 a partition that comes later has them too', async () => {
  await migrateUp(target())
  await database.pool.query(
    `create table later_jobs partition of team_jobs for values from ('2100-01-01') to ('2200-01-01')`,
  )
  expect(await indexes()).toHaveLength(INDEXES * 4)
  await migrateUp(target())
  expect(await indexes()).toHaveLength(INDEXES * 4)
  expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
})

it('OPS-7 an index that a failed build left invalid is built again, and the others are kept', async () => {
  await migrateUp(target())
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class where relname like 'unstuck_team_ready_p%' order by 1`,
  )
  const [first, second] = rows.map(({ name }) => name)
  // As a run leaves it that was stopped while it built the second one.
  await database.pool.query(`
    drop index unstuck_team_ready;
    create index unstuck_team_ready on only team_jobs
      ((coalesce(queue, type)), priority, ((group_key is not null)::int), (coalesce(run_at, created_at)), id) where status = 'queued';
    create index ${first} on old_jobs
      ((coalesce(queue, type)), priority, ((group_key is not null)::int), (coalesce(run_at, created_at)), id) where status = 'queued';
    create index ${second} on new_jobs (id);
    update pg_index set indisvalid = false where indexrelid = '${second}'::regclass`)
  expect(await migrateStatus(target())).toMatchObject({ isCurrent: false })
  await migrateUp(target())
  expect((await indexes()).filter(({ is_valid: isValid }) => !isValid)).toEqual([])
  expect(await migrateStatus(target())).toMatchObject({ isCurrent: true })
})

it('OPS-5 everything comes off, also an index that was built for a partition and not yet for the whole', async () => {
  await migrateUp(target())
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class where relname like 'unstuck_team_dead_p%' order by 1 limit 1`,
  )
  await database.pool.query(`
    drop index unstuck_team_dead;
    create index ${rows[0]?.name} on old_jobs (id) where status = 'failed'`)
  await migrateDown({ databaseUrl: database.url, schema: 'unstuck' })
  expect(await describeSchema(database.pool, 'public')).toEqual(before)
  expect(await indexes()).toEqual([])
})

it('OPS-2 retention deletes no waiting job that has the id of a finished one in another partition', async () => {
  await migrateUp(target())
  await database.pool.query(`
    select unstuck.set_mode__team('reap');
    truncate team_jobs;
    insert into team_jobs (id, status, created_at)
      select id, status, ended_at from gen_random_uuid() id,
             (values ('${clipWords.succeeded}', '2019-01-01'::timestamptz), ('queued', now())) job(status, ended_at)`)
  await database.pool.query('select unstuck.prune_jobs__team(1)')
  const { rows } = await database.pool.query('select status from team_jobs')
  expect(rows).toEqual([{ status: 'queued' }])
})

it('LEASE-1 a claim grants the job that it locked, and none at the same place in another partition', async () => {
  await database.pool.query(
    `truncate team_jobs; insert into team_jobs (id, created_at) values (gen_random_uuid(), '2019-01-01'),
       (gen_random_uuid(), now())`,
  )
  await migrateUp(target())
  await database.pool.query(`select unstuck.set_mode__team('enforce')`)
  const places = await database.pool.query('select count(distinct ctid)::int as places from team_jobs')
  expect(places.rows).toEqual([{ places: 1 }])
  const claimed = await database.pool.query(
    `select * from unstuck.claim_jobs__team('w', array(select distinct type from team_jobs), 1)`,
  )
  expect(claimed.rows).toHaveLength(1)
  const running = await database.pool.query(
    `select id from team_jobs where worker_id = 'w' and status <> 'queued'`,
  )
  expect(running.rows).toEqual([{ id: claimed.rows[0].id }])
})
