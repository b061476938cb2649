// A team whose old workers claim with a plain UPDATE and never raise attempt_count (asr_jobs of documents 000 and 001).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clipProfile } from '../../../src/profile/clip.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

describe('workers that do not count attempts', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
    await database.pool.query(clipTables)
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: clipProfile })
  })
  afterAll(() => database.drop())

  /** Claims as the old worker does, dies, and answers what a sweep makes of the job. */
  async function claimAndDie(id: string, counted = 0) {
    await database.pool.query(
      `update asr_jobs set status = 'processing', started_at = now() - interval '1 day',
              last_heartbeat_at = now() - interval '1 day', updated_at = now() - interval '1 day',
              next_earliest_run_at = null, attempt_count = attempt_count + $2
        where id = $1 and status = 'queued'`,
      [id, counted],
    )
    const { rows } = await database.pool.query(
      'select action, floor(retry_in_ms / 1000) as waits_s from unstuck.reap_jobs__asr_jobs() where id = $1',
      [id],
    )
    return rows
  }

  it('FAIL-5 are bounded by their crashes, with a backoff that grows', async () => {
    const { rows } = await database.pool.query('insert into asr_jobs default values returning id')
    const id = String(rows[0].id)
    expect(await claimAndDie(id)).toEqual([{ action: 'requeued', waits_s: 30 }])
    expect(await claimAndDie(id)).toEqual([{ action: 'requeued', waits_s: 120 }])
    expect(await claimAndDie(id)).toEqual([{ action: 'dead', waits_s: null }])
    const { rows: jobs } = await database.pool.query(
      'select status, attempt_count, fail_code, fail_reason from asr_jobs where id = $1',
      [id],
    )
    expect(jobs).toEqual([
      { status: 'failed', attempt_count: 0, fail_code: 'timeout', fail_reason: 'lease_expired' },
    ])
  })

  it('FAIL-5 OPS-14 with workers that count, attempts that an operator sets back are a whole budget', async () => {
    const { rows } = await database.pool.query('insert into asr_jobs default values returning id')
    const id = String(rows[0].id)
    const untilItEnds = async () => {
      const ends: unknown[] = []
      do ends.push(...(await claimAndDie(id, 1)).map(({ action }) => action))
      while (ends.at(-1) === 'requeued')
      return ends
    }
    expect(await untilItEnds()).toEqual(['requeued', 'requeued', 'dead'])
    await database.pool.query(`update asr_jobs set status = 'queued', attempt_count = 0 where id = $1`, [id])
    expect(await untilItEnds()).toEqual(['requeued', 'requeued', 'dead'])
  })
})
