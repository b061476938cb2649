// Document 003 as its authors would type it: their table, their function and view names, plain SQL, no program of ours.
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { executorProfile } from '../../src/profile/executor.ts'
import { migrateUp } from '../../src/store/postgres/index.ts'
import {
  deadWorkerTest,
  maxAttemptsTest,
  monitoring,
  reclaim,
  twiceTtlTest,
} from '../support/tables/executor-document.ts'
import { executorTables } from '../support/tables/executor-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(executorTables)
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile: executorProfile })
  client = await database.connect()
})

beforeEach(async () => {
  await client.query('truncate public.executor_jobs, unstuck.events')
})

afterAll(() => database.drop())

async function rows(text: string, params: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await client.query(text, params)).rows
}

/** A job that a worker of the team's own has locked, this many minutes ago. */
async function lockedJob(
  type: string,
  minutes: number,
  { status = 'running', attempts = 1, beatMinutes = null as number | null } = {},
): Promise<string> {
  const [row] = await rows(
    `insert into public.executor_jobs (type, status, locked_at, locked_by, attempts, heartbeat_at)
     values ($1, $2, now() - $3 * interval '1 minute', 'worker-1', $4, now() - $5::float8 * interval '1 minute')
     returning id`,
    [type, status, minutes, attempts, beatMinutes],
  )
  return String(row?.['id'])
}

async function readJob(id: string): Promise<Record<string, unknown>> {
  const [row] = await rows('select * from public.executor_jobs where id = $1', [id])
  return row ?? {}
}

describe('the SQL tests of the document', () => {
  it('OPS-3 003 Test 1: Simulate Dead Worker', async () => {
    await rows(deadWorkerTest.create)
    expect(await rows(reclaim)).toMatchObject([{ job_type: 'run_tsa', action: 'requeued', attempt_count: 2 }])
    expect(await rows(deadWorkerTest.verify)).toEqual([
      {
        dedupe_key: expect.stringMatching(/^test-ttl-reclaim-/),
        type: 'run_tsa',
        status: 'queued',
        attempts: 2,
        last_error: expect.stringContaining('RECLAIMED_TTL: Exceeded TTL (30 min)'),
      },
    ])
  })

  it('OPS-4 003 Test 2: No Jobs > 2x TTL', async () => {
    await lockedJob('run_tsa', 61)
    expect(await rows(twiceTtlTest)).toEqual([{ count: '1' }])
    expect(await rows('select id from public.executor_jobs_stale_validation')).toHaveLength(1)
    await rows(reclaim)
    expect(await rows(twiceTtlTest)).toEqual([{ count: '0' }])
    expect(await rows('select id from public.executor_jobs_stale_validation')).toEqual([])
  })

  it('OPS-3 003 Test 3: Max Attempts → Dead', async () => {
    await rows(maxAttemptsTest.create)
    await rows(reclaim)
    expect(await rows(maxAttemptsTest.verify)).toEqual([
      {
        dedupe_key: expect.stringMatching(/^test-max-attempts-/),
        status: 'dead',
        attempts: 10,
        last_error: expect.stringMatching(/^RECLAIMED_TTL: .*Max attempts reached/),
      },
    ])
  })
})

describe('the TTL values', () => {
  const ttls: [string, number][] = [
    ['protect_document_v2', 5],
    ['document.protected', 5],
    ['run_tsa', 30],
    ['submit_anchor_polygon', 60],
    ['submit_anchor_bitcoin', 60],
    ['build_artifact', 15],
  ]
  it.each(ttls)(
    'REAP-8 003 TTL values: %s is taken back after %i minutes and not before',
    async (type, ttl) => {
      const fresh = await lockedJob(type, ttl - 0.5)
      const over = await lockedJob(type, ttl + 0.5, { status: 'processing' })
      expect(await rows(reclaim)).toMatchObject([{ job_id: over, action: 'requeued' }])
      expect(await readJob(fresh)).toMatchObject({ status: 'running', locked_by: 'worker-1', attempts: 1 })
      expect(await readJob(over)).toMatchObject({
        status: 'queued',
        locked_at: null,
        locked_by: null,
        attempts: 2,
        last_error: `RECLAIMED_TTL: Exceeded TTL (${ttl} min), taken from worker-1`,
      })
    },
  )

  it('REAP-8 003 TTL values: a type that is not listed is reported, not reclaimed', async () => {
    const id = await lockedJob('send_mail', 90 * 24 * 60)
    const before = await readJob(id)
    expect(await rows(reclaim)).toEqual([
      {
        job_id: id,
        job_type: 'send_mail',
        action: 'reported',
        attempt_count: 1,
        previous_worker: 'worker-1',
      },
    ])
    expect(await readJob(id)).toEqual(before)
    expect(await rows('select id, health, ttl_minutes from public.executor_jobs_stale_monitor')).toEqual([
      { id, health: 'unjudged', ttl_minutes: null },
    ])
  })
})

