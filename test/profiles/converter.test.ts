// Document 004, section by section: what its own chapters "Tests" and "Exit criteria" ask for.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import type { ClaimedJob } from '../../src/job/lease.ts'
import { clipProfile } from '../../src/profile/clip.ts'
import { converterProfile } from '../../src/profile/converter.ts'
import { sourceExists } from '../../src/runtime/operations/source-exists.ts'
import { runSweep } from '../../src/runtime/services/run-sweep.ts'
import { type GatewayServer, startGatewayServer } from '../support/gateway-server.ts'
import { converterTables } from '../support/tables/converter-tables.ts'
import { openProfileBench, type ProfileBench } from './profile-bench.ts'

const MINUTE = 60_000
const [table] = converterProfile.tables
const { codes } = converterProfile

let bench: ProfileBench
let gateway: GatewayServer
beforeAll(async () => {
  gateway = await startGatewayServer()
  bench = await openProfileBench(converterProfile, converterTables, {
    app: 'converter-app',
    env: { GATEWAY_URL: gateway.url, RETRY_BASE_DELAY_MS: '300', RETRY_JITTER_MAX_MS: '0' },
  })
})
beforeEach(async () => {
  Object.assign(gateway, { status: 200, headers: {}, posts: [], probes: 0 })
  await bench.reset()
})
afterEach(() => bench.endWorkers())
afterAll(async () => {
  gateway.close()
  await bench.close()
})

function claim(workerId = 'worker-1', limit = 1): Promise<ClaimedJob[]> {
  return bench.store.claimJobs({ workerId, queues: ['convert'], limit })
}

async function claimOne(workerId?: string): Promise<ClaimedJob> {
  const [job] = await claim(workerId)
  if (job === undefined) throw new Error('there was no job to claim')
  return job
}

/** As Prisma writes it: the client makes the id. */
async function createJob(id: string, columns: Record<string, string> = {}): Promise<void> {
  const names = ['id', ...Object.keys(columns)]
  await bench.rows(
    `insert into conversion_jobs (${names.join(', ')}) values ($1${Object.values(columns)
      .map((value) => `, ${value}`)
      .join('')})`,
    [id],
  )
}

const unleased = { status: 'queued', leased_by: null, lease_expires_at: null }
const storyOf = (id: string) => bench.store.listEvents(id).then((events) => events.map(({ type }) => type))

describe('3.1 Error taxonomy', () => {
  it('FAIL-2 has exactly ten public codes, and maps every other to one of them', () => {
    expect(codes?.publicCodes.join(' ')).toBe(
      'NOT_PDF TOO_LARGE GW_4XX GW_5XX GW_TIMEOUT IO_ERROR NOT_READY EXPIRED FORBIDDEN UNKNOWN',
    )
    const mapped = {
      GW_UNAVAILABLE: 'GW_5XX',
      ECONNREFUSED: 'GW_5XX',
      PARSE_ERROR: 'GW_4XX',
      VALIDATION_ERROR: 'GW_4XX',
      INVALID_MAPPING: 'GW_4XX',
      MEMORY_ERROR: 'UNKNOWN',
      whatever: 'UNKNOWN',
    }
    for (const [code, publicCode] of Object.entries(mapped))
      expect(codes?.toPublicCode(code)).toBe(publicCode)
  })

  it('FAIL-2 shows the dead code of a reap as GW_TIMEOUT, which no other profile does', async () => {
    await bench.store.writePolicy({ maxCrashes: 1 })
    const [id = ''] = await bench.enqueue(1)
    await claimOne()
    await bench.elapse(6 * MINUTE)
    expect((await runSweep(bench.store)).failedIds).toEqual([id])
    const { error_code } = await bench.readRow(id)
    expect(error_code).toBe('timeout')
    expect(codes?.toPublicCode(String(error_code))).toBe('GW_TIMEOUT')
    expect(clipProfile.codes).toBeUndefined()
  })

  it('FAIL-3 retryability by code', () => {
    const retryable = codes?.publicCodes.filter((code) => codes.isRetryable(code))
    expect(retryable).toEqual(['GW_5XX', 'GW_TIMEOUT', 'IO_ERROR', 'UNKNOWN'])
    expect(codes?.isRetryable('UNKNOWN', { isCausedByUser: true })).toBe(false)
  })
})

