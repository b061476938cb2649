// Breakers and rate limits between real worker processes, a real database and a real HTTP service that fails on command.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts'

const profile = nativeProfile('unstuck')
let database: TestDatabase
let store: JobStore
let workers: WorkerProcess[]
let server: Server
let gatewayUrl: string
let calls: { method: string; path: string; atMs: number }[]
let status: number
/** Answers calls that are not probes. Default: `status`. */
let answer: ((response: ServerResponse) => void) | null

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
  server = createServer((request, response) => {
    calls.push({ method: request.method ?? '', path: request.url ?? '', atMs: performance.now() })
    if (request.method === 'POST' && answer !== null) answer(response)
    else response.writeHead(status).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  gatewayUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await database.drop()
})

beforeEach(async () => {
  workers = []
  calls = []
  status = 200
  answer = null
  await database.pool.query(
    'truncate unstuck.jobs, unstuck.events, unstuck.breakers, unstuck.rate_limits cascade',
  )
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 3_000,
    heartbeatMs: 500,
    sweepIntervalMs: 1_000,
    failureBackoffStepsMs: [100],
    failureBackoffJitterMs: 0,
    maxAttempts: 50,
  })
})
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
})

function work(options: Record<string, unknown>, env: Record<string, string> = {}): WorkerProcess {
  const worker = startWorkerProcess(database.url, options, {
    app: 'gateway-app',
    env: { GATEWAY_URL: gatewayUrl, GATEWAY_TIMEOUT_MS: '2000', ...env },
  })
  workers.push(worker)
  return worker
}

async function enqueue(type: string, count: number): Promise<string[]> {
  const jobs = await store.enqueueJobs(Array.from({ length: count }, () => ({ type })))
  return jobs.map(({ jobId }) => jobId)
}

const untilAll = (ids: string[], expected: string) =>
  vi.waitFor(
    async () => {
      const jobs = await Promise.all(ids.map((jobId) => store.getJob(jobId)))
      expect(jobs.filter((job) => job?.status !== expected)).toEqual([])
    },
    { timeout: 30_000, interval: 100 },
  )
const untilState = (state: string) =>
  vi.waitFor(async () => expect((await store.listBreakers())[0]?.state).toBe(state), { timeout: 30_000 })
const posts = () => calls.filter(({ method }) => method === 'POST').length

for (const mode of ['hold', 'half-open'] as const) {
  it(`BREAK-1 BREAK-2 BREAK-3 BREAK-4 a gateway that fails opens the breaker of all workers, and its recovery closes it (${mode})`, async () => {
    status = 502
    const dependencies = { gateway: { mode, minCalls: 4, closeAfter: 2, probeIntervalMs: 50 } }
    // From the environment, as document 004 names them.
    const env = { CIRCUIT_WINDOW: '4', CIRCUIT_FAIL_THRESHOLD: '50%', CIRCUIT_COOLDOWN_MS: '400' }
    const first = work({ dependencies, concurrency: 2 }, env)
    const second = work({ dependencies, concurrency: 2 }, env)
    await Promise.all([
      first.until(({ kind }) => kind === 'ready'),
      second.until(({ kind }) => kind === 'ready'),
    ])
    const ids = await enqueue('convert', 30)
    await untilState('open')
    expect((await store.listBreakers())[0]?.settings).toMatchObject({ windowCalls: 4, cooldownMs: 400, mode })
    await Promise.any(
      workers.map((worker) => worker.until(({ kind, to }) => kind === 'breaker' && to === 'open')),
    )

    // Open: what nobody started is untouched, and the failing service is left alone but for probes.
    const countRunning = async () => (await store.readHealth()).running
    if (mode === 'hold') await expect.poll(countRunning).toBe(0)
    const before = posts()
    const since = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const jobs = await Promise.all(ids.map((jobId) => store.getJob(jobId)))
    if (mode === 'hold') expect(jobs.filter((job) => job?.status !== 'waiting')).toEqual([])
    expect(jobs.filter((job) => job?.attempt === 0).length).toBeGreaterThan(10)
    // Half-open lets one job through after each cooldown of 400 ms; hold lets none.
    const cooldowns = Math.ceil((performance.now() - since) / 400)
    expect(posts() - before).toBeLessThanOrEqual(mode === 'hold' ? 2 : 2 * cooldowns)
    if (mode === 'hold') expect(calls.some(({ method }) => method === 'GET')).toBe(true)

    status = 200
    await untilAll(ids, 'succeeded')
    await untilState('closed')
    const done = await Promise.all(ids.map((jobId) => store.getJob(jobId)))
    for (const job of done) expect(job).toMatchObject({ crashes: 0, timeouts: 0 })
    // A job that half-open lets through, and the gateway still refuses, is released without an attempt.
    if (mode === 'hold') expect(done.filter((job) => job?.releases !== 0)).toEqual([])
  }, 120_000)
}

