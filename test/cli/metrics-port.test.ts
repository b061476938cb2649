// Metrics and log lines of the processes that run until they are stopped.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { clipProfile } from '../../src/profile/clip.ts'
import { createPostgresStore, migrateUp } from '../../src/store/postgres/index.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runCommand, startCommand } from './support/run-command.ts'
import { startServe } from './support/serve-command.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
  await migrateUp({
    databaseUrl: database.url,
    schema: 'unstuck',
    profile: clipProfile,
    features: ['max-attempts'],
  })
})
afterEach(() => database.pool.query('delete from jobs; delete from asr_jobs'))
afterAll(() => database.drop())

const env = (): Record<string, string> => ({ DATABASE_URL: database.url, UNSTUCK_PROFILE: 'clip' })
const [jobs, asrJobs] = clipProfile.tables

/** A job whose worker is gone, in each table; the second has no attempt left. */
async function loseTwo(): Promise<string[]> {
  const ids: string[] = []
  for (const table of [jobs, asrJobs]) {
    if (table === undefined) throw new Error('the profile has two tables')
    const store = createPostgresStore({ client: database.pool, table })
    const type = table.defaultType ?? ''
    await store.enqueueJobs([{ type, stage: type, ...(table === asrJobs ? { maxAttempts: 1 } : {}) }])
    const [claimed] = await store.claimJobs({ workerId: 'gone', queues: [type], limit: 1, leaseMs: 1 })
    ids.push(claimed?.jobId ?? '')
  }
  return ids
}

const read = async (url: string) => (await fetch(url)).text()

type Running = ReturnType<typeof startCommand>

/** The first line of stderr that matches. Call it as soon as the command is started. */
const lineOf = (running: Running, pattern: RegExp) =>
  new Promise<string>((resolve, reject) => {
    running.onProgress((line) => {
      const [found] = pattern.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    void running.result.then(({ stderr }) => reject(new Error(`ended: ${stderr}`)))
  })
const ADDRESS = /http:\S+\/metrics/

async function end(running: Running): Promise<{ stdout: string; stderr: string }> {
  running.kill('SIGTERM')
  const { exitCode, stdout, stderr } = await running.result
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' })
  return { stdout, stderr }
}

describe('unstuck reaper', () => {
  it('REAP-10 SEE-2 counts what it did in each table, and logs a JSON line for each action', async () => {
    const [requeued, dead] = await loseTwo()
    const reaper = startCommand(['reaper', '--metrics-port', '0'], env())
    const url = await lineOf(reaper, ADDRESS)
    await reaper.said('"event":"reaper:failed(timeout)"')
    const metrics = await read(url)
    expect(metrics).toContain('unstuck_reaper_requeues_total{table="jobs",stage="clip"} 1')
    expect(metrics).toContain('unstuck_reaper_failures_total{table="asr_jobs",stage="asr"} 1')
    expect(metrics).toMatch(/unstuck_reaper_scan_duration_ms_count\{table="jobs",stage="all"\} [1-9]/)
    for (const table of ['jobs', 'asr_jobs']) {
      expect(metrics).toContain(`unstuck_overdue_jobs{table="${table}"} 0`)
      expect(metrics).toContain(`unstuck_rescue_promise_seconds{table="${table}"}`)
    }
    const { stdout } = await end(reaper)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        event: 'reaper:requeued',
        table: 'jobs',
        stage: 'clip',
        job_id: requeued,
        reason: 'lease_expired',
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        event: 'reaper:failed(timeout)',
        table: 'asr_jobs',
        job_id: dead,
      }),
    )
  })

  it('SEE-2 metrics are served on loopback unless an address is given', async () => {
    const reaper = startCommand(['reaper', '--metrics-port', '0'], env())
    const url = await lineOf(reaper, ADDRESS)
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect((await fetch(new URL('/', url))).status).toBe(404)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((found) => found !== undefined && !found.internal && found.family === 'IPv4')
    if (outside !== undefined) {
      const { port } = new URL(url)
      await expect(fetch(`http://${outside.address}:${port}/metrics`)).rejects.toThrow('fetch failed')
    }
    await end(reaper)
  })

  it('SEE-2 a port that is taken, or is none, ends it before the first sweep', async () => {
    const [jobId = ''] = await loseTwo()
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const refused = await runCommand(['reaper', '--metrics-port', String(port)], env())
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('EADDRINUSE') })
    expect(await runCommand(['reaper', '--metrics-port', '70000'], env())).toMatchObject({ exitCode: 2 })
    expect(await runCommand(['reaper', '--metrics-host', '0.0.0.0'], env())).toMatchObject({ exitCode: 2 })
    expect(await runCommand(['reap', '--once', '--metrics-port', '0'], env())).toMatchObject({ exitCode: 2 })
    const { rows } = await database.pool.query('select status from jobs where id = $1', [jobId])
    expect(rows).toEqual([{ status: 'processing' }])
  })

  it('SEE-2 variables of OpenTelemetry without its SDK are reported', async () => {
    const reaper = startCommand(['reaper'], { ...env(), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
    const warning = /OTEL_EXPORTER_OTLP_ENDPOINT is set, but @opentelemetry\/sdk-node is not installed/
    expect(await lineOf(reaper, warning)).toMatch(warning)
    await reaper.said('reaper:started')
    await end(reaper)
  })
})

describe('unstuck worker', () => {
  it('SEE-2 SEE-1 serves its own metrics, and logs JSON where nobody watches', async () => {
    const handlers = fileURLToPath(new URL('../surface/fixtures/handlers.mjs', import.meta.url))
    const worker = startCommand(['worker', handlers, '--metrics-port', '0', '--table', 'jobs'], env())
    const url = await lineOf(worker, ADDRESS)
    await worker.said('"event":"worker:started"')
    const metrics = await read(url)
    expect(metrics).toContain('unstuck_jobs_running{table="jobs"} 0')
    const { stdout } = await end(worker)
    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level')
  })
})

describe('unstuck serve', () => {
  it('SEE-2 its metrics tell the tables apart', async () => {
    await loseTwo()
    await database.pool.query(`insert into jobs (status) values ('queued'), ('queued')`)
    const { url } = await startServe([], { ...env(), UNSTUCK_METRICS_PUBLIC: '1' })
    await expect
      .poll(() => read(`${url}/metrics`))
      .toMatch(/unstuck_overdue_jobs\{table="jobs"\} 1[\s\S]*unstuck_overdue_jobs\{table="asr_jobs"\} 1/)
    const metrics = await read(`${url}/metrics`)
    expect(metrics).toContain('unstuck_queue_depth{table="jobs",queue="clip",state="waiting"} 2')
    expect(metrics).toContain('unstuck_queue_depth{table="asr_jobs",queue="asr",state="running"} 1')
  })
})
