// Workers, webhooks and rescues from the command line.
import { userInfo } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import { runSweep } from '../../src/runtime/services/run-sweep.ts'
import type { JobStore, WorkerReport } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { elapse } from '../support/postgres-harness.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runInProcess } from './support/in-process.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
let database: TestDatabase
let store: JobStore

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query(
    'truncate unstuck.jobs, unstuck.events, unstuck.workers, unstuck.webhooks, unstuck.deliveries',
  )
})

const run = (...args: string[]) => runInProcess(args, { DATABASE_URL: database.url })
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>
const forward = (ms: number) => elapse(database.pool, table, 'unstuck', ms)
const report: WorkerReport = {
  workerId: 'alpha:1',
  phase: 'running',
  version: '0.1.0',
  types: ['asr', 'mail'],
  concurrency: 4,
  running: 1,
  reportMs: 15_000,
}

describe('status', () => {
  it('SEE-3 never calls a rescue unneeded beside a job past its lease', async () => {
    expect((await run('status')).stdout).toContain('● rescue last 24 h: none completed')
    await store.enqueueJobs([{ type: 'asr' }])
    await store.claimJobs({ workerId: 'w1', queues: ['asr'], limit: 1, leaseMs: 10_000 })
    await forward(60_000)
    const { exitCode, stdout } = await run('status')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('! rescue last 24 h: none completed, 1 to rescue now — promise')
  })

  it('SEE-7 a fresh install without jobs is no failure, and says what sweeps', async () => {
    const fresh = await createInstalledDatabase()
    const { exitCode, stdout } = await runInProcess(['status'], { DATABASE_URL: fresh.url })
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('✗')
    expect(stdout).toContain(
      '○ no reaper has swept yet, and there is nothing to sweep; to start: unstuck worker handlers.js',
    )
    const freshStore = createPostgresStore({ client: fresh.pool, table })
    await freshStore.enqueueJobs([{ type: 'asr' }])
    await freshStore.claimJobs({ workerId: 'w1', queues: ['asr'], limit: 1 })
    const unswept = await runInProcess(['status'], { DATABASE_URL: fresh.url })
    expect(unswept.exitCode).toBe(1)
    expect(unswept.stdout).toContain(
      '✗ no reaper has swept yet; to start one: unstuck worker handlers.js, or unstuck reaper',
    )
    await fresh.drop()
  })

  it('SEE-8 counts dead jobs and workers, and names the command that ends each cause', async () => {
    await store.enqueueJobs([{ type: 'asr' }, { type: 'asr' }])
    await store.reportWorker(report)
    const jobs = await store.claimJobs({ workerId: 'alpha:1', queues: ['asr'], limit: 2, leaseMs: 10_000 })
    await store.failJobs(jobs.slice(0, 1).map((job) => ({ ...job, code: 'X', isRetryable: false })))
    await store.pauseQueue('mail', { actor: 'ana', reason: 'deploy' })
    await runSweep(store, { reaper: { reaperId: 'r' } })
    expect(await run('status')).toMatchObject({ exitCode: 0 })
    await forward(20_000)
    const { exitCode, stdout } = await run('status')
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/dead +1 +1 cause: unstuck dead list/)
    expect(stdout).toMatch(/workers +1 +1 live/)
    expect(stdout).toMatch(/Next: {2}unstuck reap --once +Requeues every job/)
    expect(stdout).toMatch(/Next: {2}unstuck queues resume mail --reason …/)
    const stuck = await run('stuck')
    expect(stuck.exitCode).toBe(1)
    expect(stuck.stdout).toMatch(/JOB +TYPE +OVERDUE/)
    expect(stuck.stdout).toMatch(/asr +\d+ s +alpha:1/)
    await store.resumeQueue('mail')
  })
})

describe('stuck', () => {
  const expire = async (): Promise<void> => {
    await store.enqueueJobs([{ type: 'asr' }])
    await store.claimJobs({ workerId: 'w1', queues: ['asr'], limit: 1, leaseMs: 10_000 })
    await forward(20_000)
  }

  it('SEE-7 SEE-8 a job whose row is locked is skipped by sweeps, and the session is ended instead', async () => {
    await expire()
    const client = await database.pool.connect()
    await client.query('begin')
    await client.query('select from unstuck.jobs for update')
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const { exitCode, stdout } = await run('stuck')
    await client.query('rollback')
    client.release()
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/row is locked +skipped/)
    expect(stdout).toContain(`Next:  psql -c 'select pg_terminate_backend(${rows[0]?.pid})'`)
    expect(stdout).not.toContain('unstuck reap')
  })

  it('SEE-7 SEE-8 in mode observe a sweep records it, and status offers to leave that mode', async () => {
    await expire()
    await store.setMode('observe')
    onTestFinished(async () => void (await store.setMode('reap')))
    expect((await run('stuck')).stdout).toMatch(/mode observe +recorded\n.*Next: {2}unstuck mode reap/)
    const { stdout } = await run('status')
    expect(stdout).toContain('Next:  unstuck mode reap')
    expect(stdout).not.toContain('unstuck reap --once')
  })

  it('SEE-7 SEE-8 a lease that is held after an outage waits for its worker, and no sweep is offered', async () => {
    await expire()
    await store.sweepJobs({ reaper: { reaperId: 'r', failingForMs: 15_000 } })
    const { stdout } = await run('stuck')
    expect(stdout).toMatch(/held after an outage +held/)
    expect(stdout).not.toContain('Next:')
    expect((await run('status')).stdout).not.toContain('unstuck reap --once')
    const [job] = (await store.listJobs()).jobs
    expect((await run('why', job?.id ?? '')).stdout).toMatch(/HELD +its lease expired while/)
  })
})

