// Document 002, scenario by scenario, on PostgreSQL.
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClaimedJob } from '../../src/job/lease.ts'
import { embeddingProfile } from '../../src/profile/embedding.ts'
import { createJobService } from '../../src/runtime/services/job-service.ts'
import { runSweep } from '../../src/runtime/services/run-sweep.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { runCommand } from '../cli/support/run-command.ts'
import { embeddingTables } from '../support/tables/embedding-tables.ts'
import { openProfileBench, type ProfileBench } from './profile-bench.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const [table] = embeddingProfile.tables
const missing = '00000000-0000-4000-8000-000000000000'
/** Short enough for a test. The rest of the policy is unchanged. */
const quick = { defaultLeaseMs: 1_500, heartbeatMs: 300, sweepIntervalMs: 300 }

let bench: ProfileBench
beforeAll(async () => {
  bench = await openProfileBench(embeddingProfile, embeddingTables, {
    app: 'embedding-app',
    env: { EMBED_JOB_RETENTION_DAYS: '14' },
  })
})
beforeEach(() => bench.reset())
afterEach(() => bench.endWorkers())
afterAll(() => bench.close())

/** A job in a worker's hands, as the document writes it. */
async function lockedJob(owner: string, until: string, attempts = 0): Promise<string> {
  const [row] = await bench.rows(
    `insert into embedding_jobs (status, lock_owner, lock_until, attempts)
     values ('processing', $1, now() + $2::interval, $3) returning id`,
    [owner, until, attempts],
  )
  return String(row?.['id'])
}

function lease(workerId: string, limit = 10): Promise<ClaimedJob[]> {
  return bench.store.claimJobs({ workerId, queues: ['embed'], limit })
}

const unlocked = { status: 'pending', lock_owner: null, lock_until: null }
const statusesOf = async (ids: string[]) =>
  Promise.all(ids.map(async (id) => String((await bench.readRow(id))['status'])))

describe('Requirement: Stale Job Recovery', () => {
  it.each([0, 2, 3, 7])(
    'REAP-1 Scenario: Expired processing jobs reset to pending, with %i attempts kept',
    async (attempts) => {
      const id = await lockedJob('worker-a', '-1 second', attempts)
      expect(await runSweep(bench.store)).toMatchObject({ requeuedIds: [id], failedIds: [] })
      expect(await bench.readRow(id)).toMatchObject({ ...unlocked, attempts })
      expect(await lease('worker-b')).toMatchObject([{ jobId: id, attempt: attempts }])
    },
  )

  it('REAP-3 Scenario: Active jobs not recovered prematurely', async () => {
    const id = await lockedJob('worker-a', '1 minute')
    const before = await bench.readRow(id)
    expect(await runSweep(bench.store)).toMatchObject({ reaped: [] })
    expect(await bench.readRow(id)).toEqual(before)
    expect(await lease('worker-b')).toEqual([])
  })

  it('REAP-6 Scenario: Background recovery runs periodically', async () => {
    expect(table.policy.sweepIntervalMs).toBe(60_000)
    const worker = bench.work({ concurrency: 1 }, { REAPER_INTERVAL_SEC: '1' })
    await worker.until(({ kind }) => kind === 'ready')
    const ids = [await lockedJob('gone', '-1 second'), await lockedJob('gone', '-1 second')]
    await worker.until(({ kind, requeued }) => kind === 'swept' && requeued === 2)
    await vi.waitFor(
      () => expect(worker.told.filter(({ kind }) => kind === 'swept').length).toBeGreaterThan(2),
      {
        timeout: 30_000,
      },
    )
    await bench.untilJobs(ids, 'succeeded')
  })

  it('WORK-2 Scenario: Recovery on worker startup', async () => {
    const id = await lockedJob('crashed', '-1 second')
    const worker = bench.work()
    // The interval is a minute: only the sweep at the start can have done it.
    await bench.untilJobs([id], 'succeeded')
    expect(worker.told.find(({ kind }) => kind === 'swept')).toMatchObject({ requeued: 1 })
  })
})