describe('3.2 Retry policy', () => {
  it('FAIL-4 backoff calculation: 5000 ms × 2^attempt + random(0–5000 ms), three attempts', async () => {
    const [id = ''] = await bench.enqueue(1)
    for (const [attempt, baseMs] of [5_000, 10_000].entries()) {
      const held = await claimOne()
      const [failed] = await bench.store.failJobs([{ ...held, code: 'GW_5XX', reason: 'bad gateway' }])
      expect(failed?.retryInMs).toBeGreaterThanOrEqual(baseMs)
      expect(failed?.retryInMs).toBeLessThanOrEqual(baseMs + 5_000)
      const row = await bench.readRow(id)
      expect(row).toMatchObject({ ...unleased, attempt_count: attempt + 1, error_code: 'GW_5XX' })
      expect(Number(row['retry_after']) - Number(row['updated_at'])).toBe(failed?.retryInMs)
      expect(await claim()).toEqual([])
      await bench.elapse(baseMs + 5_001)
    }
    expect(await bench.store.failJobs([{ ...(await claimOne()), code: 'GW_5XX' }])).toMatchObject([
      { outcome: 'dead', retryInMs: null },
    ])
    expect(await bench.readRow(id)).toMatchObject({ status: 'failed', attempt_count: 3, retry_after: null })
  })

  it('FAIL-6 the index (status, retry_after) stays beside the one that the claim uses', async () => {
    const indexes = await bench.rows(`select indexname from pg_indexes where tablename = 'conversion_jobs'`)
    expect(indexes.map((row) => row['indexname'])).toEqual(
      expect.arrayContaining([
        'conversion_jobs_status_retry_after_idx',
        expect.stringMatching(/^unstuck_conversion_jobs_ready/),
      ]),
    )
  })
})

describe('3.4 Worker loop', () => {
  it('LEASE-1 the claim goes by created_at and leaves what has a retry_after in the future', async () => {
    await createJob('third', { created_at: `now() - interval '1 minute'` })
    await createJob('first', { created_at: `now() - interval '3 minutes'` })
    await createJob('later', {
      created_at: `now() - interval '9 minutes'`,
      retry_after: `now() + interval '1 minute'`,
    })
    await createJob('second', { created_at: `now() - interval '2 minutes'` })
    expect((await claim('worker-1', 9)).map(({ jobId }) => jobId)).toEqual(['first', 'second', 'third'])
    await bench.elapse(2 * MINUTE)
    expect(await claimOne()).toMatchObject({ jobId: 'later' })
  })

  it('LEASE-1 leases are for reclaim alone: one left on a queued row hides it from nobody', async () => {
    await createJob('left', { leased_by: `'old'`, lease_expires_at: `now() + interval '1 hour'` })
    expect(await claimOne()).toMatchObject({ jobId: 'left' })
  })

  it('LEASE-2 the claim sets the lease, started_at the first time, lastAttemptAt every time', async () => {
    await createJob('cm3x0', { payload: `'{"source": "a.pdf"}'` })
    await claimOne('worker-1')
    const first = await bench.readRow('cm3x0')
    expect(first).toMatchObject({ status: 'processing', leased_by: 'worker-1', attempt_count: 1 })
    expect(Number(first['lease_expires_at']) - Number(first['updated_at'])).toBe(5 * MINUTE)
    expect(first['last_attempt_at']).toEqual(first['started_at'])
    await bench.elapse(6 * MINUTE)
    await runSweep(bench.store)
    await claimOne('worker-2')
    const second = await bench.readRow('cm3x0')
    expect(second).toMatchObject({ leased_by: 'worker-2', attempt_count: 2 })
    expect(Number(second['last_attempt_at']) - Number(second['started_at'])).toBeGreaterThan(6 * MINUTE)
    expect(second['updated_at']).toEqual(second['last_attempt_at'])
  })

  it('REAP-1 reclaim logic: an expired lease is requeued at once, at its last attempt too', async () => {
    const [id = ''] = await bench.enqueue(1)
    for (let crash = 1; crash <= 5; crash++) {
      expect(await claimOne()).toMatchObject({ jobId: id, attempt: crash })
      expect((await runSweep(bench.store)).reaped).toEqual([])
      await bench.elapse(6 * MINUTE)
      const { requeuedIds, failedIds } = await runSweep(bench.store)
      // Three attempts bound failures; lost leases have five of their own.
      expect([requeuedIds, failedIds]).toEqual(crash < 5 ? [[id], []] : [[], [id]])
      if (crash < 5) expect(await bench.readRow(id)).toMatchObject({ ...unleased, attempt_count: crash })
    }
    expect(await bench.readRow(id)).toMatchObject({ status: 'failed', error_code: 'timeout' })
  })

  it('FAIL-5 a failure after a crash at the last attempt is final', async () => {
    const [id = ''] = await bench.enqueue(1)
    for (let crash = 1; crash <= 3; crash++) {
      await claimOne()
      await bench.elapse(6 * MINUTE)
      await runSweep(bench.store)
    }
    expect(await bench.store.failJobs([await claimOne()])).toMatchObject([{ jobId: id, outcome: 'dead' }])
  })

  it('WORK-1 the reclaim step is part of every worker: a job of a killed worker runs again soon', async () => {
    expect(table.policy.sweepIntervalMs).toBe(2_000)
    const env = { WORKER_LEASE_TTL_SEC: '2', HEARTBEAT_SEC: '1' }
    const workers = [bench.work({}, env), bench.work({}, env)]
    await Promise.all(workers.map((worker) => worker.until(({ kind }) => kind === 'ready')))
    const [id = ''] = await bench.enqueue(1, { payload: { ms: 1_500 } })
    const started = workers.map((worker) => worker.until(({ kind }) => kind === 'started').then(() => worker))
    ;(await Promise.any(started)).child.kill('SIGKILL')
    await bench.untilJobs([id], 'succeeded')
    const events = await bench.store.listEvents(id)
    const again = events.filter(({ type }) => type === 'processing').at(-1)
    const reap = events.find(({ type }) => type === 'reaper:requeued')
    const [{ ms: lateMs = 0 } = {}] = await bench.rows(
      `select extract(epoch from $1::timestamptz - $2::timestamptz)::float8 * 1000 as ms`,
      [again?.at, reap?.data.details['lease_expires_at']],
    )
    // The sweep, and what a busy machine takes to start a job.
    expect(lateMs).toBeLessThan(2_000 + 8_000)
  })

  it('LEASE-1 no duplicate processing: two workers share the jobs', async () => {
    const ids = await bench.enqueue(30)
    const workers = [bench.work({ concurrency: 3 }), bench.work({ concurrency: 3 })]
    await bench.untilJobs(ids, 'succeeded')
    expect(gateway.posts.map(({ jobId }) => jobId).toSorted()).toEqual(ids.toSorted())
    expect(workers.flatMap(({ told }) => told.filter(({ kind }) => kind === 'started'))).toHaveLength(30)
  })
})