describe('the edge cases', () => {
  it('REAP-4 003 Edge case 1, Race Condition: a row that somebody has locked is skipped and taken by the next reclaim', async () => {
    const id = await lockedJob('run_tsa', 35)
    const other = await database.connect()
    await other.query('begin')
    await other.query('select from public.executor_jobs where id = $1 for update', [id])
    expect(await rows(reclaim)).toEqual([])
    await other.query('rollback')
    expect(await rows(reclaim)).toMatchObject([{ job_id: id }])
  })

  it('FAIL-5 003 Edge case 2, Job Loops Infinitely: nine reclaims and then the end, attempts never over ten', async () => {
    const id = await lockedJob('run_tsa', 35)
    const story: unknown[] = []
    for (let turn = 0; turn < 12; turn++) {
      await rows(reclaim)
      const { status, attempts } = await readJob(id)
      story.push([status, attempts])
      if (status === 'dead') break
      await rows(
        `update public.executor_jobs set status = 'running', locked_at = now() - interval '35 minutes',
                locked_by = 'worker-1' where id = $1`,
        [id],
      )
    }
    const requeued = Array.from({ length: 9 }, (_, index) => ['queued', index + 2])
    expect(story).toEqual([...requeued, ['dead', 10]])
  })

  it('REAP-8 003 Edge case 4, Heartbeat Prevents Reclaim: a recent heartbeat keeps a job whose lock is old', async () => {
    const kept = await lockedJob('run_tsa', 300, { beatMinutes: 1 })
    const silent = await lockedJob('run_tsa', 300, { beatMinutes: 31 })
    expect(await rows(reclaim)).toMatchObject([{ job_id: silent }])
    expect(await readJob(kept)).toMatchObject({ status: 'running', attempts: 1 })
  })

  it('REAP-8 003 a fresh lock is not taken for the old heartbeat that was left over as evidence', async () => {
    const id = await lockedJob('run_tsa', 1, { beatMinutes: 300 })
    expect(await rows(reclaim)).toEqual([])
    expect(await readJob(id)).toMatchObject({ status: 'running', locked_by: 'worker-1' })
  })

  it('REAP-8 003 a fresh lock by hand is not taken for the lease that an earlier claim of ours left', async () => {
    const id = await lockedJob('run_tsa', 1, { beatMinutes: 300 })
    await rows(
      `update public.executor_jobs set lease_id = gen_random_uuid(), lease_expires_at = now() - interval '4 hours'
        where id = $1`,
      [id],
    )
    expect(await rows(reclaim)).toEqual([])
    await rows(`update public.executor_jobs set locked_at = now() - interval '31 minutes' where id = $1`, [
      id,
    ])
    expect(await rows(reclaim)).toMatchObject([{ job_id: id }])
  })
})

describe('by hand', () => {
  it('OPS-3 003 a reclaim acts in every mode but observe', async () => {
    const id = await lockedJob('run_tsa', 35)
    await rows(`select unstuck.set_mode__executor_jobs('observe')`)
    expect(await rows(reclaim)).toEqual([])
    await rows(`select unstuck.set_mode__executor_jobs('enforce')`)
    expect(await rows(reclaim)).toMatchObject([{ job_id: id, action: 'requeued' }])
    await rows(`select unstuck.set_mode__executor_jobs('reap')`)
    const next = await lockedJob('run_tsa', 35)
    expect(await rows(reclaim)).toMatchObject([{ job_id: next, action: 'requeued' }])
  })

  it('OPS-3 C9 003 a reclaim is not held after an outage, and leaves the hold of another reaper alone', async () => {
    const id = await lockedJob('run_tsa', 35)
    const outage = `outage_from = now() - interval '10 minutes', outage_to = now(), hold_reason = 'server-restarted'`
    await rows(`update unstuck.sweeps set ${outage} where attachment = 'executor_jobs'`)
    expect(await rows(reclaim)).toMatchObject([{ job_id: id, action: 'requeued' }])
    expect(
      await rows(`select hold_reason, outage_to > outage_from as is_kept from unstuck.sweeps
                   where attachment = 'executor_jobs'`),
    ).toEqual([{ hold_reason: 'server-restarted', is_kept: true }])
    await rows(`update unstuck.sweeps set outage_from = null, outage_to = null, hold_reason = null`)
  })
})