describe('Requirement: Explicit Job Lease Release', () => {
  /** The calls of the document, as two worker processes would make them. */
  async function hold(workerId: string, count: number) {
    const service = createJobService(bench.store)
    const ids = await bench.enqueue(count)
    for (const id of ids) expect(await service.claimJob(id, workerId, 300)).toMatchObject({ ok: true })
    return { service, ids }
  }

  it('LEASE-6 Scenario: Batch release of unleased jobs', async () => {
    const { service, ids } = await hold('worker-a', 10)
    for (const id of ids.slice(0, 3)) await service.finishJob(id, true)
    expect(await service.releaseJobs(ids.slice(3))).toBe(7)
    for (const id of ids.slice(3)) expect(await bench.readRow(id)).toMatchObject({ ...unlocked, attempts: 0 })
    expect(await lease('worker-b')).toHaveLength(7)
    expect(await statusesOf(ids.slice(0, 3))).toEqual(['completed', 'completed', 'completed'])
  })

  it('LEASE-6 Scenario: Release ignores jobs not owned by caller', async () => {
    const a = await hold('worker-a', 3)
    const b = await hold('worker-b', 3)
    const [one = '', two = '', three = ''] = a.ids
    const five = b.ids[1] ?? ''
    expect(await a.service.releaseJobs([two, three, five])).toBe(2)
    expect(await statusesOf([one, two, three])).toEqual(['processing', 'pending', 'pending'])
    expect(await bench.readRow(five)).toMatchObject({ status: 'processing', lock_owner: 'worker-b' })
  })

  it('LEASE-6 Scenario: Empty release is safe no-op', async () => {
    const query = vi.fn((text: string, params: unknown[]) => bench.database.pool.query(text, params))
    const store = createPostgresStore({ client: { query }, table })
    await store.readPolicy()
    expect(query).toHaveBeenCalledOnce()
    expect(await createJobService(store).releaseJobs([])).toBe(0)
    expect(await createJobService(store).releaseJobs([missing])).toBe(0)
    expect(query).toHaveBeenCalledOnce()
  })
})

describe('Requirement: Rate Limiting and Resource Management', () => {
  /** Ten tokens to begin with, and none come back while a test looks. */
  const limits = [{ key: 'openai', ratePerS: 0.01, burst: 10 }]
  const bucket = { key: 'openai', ratePerS: 0.01, burst: 10 }

  it('RATE-2 Scenario: Rate limit enforcement with job release', async () => {
    // Another worker has used seven, which this one cannot know when it leases ten.
    await bench.store.takeTokens([bucket], 7)
    const ids = await bench.enqueue(10)
    const worker = bench.work({ limits, concurrency: 10 })
    expect(await worker.until(({ kind }) => kind === 'limit')).toMatchObject({ name: 'openai', released: 7 })
    const started = worker.told.filter(({ kind }) => kind === 'started').map(({ jobId }) => jobId ?? '')
    await expect
      .poll(async () => (await statusesOf(ids)).filter((word) => word === 'completed'))
      .toHaveLength(3)
    const released = ids.filter((id) => !started.includes(id))
    expect(released).toHaveLength(7)
    for (const id of released) {
      expect(await bench.readRow(id)).toMatchObject({
        ...unlocked,
        attempts: 0,
        failures: null,
        crashes: null,
      })
    }
  })

  it('RATE-3 Scenario: Rate limit does not interfere with retry', async () => {
    await bench.store.writePolicy({ failureBackoffBaseMs: 300, failureBackoffJitterMs: 0, events: 'all' })
    const [id = ''] = await bench.enqueue(1, { payload: { fails: 1 } })
    bench.work({ limits: [{ key: 'openai', ratePerS: 0.5, burst: 1 }] })
    await bench.untilJobs([id], 'succeeded')
    const events = await bench.store.listEvents(id)
    const retry = events.find(({ type }) => type === 'retry')
    expect(retry?.data.details).toMatchObject({ backoff_ms: 300, category: 'TRANSIENT' })
    const [first, last] = [events.find(({ type }) => type === 'processing'), events.at(-1)]
    // The backoff was over after 300 ms, the next token came after 2 s.
    expect((last?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0)).toBeGreaterThan(1_500)
    expect(await bench.readRow(id)).toMatchObject({ status: 'completed', attempts: 1 })
  })

  it('LEASE-7 RATE-2 Scenario: Heartbeat maintains locks during rate limit pause', async () => {
    await bench.store.writePolicy(quick)
    await bench.store.takeTokens([bucket], 7)
    const ids = await bench.enqueue(10, { payload: { ms: 4_000 } })
    const worker = bench.work({ limits, concurrency: 10, workerId: 'worker-a' })
    await worker.until(({ kind }) => kind === 'limit')
    expect((await statusesOf(ids)).toSorted((one, other) => one.localeCompare(other))).toEqual([
      ...Array(7).fill('pending'),
      ...Array(3).fill('processing'),
    ])
    const active = worker.told.filter(({ kind }) => kind === 'started').map(({ jobId }) => jobId ?? '')
    expect(active).toHaveLength(3)
    await bench.untilJobs(active, 'succeeded')
    // Two leases and more, and still the first claim of each.
    for (const jobId of active)
      expect(await bench.store.getJob(jobId)).toMatchObject({ fence: 1, crashes: 0 })
  })
})