it('BREAK-3 health probes that succeed while calls fail close nothing, and half-open spends no attempt', async () => {
  await store.writePolicy({ maxAttempts: 3 })
  answer = (response) => response.writeHead(503).end()
  const settings = { minCalls: 4, windowCalls: 4, cooldownMs: 300, closeAfter: 2, probeIntervalMs: 50 }
  const worker = work({ dependencies: { gateway: settings }, concurrency: 2 })
  await worker.until(({ kind }) => kind === 'ready')
  const ids = await enqueue('convert', 30)
  await worker.until(({ kind, to }) => kind === 'breaker' && to === 'open')
  await expect.poll(async () => (await store.readHealth()).running, { timeout: 30_000 }).toBe(0)
  const before = posts()
  const read = () => Promise.all(ids.map((jobId) => store.getJob(jobId)))
  const failures = async () => (await read()).reduce((sum, job) => sum + (job?.failures ?? 0), 0)
  const spent = await failures()
  // Six tries in half-open fail, one after the other, while `/` answers 200.
  await vi.waitFor(() => expect(posts() - before).toBeGreaterThanOrEqual(6), { timeout: 30_000 })
  expect(calls.some(({ method }) => method === 'GET')).toBe(true)
  expect(worker.told.filter(({ kind, to }) => kind === 'breaker' && to === 'closed')).toEqual([])
  expect(await failures()).toBe(spent)
  expect((await read()).filter((job) => job?.status === 'dead')).toEqual([])

  answer = null
  await untilAll(ids, 'succeeded')
  await untilState('closed')
  expect(await failures()).toBe(spent)
}, 120_000)

it('BREAK-3 in mode hold the probe asks the address that a variable sets', async () => {
  answer = (response) => response.writeHead(503).end()
  const settings = {
    mode: 'hold',
    minCalls: 1,
    windowCalls: 1,
    cooldownMs: 100,
    closeAfter: 1,
    probeIntervalMs: 50,
  }
  const env = { UNSTUCK_GATEWAY_PROBE_URL: `${gatewayUrl}/ready` }
  const worker = work({ dependencies: { gateway: settings } }, env)
  await worker.until(({ kind }) => kind === 'ready')
  const [jobId = ''] = await enqueue('convert', 1)
  const probed = () => calls.filter(({ method }) => method === 'GET').map(({ path }) => path)
  await expect.poll(() => probed().length, { timeout: 30_000 }).toBeGreaterThan(0)
  expect(new Set(probed())).toEqual(new Set(['/ready']))
  answer = null
  await untilAll([jobId], 'succeeded')
})

it('SEE-1 the end of a job says what the gateway answered and how its breaker is', async () => {
  const worker = work({ dependencies: { gateway: { minCalls: 1, windowCalls: 1 } } })
  const [good] = await enqueue('convert', 1)
  expect(await worker.until(({ kind, jobId }) => kind === 'ended' && jobId === good)).toMatchObject({
    end: 'completed',
    gatewayStatus: 200,
  })
  status = 503
  const [bad] = await enqueue('convert', 1)
  expect(await worker.until(({ kind, jobId }) => kind === 'ended' && jobId === bad)).toMatchObject({
    end: 'retried',
    code: 'GW_5XX',
    gatewayStatus: 503,
  })
})

const postTimes = () => calls.filter(({ method }) => method === 'POST').map(({ atMs }) => atMs)

