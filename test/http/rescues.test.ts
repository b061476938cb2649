import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  BreakerList,
  LastSweep,
  RateLimitList,
  Reclaim,
  ReclaimList,
  StaleList,
} from '../../src/http/contract/index.ts'
import { claim, enqueue, type HttpBench, openHttpBench } from './http-bench.ts'

const MINUTE = 60_000
let bench: HttpBench

beforeAll(async () => {
  bench = await openHttpBench()
  await bench.store.writePolicy({ defaultLeaseMs: MINUTE, reapBackoffStepsMs: [0], requeueRatePerS: 0 })
})

afterAll(() => bench.close())

async function lose(type: string, afterMs = MINUTE + 5_000): Promise<string> {
  const id = await enqueue(bench.store, { type })
  await claim(bench.store, type)
  await bench.elapse(afterMs)
  return id
}

describe('reclaims', () => {
  it('SEE-6 list the lateness and dark time of each rescue', async () => {
    const id = await lose('dark')
    await bench.call('POST /v1/reaper/run', { body: {} })
    const { body }: { body: ReclaimList } = await bench.call('GET /v1/reclaims?stage=dark')
    expect(body).toMatchObject({ next_cursor: null, reclaims: [{ job_id: id, table: 'jobs' }] })
    const before = body.reclaims[0]
    expect(before).toMatchObject({ worker_id: 'host:1', action: 'requeued', dark_ms: null })
    expect(Math.abs((before?.lateness_ms ?? 0) - 5_000)).toBeLessThan(5_000)
    await claim(bench.store, 'dark')
    const after: Reclaim = (await bench.call('GET /v1/reclaims?stage=dark')).body.reclaims[0]
    expect(after).toMatchObject({ id: before?.id, claimed_by: 'host:1' })
    expect(after.dark_ms).toBeGreaterThanOrEqual(MINUTE)
    expect(JSON.stringify(after)).not.toContain('lease_id')
  })

  it('SEE-6 go on from page to page, each rescue once', async () => {
    for (const type of ['p1', 'p2', 'p3']) await lose(type)
    await bench.call('POST /v1/reaper/run', { body: {} })
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page: ReclaimList = (await bench.call(`GET /v1/reclaims?limit=2${from}`)).body
      seen.push(...page.reclaims.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(seen.length).toBeGreaterThanOrEqual(4)
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => Number(b) - Number(a)))
    expect((await bench.call('GET /v1/reclaims?worker_id=nobody')).body.reclaims).toEqual([])
  })

  it.each([
    'GET /v1/reclaims?cursor=x',
    'GET /v1/reaper/sweeps?cursor=x',
    'GET /v1/audit?cursor=x',
    'GET /v1/reclaims?limit=0',
    'GET /v1/stale?limit=1001',
    'GET /v1/reclaims?worker=w1',
  ])('OPS-8 %s is refused', async (line) => {
    expect(await bench.call(line)).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } })
  })

  it.each(['reclaims', 'stale', 'reaper/sweeps', 'audit', 'profiles'])(
    'OPS-8 a table that is not there is 404 at /v1/%s',
    async (path) => {
      expect((await bench.call(`GET /v1/${path}?table=none`)).status).toBe(404)
    },
  )
})