describe('5 Tests: the gateway', () => {
  it('FAIL-3 gateway 400 → GW_4XX, no retry', async () => {
    gateway.status = 400
    const [id = ''] = await bench.enqueue(1)
    bench.work()
    await bench.untilJobs([id], 'dead')
    expect(gateway.posts).toHaveLength(1)
    const row = await bench.readRow(id)
    expect(row).toMatchObject({ status: 'failed', error_code: 'GW_4XX', attempt_count: 1 })
    expect(String(row['error_message'])).not.toMatch(/\n/)
    expect(await storyOf(id)).toEqual(['queued', 'processing', 'failed'])
  })

  it.each([
    ['502', 502, 'GW_5XX', {}],
    ['timeout', null, 'GW_TIMEOUT', { GATEWAY_TIMEOUT_MS: '200' }],
  ])('FAIL-4 %s → retries with spacing, capped at three attempts', async (_, status, code, env) => {
    gateway.status = status
    const [id = ''] = await bench.enqueue(1)
    bench.work({}, env)
    await bench.untilJobs([id], 'dead')
    const [first = 0, second = 0, third = 0, ...more] = gateway.posts.map(({ atMs }) => atMs)
    expect(more).toEqual([])
    expect(second - first).toBeGreaterThanOrEqual(300)
    expect(third - second).toBeGreaterThanOrEqual(600)
    expect(await bench.readRow(id)).toMatchObject({ error_code: code, attempt_count: 3 })
    const story = 'queued processing retry processing retry processing failed'
    expect(await storyOf(id)).toEqual(story.split(' '))
  })

  it('RATE-6 429 → queued again with no attempt spent, however often, and completed in the end', async () => {
    Object.assign(gateway, { status: 429, headers: { 'retry-after': '1' } })
    const [id = ''] = await bench.enqueue(1)
    bench.work()
    const released = async () => (await bench.store.getJob(id))?.releases
    await expect.poll(released, { timeout: 30_000 }).toBeGreaterThan(3)
    gateway.status = 200
    await bench.untilJobs([id], 'succeeded')
    expect(await bench.readRow(id)).toMatchObject({ attempt_count: 1, error_code: null })
    const [first = 0, second = 0, third = 0] = gateway.posts.map(({ atMs }) => atMs)
    expect(second - first).toBeGreaterThanOrEqual(1_000)
    expect(third - second).toBeGreaterThanOrEqual(1_000)
  })

  it('FAIL-3 200 with an HTML page → GW_4XX, no retry, and no address in the message', async () => {
    gateway.headers = { 'content-type': 'text/html' }
    const [id = ''] = await bench.enqueue(1)
    bench.work()
    await bench.untilJobs([id], 'dead')
    expect(gateway.posts).toHaveLength(1)
    const row = await bench.readRow(id)
    expect(codes?.toPublicCode(String(row['error_code']))).toBe('GW_4XX')
    expect(row['error_message']).toBe('the gateway answered 200 with an HTML page')
  })

  it('SEE-3 a job that completes says complete; one whose upload expired says expired', async () => {
    const [good = ''] = await bench.enqueue(1)
    const [expired = ''] = await bench.enqueue(1, { payload: { isExpired: 1 } })
    bench.work()
    await bench.untilJobs([good], 'succeeded')
    await bench.untilJobs([expired], 'dead')
    expect(await storyOf(good)).toEqual(['queued', 'processing', 'complete'])
    expect(await storyOf(expired)).toEqual(['queued', 'processing', 'expired'])
    expect(await bench.readRow(expired)).toMatchObject({ error_code: 'EXPIRED' })
  })
})

