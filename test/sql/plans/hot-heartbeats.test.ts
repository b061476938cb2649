// Heartbeats stay HOT: no index holds a column they write, and the page has room (performance.md 5). Without autovacuum,
// so that only the pruning of a page by its next reader makes room. On a server of its own: every backend that starts,
// whatever its database, holds pruning back for a moment, and other tests start many.
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { Profile } from '../../../src/profile/profile.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

const runningJobs = 1_000

interface Table {
  profile: Profile
  applicationSql?: string
  name: string
  suffix: string
  workerColumn: string
  /** Beats come in one statement per worker. */
  workers: number
  fillfactor?: number
}

const native: Table = {
  profile: nativeProfile('unstuck'),
  name: 'unstuck.jobs',
  suffix: '',
  workerColumn: 'worker_id',
  workers: 10,
}
const clip: Table = {
  profile: clipProfile,
  name: 'public.jobs',
  suffix: '__jobs',
  workerColumn: 'locked_by',
  workers: 10,
}
const clipIndex = /create index idx_jobs_status_heartbeat[^;]*;/
const clipWithoutIndex = { ...clip, applicationSql: clipTables.replace(clipIndex, '') }
const clipWithIndex = { ...clip, applicationSql: clipTables }

type Verb = 'beat' | 'report'

describe('the share of HOT heartbeats', () => {
  let server: PostgresServer
  let database: TestDatabase

  beforeAll(async () => {
    const binaries = process.env['UNSTUCK_TEST_BINARIES']
    server = await startPostgres({ persistent: false, settings: { fsync: 'off' }, binaries })
  })
  afterAll(() => server.stop())
  afterEach(() => database.drop())

  async function share(table: Table, ticks: number, verb: Verb = 'beat'): Promise<number> {
    database = await createTestDatabase(server.url)
    const client = await database.connect()
    if (table.applicationSql !== undefined) await client.query(table.applicationSql)
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: table.profile })
    await client.query(`alter table ${table.name} set (autovacuum_enabled = off)`)
    if (table.fillfactor !== undefined)
      await client.query(`alter table ${table.name} set (fillfactor = ${table.fillfactor})`)
    await client.query(`select from unstuck.enqueue_jobs${table.suffix}(
      (select jsonb_agg(jsonb_build_object('type', 'clip', 'payload', jsonb_build_object('clip', n)))
         from generate_series(1, ${runningJobs}) n))`)
    await client.query(`select from generate_series(1, ${table.workers}) n,
      unstuck.claim_jobs${table.suffix}('w' || n, array['clip'], ${runningJobs / table.workers})`)
    const claims = await readHotUpdates(client, table.name, runningJobs)
    await client.query(tickSql(table, ticks, verb))
    const both = await readHotUpdates(client, table.name, runningJobs + ticks * runningJobs)
    return (both - claims) / (ticks * runningJobs)
  }

  const callOf = (verb: Verb, suffix: string) =>
    verb === 'beat'
      ? `unstuck.heartbeat_jobs${suffix}(v_ids, v_lease_ids)`
      : `unstuck.report_progress${suffix}(v_ids, v_lease_ids,
           array_fill(tick / ${1_000}.0::float8, array[cardinality(v_ids)]),
           array_fill('page ' || tick, array[cardinality(v_ids)]))`

  /** Every worker beats for all its jobs in a transaction of its own. */
  const tickSql = ({ name, suffix, workerColumn, workers }: Table, ticks: number, verb: Verb) => `
    do $$
    declare
      v_workers jsonb := (select jsonb_agg(jsonb_build_object('ids', ids, 'lease_ids', lease_ids))
                            from (select array_agg(id) as ids, array_agg(lease_id) as lease_ids
                                    from ${name} group by ${workerColumn}) worker);
      v_ids uuid[];
      v_lease_ids uuid[];
    begin
      for tick in 1..${ticks} loop
        for worker in 0..${workers - 1} loop
          v_ids := array(select jsonb_array_elements_text(v_workers -> worker -> 'ids'));
          v_lease_ids := array(select jsonb_array_elements_text(v_workers -> worker -> 'lease_ids'));
          perform ${callOf(verb, suffix)};
          commit;
        end loop;
      end loop;
    end
    $$`

  /** A session tells its counts up to ten seconds late, or when it is asked to (PostgreSQL 15 and newer). */
  async function readHotUpdates(client: pg.Client, name: string, updates: number): Promise<number> {
    return vi.waitFor(
      async () => {
        const { rows } = await client.query<{ all: string; hot: string; can_flush: boolean }>(
          `select pg_stat_get_tuples_updated('${name}'::regclass) as all,
                  pg_stat_get_tuples_hot_updated('${name}'::regclass) as hot,
                  to_regproc('pg_stat_force_next_flush') is not null as can_flush`,
        )
        if (rows[0]?.can_flush) await client.query('select pg_stat_force_next_flush()')
        expect(Number(rows[0]?.all)).toBe(updates)
        return Number(rows[0]?.hot)
      },
      { timeout: 30_000, interval: 50 },
    )
  }

  it('LEASE-4 is over 95 % after 200 ticks of 1,000 jobs of the native table', async () => {
    expect(await share(native, 200)).toBeGreaterThan(0.95)
  }, 120_000)

  it('LEASE-4 is over 95 % after 200 ticks of 1,000 jobs of a team’s table', async () => {
    expect(await share(clipWithoutIndex, 200)).toBeGreaterThan(0.95)
  }, 120_000)

  it('LEASE-8 is over 95 % for reports of progress, as for heartbeats', async () => {
    expect(await share(native, 40, 'report')).toBeGreaterThan(0.95)
  }, 120_000)

  it('LEASE-4 is 0 % where the team has an index over a column that heartbeats write', async () => {
    expect(await share(clipWithIndex, 20)).toBe(0)
  }, 120_000)

  // Attach leaves a team's fillfactor alone: many jobs in one beat find their pages full.
  it('LEASE-4 is low for one worker with all the jobs where pages are filled to the brim, and high with a fillfactor of 70', async () => {
    expect(await share({ ...clipWithoutIndex, workers: 1 }, 20)).toBeLessThan(0.5)
    await database.drop()
    expect(await share({ ...clipWithoutIndex, workers: 1, fillfactor: 70 }, 20)).toBeGreaterThan(0.9)
  }, 120_000)
})
