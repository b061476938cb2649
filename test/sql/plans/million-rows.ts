// A native table as it is after a year: nearly everything finished, a little waiting and running.
import type pg from 'pg'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

export const runningRows = 1_000
const aLittle = { waiting: 2_000, running: runningRows, inBackoff: 20_000 }

export async function createLargeTable(finishedRows: number, open = aLittle): Promise<TestDatabase> {
  const database = await createInstalledDatabase()
  // Statistics are made where a test wants them, and not in between.
  await database.pool.query('alter table unstuck.jobs set (autovacuum_enabled = off)')
  await database.pool.query(
    `insert into unstuck.jobs (id, type, status, created_at, updated_at, started_at, finished_at, finished_lease_id,
                               attempt, fence, max_attempts)
     select ${orderedId(1_700_000_000_000)}, (array['clip', 'asr', 'mail'])[1 + n % 3],
            case when n % 10 = 0 then 'dead' else 'succeeded' end, now() - interval '1 day', now(), now(), now(),
            gen_random_uuid(), 1, 1, 3
       from generate_series(1, ${finishedRows}) n`,
  )
  await database.pool.query(`
    insert into unstuck.jobs (id, type, status, worker_id, lease_id, lease_expires_at, heartbeat_at, started_at, attempt)
    select ${orderedId(1_710_000_000_000)}, 'clip', 'running', 'w', gen_random_uuid(), now() + interval '1 h', now(), now(), 1
      from generate_series(1, ${open.running}) n;
    insert into unstuck.jobs (id, type, status, run_at, attempt, crashes)
    select ${orderedId(1_720_000_000_000)}, 'clip', 'waiting', now() + interval '1 h', 1, 1
      from generate_series(1, ${open.inBackoff}) n;
    insert into unstuck.jobs (id, type, status)
    select ${orderedId(1_730_000_000_000)}, 'clip', 'waiting' from generate_series(1, ${open.waiting}) n`)
  await settle(database.pool)
  return database
}

/** Like uuid_v7, at a twentieth of its time. */
function orderedId(fromMs: number): string {
  return `(lpad(to_hex(${fromMs} + n), 12, '0') || '70008000' || substr(md5(n::text), 1, 12))::uuid`
}

/** No dead row versions, and statistics of what is there. */
export async function settle(client: Pick<pg.Pool, 'query'>): Promise<void> {
  await client.query('vacuum (analyze) unstuck.jobs')
}

/** As on a table that was filled since anybody analyzed it. */
export async function forgetStatistics(client: Pick<pg.Pool, 'query'>): Promise<void> {
  await client.query(`
    delete from pg_statistic where starelid = 'unstuck.jobs'::regclass;
    update pg_class set reltuples = -1, relpages = 0, relallvisible = 0
     where oid = 'unstuck.jobs'::regclass or oid in (select indexrelid from pg_index where indrelid = 'unstuck.jobs'::regclass)`)
}