describe('3.3 Circuit breaker', () => {
  it('BREAK-1 BREAK-2 BREAK-3 opens under forced faults, keeps jobs queued, and resumes on recovery', async () => {
    gateway.status = 503
    const ids = await bench.enqueue(12)
    const env = { CIRCUIT_WINDOW: '4', CIRCUIT_FAIL_THRESHOLD: '50%', CIRCUIT_COOLDOWN_MS: '500' }
    const worker = bench.work({ concurrency: 2 }, env)
    await worker.until(({ kind, to }) => kind === 'breaker' && to === 'open')
    expect(await bench.store.listBreakers()).toMatchObject([
      { name: 'gateway', settings: { mode: 'hold', windowCalls: 4, failThreshold: 0.5, cooldownMs: 500 } },
    ])
    // After the cooldown the address is probed, and no job is spent on that.
    const { length: posts } = gateway.posts
    const { probes } = gateway
    await vi.waitFor(() => expect(gateway.probes).toBeGreaterThan(probes + 2), { timeout: 30_000 })
    expect(gateway.posts.length - posts).toBeLessThanOrEqual(2)
    const untouched = await bench.rows(
      `select count(*)::int as n from conversion_jobs where status = 'queued' and attempt_count = 0`,
    )
    expect(Number(untouched[0]?.['n'])).toBeGreaterThan(4)
    gateway.status = 200
    await bench.untilJobs(ids, 'succeeded')
    expect(worker.told.filter(({ kind }) => kind === 'breaker').at(-1)).toMatchObject({ to: 'closed' })
  })
})

describe('3.5 Lease extension and graceful shutdown', () => {
  it('LEASE-7 a long job extends its lease and completes', async () => {
    expect(table.policy.heartbeatMs).toBe(30_000)
    const env = { WORKER_LEASE_TTL_SEC: '2', HEARTBEAT_SEC: '1' }
    const [id = ''] = await bench.enqueue(1, { payload: { ms: 5_000 } })
    bench.work({}, env)
    bench.work({}, env)
    await bench.untilJobs([id], 'succeeded')
    expect(await bench.store.getJob(id)).toMatchObject({ fence: 1, attempt: 1, crashes: 0 })
  })

  it('WORK-4 SIGTERM during processing: the job in flight is completed', async () => {
    const [id = ''] = await bench.enqueue(1, { payload: { ms: 500 } })
    const worker = bench.work()
    await worker.until(({ kind }) => kind === 'started')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(await bench.readRow(id)).toMatchObject({ status: 'completed', leased_by: null })
  })

  it('WORK-4 SIGTERM during processing: what cannot finish is requeued cleanly', async () => {
    const [id = ''] = await bench.enqueue(1, { payload: { ms: 60_000 } })
    const worker = bench.work({ graceMs: 200 })
    await worker.until(({ kind }) => kind === 'started')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    expect(await bench.readRow(id)).toMatchObject({ ...unleased, attempt_count: 0, retry_after: null })
  })
})