describe('update_job_heartbeat', () => {
  const beat = async (id: string, worker: string) => {
    const [row] = await rows('select public.update_job_heartbeat($1, $2) as is_own', [id, worker])
    return row?.['is_own']
  }

  it('OPS-3 003 Fase 2: a beat by the name of the worker keeps a job that has no lease', async () => {
    const id = await lockedJob('run_tsa', 35, { status: 'processing' })
    expect(await beat(id, 'worker-1')).toBe(true)
    expect(await rows(reclaim)).toEqual([])
    const { heartbeat_at: beatAt, lease_expires_at: endsAt } = await readJob(id)
    expect(beatAt).toBeInstanceOf(Date)
    expect(endsAt).toBeNull()
  })

  it('OPS-3 003 Fase 2: a beat by another worker, or of a job that does not run, changes nothing', async () => {
    const running = await lockedJob('run_tsa', 1)
    const queued = await lockedJob('run_tsa', 1, { status: 'queued' })
    const before = [await readJob(running), await readJob(queued)]
    expect(await beat(running, 'worker-2')).toBe(false)
    expect(await beat(queued, 'worker-1')).toBe(false)
    expect(await beat('00000000-0000-4000-8000-000000000000', 'worker-1')).toBe(false)
    expect([await readJob(running), await readJob(queued)]).toEqual(before)
  })

  it('OPS-3 003 Fase 2: a beat extends the lease of a claim of ours by the TTL of the type', async () => {
    await rows(`insert into public.executor_jobs (type) values ('run_tsa')`)
    const [claimed] = await rows(
      `select * from unstuck.claim_jobs__executor_jobs('worker-7', array['run_tsa'], 1)`,
    )
    const id = String(claimed?.['id'])
    expect(claimed).toMatchObject({ lease_ms: 1_800_000, deadline_ms: null, attempt: 0 })
    await rows(`update public.executor_jobs set heartbeat_at = heartbeat_at - interval '1 hour',
                  locked_at = locked_at - interval '1 hour', lease_expires_at = now() + interval '1 second'`)
    expect(await beat(id, 'worker-7')).toBe(true)
    const [row] = await rows(
      `select extract(epoch from lease_expires_at - heartbeat_at)::int as lease_sec from public.executor_jobs`,
    )
    expect(row).toEqual({ lease_sec: 1800 })
  })
})

describe('the life of a job', () => {
  const claim = async () => {
    const [row = {}] = await rows(
      `select * from unstuck.claim_jobs__executor_jobs('worker-7', array['run_tsa'], 1)`,
    )
    return row
  }

  it('LEASE-2 003 a claim writes running, locked_at and locked_by, and counts no attempt', async () => {
    await rows(`insert into public.executor_jobs (type, attempts) values ('run_tsa', 3)`)
    const { id } = await claim()
    const job = await readJob(String(id))
    expect(job).toMatchObject({ status: 'running', locked_by: 'worker-7', attempts: 3 })
    expect(job).not.toHaveProperty('deadline_at')
    expect(job['locked_at']).toEqual(job['heartbeat_at'])
  })

  it('LEASE-5 003 a job that its worker moved from running to processing is still its own', async () => {
    await rows(`insert into public.executor_jobs (type) values ('run_tsa')`)
    const { id, lease_id: leaseId } = await claim()
    await rows(`update public.executor_jobs set status = 'processing' where id = $1`, [id])
    expect(
      await rows(
        `select answer from unstuck.heartbeat_jobs__executor_jobs(array[$1::uuid], array[$2::uuid])`,
        [id, leaseId],
      ),
    ).toEqual([{ answer: 'kept' }])
    await rows(`select unstuck.complete_jobs__executor_jobs(array[$1::uuid], array[$2::uuid])`, [id, leaseId])
    expect(await readJob(String(id))).toMatchObject({ status: 'succeeded', locked_at: null, locked_by: null })
  })

  it('LEASE-4 003 the heartbeat is left as evidence at the end', async () => {
    await rows(`insert into public.executor_jobs (type) values ('run_tsa')`)
    const { id, lease_id: leaseId } = await claim()
    const { heartbeat_at: beatAt } = await readJob(String(id))
    await rows(`select unstuck.complete_jobs__executor_jobs(array[$1::uuid], array[$2::uuid])`, [id, leaseId])
    expect((await readJob(String(id)))['heartbeat_at']).toEqual(beatAt)
    const silent = await lockedJob('run_tsa', 300, { beatMinutes: 200 })
    const { heartbeat_at: lastBeatAt } = await readJob(silent)
    await rows(reclaim)
    expect((await readJob(silent))['heartbeat_at']).toEqual(lastBeatAt)
  })

  it('FAIL-4 003 a failure counts an attempt, waits, and leaves its message in last_error', async () => {
    await rows(`insert into public.executor_jobs (type) values ('run_tsa')`)
    const { id, lease_id: leaseId } = await claim()
    await rows(`select unstuck.fail_jobs__executor_jobs($1)`, [
      JSON.stringify([{ id, lease_id: leaseId, code: 'TSA_DOWN', reason: 'no answer from the TSA' }]),
    ])
    const job = await readJob(String(id))
    expect(job).toMatchObject({
      status: 'queued',
      attempts: 1,
      last_error: 'no answer from the TSA',
      locked_at: null,
    })
    expect(Number(job['run_at'])).toBeGreaterThan(Number(job['updated_at']))
  })
})