describe('Requirement: Job Lifecycle Management', () => {
  it('OPS-2 Scenario: TTL cleanup via APOC (here: one statement of SQL)', async () => {
    const plant = (status: string, age: string) =>
      bench.rows(
        `insert into embedding_jobs (document_id, status, created_at, updated_at, finished_at)
         values ($1, $2, now() - $3::interval, now() - $3::interval,
                 case when $2 in ('completed', 'failed') then now() - $3::interval end)`,
        [`${status} ${age}`, status, age],
      )
    for (const status of ['completed', 'failed', 'pending', 'processing'])
      for (const age of ['6 days', '8 days', '31 days']) await plant(status, age)
    const { exitCode } = await runCommand(['prune', '--profile', 'embedding'], {
      DATABASE_URL: bench.database.url,
      EMBED_JOB_RETENTION_DAYS: '7',
    })
    expect(exitCode).toBe(0)
    const left = await bench.rows('select document_id from embedding_jobs order by document_id')
    expect(left.map((row) => row['document_id'])).toEqual([
      'completed 6 days',
      'failed 6 days',
      'pending 31 days',
      'pending 6 days',
      'pending 8 days',
      'processing 31 days',
      'processing 6 days',
      'processing 8 days',
    ])
  })

  it.each([
    ['missing', {}],
    ['under 7', { EMBED_JOB_RETENTION_DAYS: '6' }],
    ['over 30', { EMBED_JOB_RETENTION_DAYS: '31' }],
  ])('OPS-2 Scenario: Retention configuration validated: %s', async (_, env) => {
    const module = fileURLToPath(new URL('../surface/fixtures/handlers.mjs', import.meta.url))
    const { exitCode, stderr } = await runCommand(['worker', module, '--profile', 'embedding'], {
      DATABASE_URL: bench.database.url,
      ...env,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('EMBED_JOB_RETENTION_DAYS')
    expect(stderr).toContain('14 is recommended')
  })

  it.each(['TRANSIENT', 'PERMANENT', 'CRITICAL'])(
    'FAIL-1 Scenario: Failed jobs track error classification: %s',
    async (category) => {
      await bench.store.writePolicy({ failureBackoffBaseMs: 0, failureBackoffJitterMs: 0 })
      const [id = ''] = await bench.enqueue(1, { payload: { fails: 9, category } })
      bench.work()
      await bench.untilJobs([id], 'dead')
      const attempt = category === 'TRANSIENT' ? 3 : 1
      expect(await bench.readRow(id)).toMatchObject({
        status: 'failed',
        error_category: category,
        error_message: 'the model is overloaded',
        error_stack: expect.stringContaining('at '),
        error_attempt: attempt,
        attempts: attempt,
      })
    },
  )

  it('FAIL-5 Scenario: Retry policy respects max attempts', async () => {
    // Two failures that somebody counted before the table was attached.
    const [row] = await bench.rows(
      `insert into embedding_jobs (attempts, payload) values (2, '{"fails": 9}') returning id`,
    )
    const id = String(row?.['id'])
    const worker = bench.work()
    await bench.untilJobs([id], 'dead')
    expect(worker.told.filter(({ kind }) => kind === 'started')).toHaveLength(1)
    expect(await bench.readRow(id)).toMatchObject({ status: 'failed', attempts: 3, error_attempt: 3 })
    expect(await lease('worker-b')).toEqual([])
    await bench.elapse(15 * DAY)
    expect(await bench.store.pruneJobs()).toMatchObject({ deleted: 1 })
  })

  it('REAP-1 Scenario: Stale job recovery prevents permanent freeze', async () => {
    await bench.store.writePolicy(quick)
    const [id = ''] = await bench.enqueue(1, { payload: { ms: 2_000 } })
    const first = bench.work({ workerId: 'worker-a' })
    await first.until(({ kind }) => kind === 'started')
    first.child.kill('SIGKILL')
    bench.work({ workerId: 'worker-b' })
    await bench.untilJobs([id], 'succeeded')
    expect(await bench.store.getJob(id)).toMatchObject({ fence: 2, crashes: 1, failures: 0, attempt: 0 })
  })
})

describe('Requirement: Job Timeout and Heartbeat', () => {
  it('REAP-1 FAIL-5 Scenario: Job timeout releases lock for crashed workers', async () => {
    const [id = ''] = await bench.enqueue(1)
    expect(await lease('worker-a')).toMatchObject([{ jobId: id, leaseMs: 5 * MINUTE }])
    await bench.elapse(5 * MINUTE - 5_000)
    expect((await runSweep(bench.store)).reaped).toEqual([])
    await bench.elapse(6_000)
    expect((await runSweep(bench.store)).requeuedIds).toEqual([id])
    expect(await bench.readRow(id)).toMatchObject({
      ...unlocked,
      attempts: 0,
      failures: null,
      error_category: null,
    })
    expect(await lease('worker-b')).toMatchObject([{ jobId: id }])
  })

  it('LEASE-7 Scenario: Long-running job extends lock via heartbeat', async () => {
    expect(table.policy.heartbeatMs).toBe(2 * MINUTE)
    const [id = ''] = await bench.enqueue(1)
    const held = await lease('worker-a')
    for (let beat = 0; beat < 4; beat++) {
      await bench.elapse(2 * MINUTE)
      expect((await runSweep(bench.store)).reaped).toEqual([])
      expect(await lease('worker-b')).toEqual([])
      const { answers } = await bench.store.heartbeatJobs(held)
      expect(answers).toMatchObject([{ jobId: id, answer: 'kept' }])
      const [row] = await bench.rows(
        `select lock_owner, round(extract(epoch from lock_until - heartbeat_at))::int as seconds from embedding_jobs`,
      )
      expect(row).toEqual({ lock_owner: 'worker-a', seconds: 300 })
    }
  })

  it('REAP-1 REAP-9 Scenario: Worker fails to heartbeat within interval', async () => {
    await bench.store.writePolicy(quick)
    const ids = await bench.enqueue(2, { payload: { ms: 1_500 } })
    const silent = bench.work({ workerId: 'worker-a' })
    await vi.waitFor(() => expect(silent.told.filter(({ kind }) => kind === 'started')).toHaveLength(2), {
      timeout: 30_000,
    })
    silent.child.kill('SIGSTOP')
    const other = bench.work({ workerId: 'worker-b' })
    await bench.untilJobs(ids, 'succeeded')
    // Told after it was written.
    await vi.waitFor(() => expect(other.told.filter(({ kind }) => kind === 'ended')).toHaveLength(2), {
      timeout: 30_000,
    })
    for (const id of ids) {
      const reap = (await bench.store.listEvents(id)).find(({ type }) => type === 'reaper:requeued')
      expect(reap?.data).toMatchObject({
        table: 'embedding_jobs',
        details: { locked_by: expect.stringMatching(/^worker-a:[0-9a-f]{8}$/) },
      })
    }
  })

  it('FAIL-5 REAP-2 a job that kills its worker every time ends after five crashes, whatever its attempts', async () => {
    const [id = ''] = await bench.enqueue(1)
    for (let crash = 1; crash <= 5; crash++) {
      expect(await lease('worker-a')).toHaveLength(1)
      await bench.elapse(6 * MINUTE)
      const { requeuedIds, failedIds } = await runSweep(bench.store)
      expect([requeuedIds, failedIds]).toEqual(crash < 5 ? [[id], []] : [[], [id]])
    }
    expect(await bench.readRow(id)).toMatchObject({ status: 'failed', attempts: 0, error_code: 'timeout' })
  })
})
