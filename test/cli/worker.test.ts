import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore } from '../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../support/installed-database.ts'
import { elapse } from '../support/postgres-harness.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { runCommand, startCommand } from './support/run-command.ts'

const profile = nativeProfile('unstuck')
const [table] = profile.tables
const handlers = fileURLToPath(new URL('../surface/fixtures/handlers.mjs', import.meta.url))
let database: TestDatabase
let store: JobStore

beforeAll(async () => {
  database = await createInstalledDatabase()
  store = createPostgresStore({ client: database.pool, table })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events')
})

const env = () => ({ DATABASE_URL: database.url })

async function loseJob(): Promise<string> {
  const [job] = await store.enqueueJobs([{ type: 'asr' }])
  await store.claimJobs({ workerId: 'worker-dead', queues: ['asr'], limit: 1, leaseMs: 1_000 })
  await elapse(database.pool, table, 'unstuck', 3_600_000)
  return job?.jobId ?? ''
}

it('WORK-1 SEE-1 unstuck worker runs the handlers of a module, logs each end as one line, and leaves on SIGTERM', async () => {
  const [job] = await store.enqueueJobs([{ type: 'greet', payload: { name: 'Ana' } }])
  const worker = startCommand(['worker', handlers, '--json'], env())
  await worker.said('job completed')
  worker.kill('SIGTERM')
  const { exitCode, stdout } = await worker.result
  expect(exitCode).toBe(0)
  expect((await store.getJob(job?.jobId ?? ''))?.result).toEqual({ greeting: 'hello Ana' })
  const lines = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>)
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'job:ended', job_id: job?.jobId, status: 'succeeded', attempt: 1 }),
  )
  expect(stdout).not.toContain('Ana')
})

it('a module without handlers is refused with what to write', async () => {
  const { exitCode, stderr } = await runCommand(
    ['worker', fileURLToPath(new URL('./support/run-command.ts', import.meta.url))],
    env(),
  )
  expect(exitCode).toBe(2)
  expect(stderr).toContain('handlers')
})

it('SEE-6 unstuck stuck lists what is past its lease, and exits with 1', async () => {
  expect(await runCommand(['stuck'], env())).toMatchObject({ exitCode: 0, stdout: 'no stuck jobs\n' })
  const jobId = await loseJob()
  const { exitCode, stdout } = await runCommand(['stuck', '--json'], env())
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    stuck: [{ table: 'jobs', jobId, reason: 'lease_expired', workerId: 'worker-dead' }],
  })
})

it('SEE-6 unstuck status shows counts and the last sweep, and exits with 1 if jobs stay past their lease', async () => {
  await loseJob()
  const late = await runCommand(['status'], env())
  expect(late.exitCode).toBe(1)
  expect(late.stdout).toContain('past their lease 1')
  await store.sweepJobs({ reaper: { reaperId: 'test' } })
  const { exitCode, stdout } = await runCommand(['status', '--json'], env())
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    tables: [{ table: 'jobs', health: { overdue: 0, waiting: 1 } }],
  })
})

it('OPS-2 unstuck prune deletes what ended before the retention, and refuses one outside 7 to 30 days', async () => {
  const [job] = await store.enqueueJobs([{ type: 'asr' }])
  await store.cancelJobs([job?.jobId ?? ''])
  await elapse(database.pool, table, 'unstuck', 10 * 86_400_000)
  const kept = await runCommand(['prune', '--json'], env())
  expect(JSON.parse(kept.stdout)).toEqual({ tables: [{ table: 'jobs', deleted: 0, retentionDays: 14 }] })
  const { stdout } = await runCommand(['prune', '--json'], { ...env(), EMBED_JOB_RETENTION_DAYS: '7' })
  expect(JSON.parse(stdout)).toEqual({ tables: [{ table: 'jobs', deleted: 1, retentionDays: 7 }] })
  const refused = await runCommand(['prune'], { ...env(), EMBED_JOB_RETENTION_DAYS: '90' })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('EMBED_JOB_RETENTION_DAYS')
})

/** A proxy to the database; once cut, it counts attempted heartbeats. */
async function startCuttable(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  let refusedBeats = 0
  const server = createServer((near) => {
    near.on('error', () => {})
    if (isCut) {
      near.once('data', (startup) => {
        if (startup.includes('unstuck heartbeat')) refusedBeats += 1
        near.destroy()
      })
      return
    }
    const far = connect(Number(target.port), target.hostname)
    far.on('error', () => {})
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return {
    url: url.href,
    cut,
    mend: () => {
      isCut = false
    },
    refusedBeats: () => refusedBeats,
  }
}

it('SEE-1 a cut of the database is one line about heartbeats, and one with their number when they work again', async () => {
  const way = await startCuttable(database.url)
  await store.enqueueJobs([{ type: 'wait' }])
  const worker = startCommand(['worker', handlers, '--json'], {
    DATABASE_URL: way.url,
    HEARTBEAT_SEC: '1',
  })
  await worker.said('job started')
  way.cut()
  await worker.said('heartbeat failed')
  await expect.poll(way.refusedBeats, { timeout: 60_000 }).toBeGreaterThan(5)
  way.mend()
  await worker.said('heartbeat works again')
  worker.kill('SIGKILL')
  const { stdout } = await worker.result
  const lines = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>)
  expect(lines.filter(({ event }) => event === 'heartbeat:failed')).toHaveLength(1)
  const [recovered] = lines.filter(({ event }) => event === 'heartbeat:recovered')
  expect(recovered?.['failures']).toBeGreaterThanOrEqual(3)
}, 120_000)