it('RATE-6 a 429 pauses the dependency for all workers, and no job loses an attempt by it', async () => {
  await store.writePolicy({ maxAttempts: 1 })
  let limits = 1
  answer = (response) =>
    limits-- > 0 ? response.writeHead(429, { 'retry-after': '3' }).end() : response.end('{}')
  const workers = [work({ concurrency: 2 }), work({ concurrency: 2 })]
  await Promise.all(workers.map((worker) => worker.until(({ kind }) => kind === 'ready')))
  const [first = ''] = await enqueue('convert', 1)
  await untilState('held')
  expect((await store.listBreakers())[0]).toMatchObject({ reason: 'limited', calls: 1, failures: 0 })
  const others = await enqueue('convert', 6)
  await untilAll([first, ...others], 'succeeded')
  const [limitedMs = 0, ...laterMs] = postTimes()
  expect(laterMs).toHaveLength(7)
  expect(Math.min(...laterMs) - limitedMs).toBeGreaterThanOrEqual(3_000)
  expect(await store.getJob(first)).toMatchObject({ attempt: 1, failures: 0, releases: 1 })
  for (const jobId of others) expect(await store.getJob(jobId)).toMatchObject({ attempt: 1, releases: 0 })
  const ended = workers.flatMap(({ told }) => told.filter(({ kind }) => kind === 'ended'))
  expect(ended.filter(({ end }) => end === 'released')).toMatchObject([
    { jobId: first, gatewayStatus: 429, reason: 'the gateway answered 429', retryInMs: 3_000 },
  ])
})

it('RATE-6 three 429 in a row leave a job of three attempts as it was', async () => {
  await store.writePolicy({ maxAttempts: 3 })
  let limits = 3
  answer = (response) =>
    limits-- > 0 ? response.writeHead(429, { 'retry-after': '1' }).end() : response.end('{}')
  work({})
  const [jobId = ''] = await enqueue('convert', 1)
  await untilAll([jobId], 'succeeded')
  expect(await store.getJob(jobId)).toMatchObject({ attempt: 1, failures: 0, releases: 3, error: null })
  expect(postTimes()).toHaveLength(4)
})

it('RATE-6 a 503 with Retry-After costs no attempt, and is a failure for the breaker', async () => {
  await store.writePolicy({ maxAttempts: 1 })
  let failures = 1
  answer = (response) =>
    failures-- > 0 ? response.writeHead(503, { 'retry-after': '2' }).end() : response.end('{}')
  work({})
  const [jobId = ''] = await enqueue('convert', 1)
  await untilState('held')
  expect((await store.listBreakers())[0]).toMatchObject({ calls: 1, failures: 1 })
  await untilAll([jobId], 'succeeded')
  expect(await store.getJob(jobId)).toMatchObject({ attempt: 1, failures: 0, releases: 1 })
})

it('RATE-1 RATE-5 two processes share one limit: never more starts than burst + rate × time', async () => {
  const limits = [{ key: 'shared', ratePerS: 20, burst: 5 }]
  await database.pool.query('create table starts (at timestamptz not null)')
  await database.pool.query(
    `create function note_start() returns trigger language plpgsql as
     $$ begin insert into starts select clock_timestamp() where new.status = 'succeeded'; return new; end $$`,
  )
  await database.pool.query(
    'create trigger note_start after update on unstuck.jobs for each row execute function note_start()',
  )
  const ids = await enqueue('limited', 60)
  work({ limits, concurrency: 8 })
  work({ limits, concurrency: 8 })
  await untilAll(ids, 'succeeded')
  const { rows } = await database.pool.query<{ at: Date }>('select at from starts order by at')
  const times = rows.map(({ at }) => at.getTime())
  expect(times).toHaveLength(60)
  // A job ends after its token was taken: those under way at the start of a window end in it too.
  const underWay = 2 * 8
  for (let from = 0; from < times.length; from++) {
    for (let to = from; to < times.length; to++) {
      const windowMs = (times[to] ?? 0) - (times[from] ?? 0)
      expect(to - from + 1).toBeLessThanOrEqual(underWay + 5 + Math.ceil((20 * windowMs) / 1_000))
    }
  }
  const jobs = await Promise.all(ids.map((jobId) => store.getJob(jobId)))
  for (const job of jobs) expect(job).toMatchObject({ attempt: 1, failures: 0, crashes: 0 })
  await database.pool.query('drop trigger note_start on unstuck.jobs')
}, 120_000)