describe('stale jobs', () => {
  it('SEE-6 C13 one whose row is locked names the session that has it', async () => {
    const id = await lose('locked', 2 * MINUTE + 5_000)
    const client = await bench.database.pool.connect()
    try {
      await client.query("begin; set local application_name = 'a-long-report'")
      await client.query('select from unstuck.jobs where id = $1 for update', [id])
      const { jobs }: StaleList = (await bench.call('GET /v1/stale')).body
      const job = jobs.find((stale) => stale.id === id)
      expect(job).toMatchObject({ why: { code: 'ROW_LOCKED' }, locked_by: { application: 'a-long-report' } })
      expect(job?.why.message).toContain(`pid ${job?.locked_by?.pid}`)
      const light = (await bench.call('GET /v1/stale/validation')).body
      expect(light).toMatchObject({ is_valid: false, count: 1, jobs: [{ id, is_past_twice_lease: true }] })
      await bench.call('POST /v1/reaper/run', { body: {} })
      expect((await bench.call('GET /v1/reaper/sweeps')).body.sweeps[0]).toMatchObject({
        skipped: 1,
        requeued: 0,
      })
    } finally {
      await client.query('rollback')
      client.release()
    }
    await bench.call('POST /v1/reaper/run', { body: {} })
    expect((await bench.call('GET /v1/stale/validation')).body).toMatchObject({ is_valid: true, count: 0 })
  })

  it('SEE-6 looking at them keeps no sweep from taking them', async () => {
    const id = await lose('looked-at')
    const client = await bench.database.pool.connect()
    try {
      await client.query('begin')
      await client.query('select * from unstuck.list_stale_jobs()')
      const { body } = await bench.call('POST /v1/reaper/run', { body: {} })
      expect(body.requeuedIds).toEqual([id])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  it('REAP-8 one that no rule can judge is among them and says so', async () => {
    const id = await enqueue(bench.store, { type: 'old' })
    await bench.database.pool.query("update unstuck.jobs set status = 'running' where id = $1", [id])
    const { jobs }: StaleList = (await bench.call('GET /v1/stale')).body
    expect(jobs.at(-1)).toMatchObject({ id, ended_at: null, why: { code: 'LEASE_UNKNOWN' } })
    await bench.database.pool.query('delete from unstuck.jobs where id = $1', [id])
  })
})

describe('sweeps', () => {
  it('SEE-6 one that found something is listed; one that found nothing writes the pulse and no more', async () => {
    const reaper = { reaperId: 'r1' }
    await lose('swept')
    await bench.store.sweepJobs({ reaper })
    const { body } = await bench.call('GET /v1/reaper/sweeps?limit=1')
    expect(body.sweeps).toMatchObject([
      { reaper_id: 'r1', actor: null, found: 1, requeued: 1, table: 'jobs' },
    ])
    expect(body.next_cursor).toBe(body.sweeps[0].id)
    const rows = 'select count(*)::int as rows from unstuck.sweep_history'
    const before = (await bench.database.pool.query(rows)).rows
    await bench.store.sweepJobs({ reaper })
    expect((await bench.database.pool.query(rows)).rows).toEqual(before)
    const [last]: LastSweep[] = (await bench.call('GET /v1/reaper/sweeps')).body.last
    expect(last).toMatchObject({ table: 'jobs', reaper_id: 'r1', found: 0 })
  })

  it('OPS-2 the newest 1,000 are kept', async () => {
    await bench.database.pool.query(
      `insert into unstuck.sweep_history
       select 'native', unstuck.uuid_v7(now() - n * interval '1 minute'), now(), 'r', null, null, 1, 1, 1, 0, 0, 0, 0
         from generate_series(1, 1500) n`,
    )
    await bench.store.pruneJobs()
    const { rows } = await bench.database.pool.query(
      'select count(*)::int as rows, bool_and(id > unstuck.uuid_v7(now() - interval $$1001 minutes$$)) as is_new from unstuck.sweep_history',
    )
    expect(rows).toEqual([{ rows: 1000, is_new: true }])
  })
})

describe('dependencies', () => {
  it('RATE-4 rate limits show remaining tokens, also by owner', async () => {
    await bench.store.takeTokens([{ key: 'gateway', ratePerS: 0.01, burst: 5 }], 2)
    await bench.store.takeTokens([{ key: 'gateway:ana', ratePerS: 0.01, burst: 1 }])
    const { body }: { body: RateLimitList } = await bench.call('GET /v1/rate-limits?prefix=gateway')
    expect(body.is_complete).toBe(true)
    expect(body.rate_limits).toMatchObject([
      { key: 'gateway:ana', name: 'gateway', owner: 'ana', tokens: 0, burst: 1 },
      { key: 'gateway', name: 'gateway', owner: null, tokens: 3, burst: 5, rate_per_s: 0.01 },
    ])
  })

  it('BREAK-1 a breaker lists its last calls in order', async () => {
    await bench.store.recordCalls('dots', [{ isFailure: false }, { isFailure: true }])
    const { breakers }: BreakerList = (await bench.call('GET /v1/breakers')).body
    expect(breakers.find(({ name }) => name === 'dots')?.last_calls).toEqual([
      { is_failure: false, at: null },
      { is_failure: true, at: null },
    ])
  })

  it('SEE-5 profiles show the mode of each table', async () => {
    await bench.store.setMode('observe')
    const { profiles } = (await bench.call('GET /v1/profiles')).body
    expect(profiles).toMatchObject([
      { table: 'jobs', profile: 'native', relation: 'unstuck.jobs', mode: 'observe' },
    ])
    expect(profiles[0].mode_since).not.toBeNull()
    await bench.store.setMode('reap')
  })
})
