// Worker and reaper as processes of Bun; the test itself runs under Node and looks from outside.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Job } from '../../../src/job/job.ts'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { readEventSource } from '../../http/stream/event-source.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess, type WorkerProcess } from '../../surface/worker-process.ts'
import { compile, installProject, packPackages, readQuickstart, run } from '../package/packed.ts'

const bun = join(import.meta.dirname, 'node_modules/@oven/bun-linux-x64/bin/bun')
const command = fileURLToPath(new URL('../../../bin/unstuck.js', import.meta.url))
const profile = nativeProfile('unstuck')
let database: TestDatabase
let store: JobStore
let workers: WorkerProcess[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())

beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events')
  await store.writePolicy({
    ...nativePolicy,
    defaultLeaseMs: 1_500,
    heartbeatMs: 300,
    // Workers sweep once at their start and no more here: what brings a job back is the reaper.
    sweepIntervalMs: 600_000,
    reapBackoffStepsMs: [0],
    requeueRatePerS: 0,
  })
})

afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL')
  await Promise.all(workers.map(({ ended }) => ended))
  workers = []
})

function work(options: Record<string, unknown> = {}): WorkerProcess {
  const worker = startWorkerProcess(database.url, options, { execPath: bun })
  workers.push(worker)
  return worker
}

async function enqueue(type: string, ms: number, count = 1): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({ type, payload: { ms } }))
  return (await store.enqueueJobs(jobs)).map(({ jobId }) => jobId)
}

async function untilJob(jobId: string, status: Job['status']): Promise<Job> {
  let job: Job | null = null
  await expect
    .poll(
      async () => {
        job = await store.getJob(jobId)
        return job?.status
      },
      { timeout: 30_000 },
    )
    .toBe(status)
  return job as unknown as Job
}

it('WORK-1 a worker under Bun finishes 20 jobs, each once', async () => {
  const ids = await enqueue('quick', 0, 20)
  const worker = work()
  expect(readlinkSync(`/proc/${worker.child.pid}/exe`)).toBe(realpathSync(bun))
  for (const id of ids) expect((await untilJob(id, 'succeeded')).result).toEqual({ done: true })
  expect(worker.told.filter(({ kind }) => kind === 'effect')).toHaveLength(20)
})

it('LEASE-9 under Bun a handler that blocks the event loop for three leases keeps its job', async () => {
  const [jobId = ''] = await enqueue('block', 4_500)
  const worker = work()
  const reaper = startReaper()
  const job = await untilJob(jobId, 'succeeded')
  await reaper.stop()
  expect(job).toMatchObject({ fence: 1, crashes: 0, result: { blocked: true } })
  expect(worker.told.some(({ kind }) => kind === 'heartbeat-failed')).toBe(false)
})

it('REAP-1 under Bun the job of a killed worker is requeued by the reaper and finished by another worker', async () => {
  const [jobId = ''] = await enqueue('slow', 60_000)
  const first = work()
  await first.until(({ kind }) => kind === 'started')
  const second = work()
  await second.until(({ kind }) => kind === 'ready')
  first.child.kill('SIGKILL')
  await database.pool.query(`update unstuck.jobs set payload = '{"ms": 10}'`)
  const reaper = startReaper()
  expect(await untilJob(jobId, 'succeeded')).toMatchObject({ fence: 2, crashes: 1, failures: 0 })
  expect(await reaper.stop()).toBe(0)
})

it('WORK-4 under Bun SIGTERM gives running jobs back without an attempt, and the process ends with 0', async () => {
  const [jobId = ''] = await enqueue('slow', 60_000)
  const worker = work({ graceMs: 100 })
  await worker.until(({ kind }) => kind === 'started')
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toEqual({ code: 0, signal: null })
  expect(await store.getJob(jobId)).toMatchObject({ status: 'waiting', attempt: 0, interruptions: 1 })
})

it('OPS-1 under Bun.serve the HTTP API answers under a path of its own, streams, and knows its peer', async () => {
  const child = spawn(
    bun,
    [fileURLToPath(new URL('../../surface/fixtures/bun-serve-app.mjs', import.meta.url))],
    {
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(child, 'exit')
  try {
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const url = `http://127.0.0.1:${Number(line)}/ops`
    expect((await fetch(`${url}/v1/jobs`)).status).toBe(401)
    const headers = { 'x-forwarded-user': 'ana', 'content-type': 'application/json' }
    const body = JSON.stringify({ type: 'bun', payload: { text: 'ä' } })
    const made = await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body })
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    expect(await store.getJob(id)).toMatchObject({ type: 'bun', payload: { text: 'ä' } })
    const reader = readEventSource(await fetch(`${url}/v1/stream?topics=counts`, { headers }))
    await reader.next(({ event }) => event === 'counts')
    await reader.close()
  } finally {
    child.kill('SIGTERM')
    await ended
  }
})

it('compiles and runs the quickstart in an empty project of Bun', { timeout: 300_000 }, async () => {
  const { home, core } = await packPackages()
  try {
    const project = await installProject(home, [core, '@types/node@20'])
    // As `bun init` writes it.
    const options = {
      module: 'preserve',
      moduleResolution: 'bundler',
      verbatimModuleSyntax: true,
      noEmit: true,
    }
    await compile(project, readQuickstart(), options)
    const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url }
    const { stdout } = await run(bun, ['src/main.ts'], { cwd: project, env })
    expect(stdout).toContain('completed')
    expect(stdout).toContain('Hello Ana')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

function startReaper(): { stop(): Promise<unknown> } {
  const child = spawn(bun, [command, 'reap', '--interval-sec', '1'], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  return {
    async stop() {
      child.kill('SIGTERM')
      const [code] = (await ended) as unknown[]
      return code
    },
  }
}