describe('the views', () => {
  it('OPS-4 003 Fase 3: the monitor distinguishes healthy from stale, each with its TTL', async () => {
    const healthy = await lockedJob('build_artifact', 5)
    const stale = await lockedJob('build_artifact', 20, { status: 'processing' })
    expect(
      await rows(
        `select id, status, locked_by, age_minutes::float8, ttl_minutes::float8, health
           from public.executor_jobs_stale_monitor order by locked_at desc`,
      ),
    ).toEqual([
      {
        id: healthy,
        status: 'running',
        locked_by: 'worker-1',
        age_minutes: 5,
        ttl_minutes: 15,
        health: 'healthy',
      },
      {
        id: stale,
        status: 'processing',
        locked_by: 'worker-1',
        age_minutes: 20,
        ttl_minutes: 15,
        health: 'stale',
      },
    ])
  })

  it('OPS-4 003 Fase 3: the validation has jobs over twice their TTL only, by the heartbeat where it is newer', async () => {
    const over = await lockedJob('build_artifact', 31)
    await lockedJob('build_artifact', 29)
    await lockedJob('build_artifact', 300, { beatMinutes: 10 })
    expect(await rows('select id from public.executor_jobs_stale_validation')).toEqual([{ id: over }])
  })

  it('OPS-4 003 Fase 3: the history lists every reclaim, newest first, though the error was overwritten', async () => {
    const id = await lockedJob('run_tsa', 35, { attempts: 9 })
    await rows(reclaim)
    await rows(
      `update public.executor_jobs set status = 'running', locked_at = now() - interval '2 hours',
              locked_by = 'worker-2', last_error = 'something else' where id = $1`,
      [id],
    )
    await rows(reclaim)
    expect(
      await rows(
        `select job_id, type, action, previous_worker, attempts_after, status_now
           from public.executor_jobs_reclaim_history limit 20`,
      ),
    ).toEqual([
      {
        job_id: id,
        type: 'run_tsa',
        action: 'dead',
        previous_worker: 'worker-2',
        attempts_after: 10,
        status_now: 'dead',
      },
      {
        job_id: id,
        type: 'run_tsa',
        action: 'requeued',
        previous_worker: 'worker-1',
        attempts_after: 10,
        status_now: 'dead',
      },
    ])
  })

  it.each(monitoring)('OPS-4 003 the document’s own query runs: %s', async (text) => {
    await lockedJob('run_tsa', 35)
    await rows(reclaim)
    await lockedJob('run_tsa', 10)
    await expect(rows(text)).resolves.toBeInstanceOf(Array)
  })

  it('OPS-4 003 a reclaim is a sign of life of the reaper', async () => {
    await rows(reclaim)
    const [health] = await rows('select reaper_age_ms from unstuck.read_health__executor_jobs()')
    expect(Number(health?.['reaper_age_ms'])).toBeLessThan(60_000)
  })
})