describe('3.6 Manual retry', () => {
  const uploads = mkdtempSync(join(tmpdir(), 'unstuck-uploads-'))
  writeFileSync(join(uploads, 'there.pdf'), '%PDF')
  afterAll(() => rmSync(uploads, { recursive: true }))

  async function failedJob(source: string): Promise<string> {
    const [id = ''] = await bench.enqueue(1, { owner: 'ana', payload: { source } })
    await bench.store.failJobs([
      { ...(await claimOne()), code: 'GW_4XX', reason: 'no text', isRetryable: false },
    ])
    return id
  }

  /** The preconditions of the document: the caller's job, failed, and its source still there. */
  async function retry(id: string, owner: string): Promise<string> {
    const job = await bench.store.getJob(id)
    if (job === null || !(await sourceExists(uploads)(job))) return 'no-source'
    const [answer] = await bench.store.retryJobs([id], { owner, generation: job.generation })
    return answer?.outcome ?? ''
  }

  it('OPS-1 only for owners: it resets the error and the attempts, and bumps queuedAt and updatedAt', async () => {
    const id = await failedJob('there.pdf')
    await bench.elapse(MINUTE)
    const before = await bench.readRow(id)
    expect(await retry(id, 'eve')).toBe('not-found')
    expect(await bench.readRow(id)).toEqual(before)
    expect(await retry(id, 'ana')).toBe('retried')
    const after = await bench.readRow(id)
    expect(after).toMatchObject({ ...unleased, error_code: null, error_message: null, attempt_count: 0 })
    expect(Number(after['queued_at']) - Number(before['queued_at'])).toBeGreaterThanOrEqual(MINUTE)
    expect(after['updated_at']).toEqual(after['queued_at'])
    expect(await claimOne()).toMatchObject({ jobId: id, attempt: 1, generation: 2 })
  })

  it('OPS-1 only a failed job, and only when its source exists', async () => {
    expect(await retry(await failedJob('gone.pdf'), 'ana')).toBe('no-source')
    const [waiting = ''] = await bench.enqueue(1, { owner: 'ana', payload: { source: 'there.pdf' } })
    expect(await retry(waiting, 'ana')).toBe('not-dead')
  })
})

describe('7 Config knobs', () => {
  it('OPS-8 every variable of the document has its effect, and none is warned about', () => {
    const env = {
      UNSTUCK_PROFILE: 'converter',
      RETRY_MAX_ATTEMPTS: '4',
      RETRY_BASE_DELAY_MS: '1000',
      RETRY_JITTER_MAX_MS: '0',
      WORKER_LEASE_TTL_SEC: '120',
      GATEWAY_TIMEOUT_MS: '9000',
      WORKER_CONCURRENCY: '3',
      CIRCUIT_WINDOW: '40',
      CIRCUIT_FAIL_THRESHOLD: '0.25',
      CIRCUIT_COOLDOWN_MS: '1500',
      DATABASE_URL: 'postgres://localhost/converter',
      GATEWAY_URL: 'https://gateway.example.com',
      UPLOADS_DIR: '/srv/uploads',
      RESULTS_DIR: '/srv/results',
    }
    expect(loadConfig({ env })).toMatchObject({
      profile: 'converter',
      policy: {
        maxAttempts: 4,
        failureBackoffBaseMs: 1_000,
        failureBackoffJitterMs: 0,
        defaultLeaseMs: 120_000,
      },
      enqueueMaxAttempts: 4,
      workerConcurrency: 3,
      databaseUrl: env.DATABASE_URL,
      gateway: {
        url: env.GATEWAY_URL,
        timeoutMs: 9_000,
        uploadsDir: env.UPLOADS_DIR,
        resultsDir: env.RESULTS_DIR,
      },
      circuit: { window: 40, failThreshold: 0.25, cooldownMs: 1_500 },
      warnings: [],
    })
  })
})