describe('workers', () => {
  it('SEE-9 a deploy in progress is shown with the versions of the application', async () => {
    await store.reportWorker({ ...report, isStart: true, appVersion: '1.4.1' })
    await forward(600_000)
    await store.reportWorker({ ...report, appVersion: '1.4.1' })
    const before = (await run('workers', 'list')).stdout
    expect(before).toContain('version 1.4.1')
    expect(before).not.toContain('deploy in progress')
    await store.reportWorker({ ...report, workerId: 'beta:2', isStart: true, appVersion: '1.4.2' })
    await store.drainWorker('alpha:1', { actor: 'ana' })
    const deploy = 'deploy in progress: 1 draining, 1 started within 2 min; versions 1.4.1 (1), 1.4.2 (1)'
    expect((await run('workers', 'list')).stdout).toContain(deploy)
    expect((await run('status')).stdout).toContain(deploy)
    expect(parse((await run('status', '--json')).stdout)).toMatchObject({
      tables: [{ fleet: { isDeploying: true, draining: 1, starting: 1 } }],
    })
  })

  it('SEE-8 a worker that goes on past a deadline is named with the command that drains it', async () => {
    await store.enqueueJobs([{ type: 'asr' }])
    await store.reportWorker(report)
    await store.claimJobs({ workerId: 'alpha:1', queues: ['asr'], limit: 1 })
    await database.pool.query("update unstuck.jobs set deadline_at = now() - interval '1 s'")
    const { exitCode, stdout } = await run('workers', 'list')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('Next:  unstuck workers drain alpha:1 --reason …')
  })

  it('SEE-5 list shows live ones, and old ones only with --all', async () => {
    await store.reportWorker({ ...report, workerId: 'old:1' })
    await forward(7_200_000)
    await store.reportWorker(report)
    const listed = await run('workers', 'list')
    expect(listed.exitCode).toBe(0)
    expect(listed.stdout).toMatch(/jobs +alpha:1 +live +off +\d+ m?s ago +0\/4 +– +– +0\.1\.0 +asr mail/)
    expect(listed.stdout).not.toContain('old:1')
    expect(parse((await run('workers', 'list', '--all', '--json')).stdout)).toMatchObject({
      workers: [
        { workerId: 'alpha:1', state: 'live' },
        { workerId: 'old:1', state: 'gone' },
      ],
    })
  })

  it('SEE-5 list exits with 1 where a worker is silent while its jobs run', async () => {
    await store.reportWorker(report)
    await store.enqueueJobs([{ type: 'asr' }])
    await store.claimJobs({ workerId: 'alpha:1', queues: ['asr'], limit: 1 })
    await forward(120_000)
    const listed = await run('workers', 'list')
    expect(listed).toMatchObject({ exitCode: 1 })
    expect(listed.stdout).toContain('silent, holds 1 job')
  })

  it('WORK-4 drain asks a worker, with who and why, and exits with 1 where there is none', async () => {
    await store.reportWorker(report)
    expect(await run('workers', 'drain', 'alpha:1', '--reason', 'new host')).toMatchObject({ exitCode: 0 })
    expect(await store.reportWorker(report)).toMatchObject({ isDrainRequested: true })
    expect(await store.listWorkers()).toMatchObject([
      { drainRequestedBy: userInfo().username, drainReason: 'new host' },
    ])
    expect((await run('workers', 'list')).stdout).toContain('drain requested by')
    const unknown = await run('workers', 'drain', 'beta:1', '--reason', 'x', '--json')
    expect(unknown.exitCode).toBe(1)
    expect(parse(unknown.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  it('OPS-9 why names the missing worker, and status the rescues of the day', async () => {
    const [job] = await store.enqueueJobs([{ type: 'burnin' }])
    await store.reportWorker(report)
    const why = await run('why', job?.jobId ?? '')
    expect(why.stdout).toContain('NO_WORKER_FOR_TYPE')
    expect(why.stdout).toContain('the only live worker does not handle burnin')
    await store.reportWorker({ ...report, types: ['burnin'] })
    expect((await run('why', job?.jobId ?? '')).stdout).toContain('1 worker handles burnin, 4 slots free')
  })

  it('SEE-8 status names a queue that no worker claims from, with the command that starts one', async () => {
    await store.enqueueJobs([{ type: 'mial' }])
    await forward(20_000)
    await store.reportWorker(report)
    const { stdout } = await run('status')
    expect(stdout).toContain(
      '✗ queue mial: 1 waiting; the only live worker does not handle mial, and none ever did',
    )
    expect(stdout).toContain('Next:  unstuck worker handlers.js')
    await store.reportWorker({ ...report, types: ['asr', 'mial'] })
    expect(parse((await run('status', '--json')).stdout)).toMatchObject({ tables: [{ unhandled: [] }] })
  })

  it('SEE-6 status shows rescue times and the promise', async () => {
    expect((await run('status')).stdout).toContain('rescue last 24 h: none completed — promise ≤ 72 s')
    await store.writePolicy({ reapBackoffStepsMs: [0], requeueRatePerS: 0 })
    const claim = () => store.claimJobs({ workerId: 'alpha:1', queues: ['asr'], limit: 1 })
    await store.enqueueJobs([{ type: 'asr' }])
    await claim()
    await forward(65_000)
    await store.sweepJobs()
    await claim()
    expect((await run('status')).stdout).toMatch(
      /● rescue last 24 h: 1 rescued \(1 crash\), p50 65 s, p95 65 s, worst 65 s — promise ≤ 72 s/,
    )
    expect(parse((await run('status', '--json')).stdout)).toMatchObject({
      tables: [{ slo: { rescued: 1, inTime: 1, share: 1 } }],
    })
  })
})

describe('webhooks', () => {
  it('OPS-10 add prints the secret once; list shows the webhook without it', async () => {
    const added = await run('webhooks', 'add', 'https://example.com/hooks', '--event', 'failed', '--json')
    expect(added.exitCode).toBe(0)
    const { secret, webhookId } = parse(added.stdout)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const listed = await run('webhooks', 'list')
    expect(listed.stdout).toContain(String(webhookId))
    expect(listed.stdout).not.toContain('whsec_')
    expect(parse((await run('webhooks', 'list', '--json')).stdout)).toMatchObject({
      webhooks: [{ url: 'https://example.com/hooks', events: ['failed'], createdBy: userInfo().username }],
    })
    expect(await run('webhooks', 'remove', String(webhookId))).toMatchObject({ exitCode: 0 })
    expect(await run('webhooks', 'remove', String(webhookId))).toMatchObject({ exitCode: 1 })
  })

  it('OPS-10 one is switched off and on again, with who and why', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const { webhookId } = await store.addWebhook({ url: 'https://example.com/', secret })
    const off = await run('webhooks', 'disable', webhookId, '--reason', 'noise', '--json')
    expect(parse(off.stdout)).toMatchObject({ webhook: { isActive: false, inactiveReason: 'noise' } })
    expect(await run('webhooks', 'enable', webhookId)).toMatchObject({ exitCode: 0 })
    expect(await store.listWebhooks()).toMatchObject([{ isActive: true }])
    const missing = await run('webhooks', 'enable', '00000000-0000-4000-8000-000000000000')
    expect(missing.exitCode).toBe(1)
  })

  it('OPS-8 an address that is none and an event that does not exist are refused', async () => {
    for (const args of [
      ['add', 'example.com'],
      ['add', 'https://ana:pw@example.com/'],
      ['add', 'https://example.com/', '--event', 'fialed'],
      ['add', 'https://example.com/', '--secret', 'hunter2'],
    ]) {
      const refused = await run('webhooks', ...args)
      expect(refused.exitCode).toBe(2)
      expect(refused.stdout).toBe('')
    }
    expect(await store.listWebhooks()).toEqual([])
  })

  it('OPS-10 deliveries are listed, and sent once more on demand', async () => {
    await store.addWebhook({
      url: 'https://example.com/',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      events: ['cancelled'],
    })
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    await store.cancelJobs([job?.jobId ?? ''])
    const [taken] = await store.takeDeliveries()
    if (taken === undefined) throw new Error('nothing is to be sent')
    await store.recordDelivery(taken, { isDelivered: false, status: 410, error: 'answered 410' })
    const listed = await run('webhooks', 'deliveries')
    expect(listed.stdout).toContain('answered 410')
    expect(parse((await run('webhooks', 'deliveries', '--status', 'delivered', '--json')).stdout)).toEqual({
      deliveries: [],
    })
    expect(await run('webhooks', 'redeliver', taken.deliveryId)).toMatchObject({ exitCode: 0 })
    expect(await store.takeDeliveries()).toMatchObject([{ deliveryId: taken.deliveryId, tries: 1 }])
    const missing = await run('webhooks', 'redeliver', '00000000-0000-4000-8000-000000000000')
    expect(missing.exitCode).toBe(1)
  })
})
