import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { nativeProfile } from '../../src/profile/native.ts'
import type { JobStore } from '../../src/store/job-store.ts'
import { createPostgresStore, migrateUp } from '../../src/store/postgres/index.ts'
import { elapse } from '../support/postgres-harness.ts'
import { clipTables } from '../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { runCommand, startCommand } from './support/run-command.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(clipTables)
})
afterAll(() => database.drop())

const env = () => ({ DATABASE_URL: database.url })
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>

describe('words', () => {
  it('OPS-8 lists its commands in groups', async () => {
    const { exitCode, stdout } = await runCommand(['--help'])
    expect(exitCode).toBe(0)
    for (const command of ['demo', 'migrate', 'reap', 'config']) expect(stdout).toContain(command)
    const groups = [...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, title]) => title)
    expect(groups).toEqual(['Options', 'Run', 'Look', 'Act', 'Set up'])
  })

  it('proposes the command that was meant, with the exit code of wrong usage', async () => {
    const { exitCode, stderr } = await runCommand(['raep'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Did you mean reap?')
  })

  it('OPS-8 reports all bad settings together, each with what it got and what it takes', async () => {
    const bad = { ...env(), HEARTBEAT_SEC: 'often', REAPER_INTERVAL_SEC: '-1' }
    const { exitCode, stdout, stderr } = await runCommand(['config'], bad)
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/HEARTBEAT_SEC.*often/)
    expect(stderr).toMatch(/REAPER_INTERVAL_SEC.*-1/)
  })

  it('OPS-8 prints every setting with its source, and no password', async () => {
    const { exitCode, stdout } = await runCommand(['config', '--json'], {
      ...env(),
      QUEUE_VISIBILITY_SEC: '120',
    })
    expect(exitCode).toBe(0)
    const values = parse(stdout)['values'] as { name: string; value: unknown; source: string }[]
    expect(values).toContainEqual(
      expect.objectContaining({
        name: 'policy.defaultLeaseMs',
        value: 120_000,
        source: 'env QUEUE_VISIBILITY_SEC',
      }),
    )
    expect(stdout).not.toContain(new URL(database.url).password)
  })

  it('says which profiles there are when it is given another', async () => {
    const { exitCode, stderr } = await runCommand(['migrate', 'sql', '--profile', 'clipp'], env())
    expect(exitCode).toBe(2)
    expect(stderr).toContain('clip')
  })

  it('reports an unreachable database with its own exit code', async () => {
    const url = 'postgres://nobody:secret@127.0.0.1:1/nothing'
    const { exitCode, stderr } = await runCommand(['migrate', 'status'], { DATABASE_URL: url })
    expect(exitCode).toBe(3)
    expect(stderr).not.toContain('secret')
  })

  it('OPS-8 a demo on a server that does not answer has nothing to clean up', async () => {
    const { exitCode, stderr } = await runCommand(['demo', '--database-url', 'postgres://127.0.0.1:1/x'])
    expect(exitCode).toBe(3)
    expect(stderr).toMatch(/^unstuck: connect ECONNREFUSED 127\.0\.0\.1:1\n +Is the server running.*\n$/)
  })

  it('asks for a database where none is configured', async () => {
    const { exitCode, stderr } = await runCommand(['reap', '--once'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('DATABASE_URL')
  })
})

describe('migrate', () => {
  it('OPS-7 installs, reports that all is current, and removes everything', async () => {
    expect(await runCommand(['migrate', 'status', '--profile', 'clip'], env())).toMatchObject({ exitCode: 1 })
    const up = await runCommand(['migrate', 'up', '--profile', 'clip', '--json'], env())
    expect(up).toMatchObject({ exitCode: 0, stderr: '' })
    expect(parse(up.stdout)['steps']).toContain('attach public.asr_jobs')
    const status = await runCommand(['migrate', 'status', '--profile', 'clip', '--json'], env())
    expect(status.exitCode).toBe(0)
    expect(parse(status.stdout)).toMatchObject({ isCurrent: true, pending: [] })

    expect(await runCommand(['migrate', 'down', '--profile', 'clip'], env())).toMatchObject({ exitCode: 0 })
    const { rows } = await database.pool.query(`select 1 from pg_namespace where nspname = 'unstuck'`)
    expect(rows).toEqual([])
    const again = await runCommand(['migrate', 'down', '--json'], env())
    expect(parse(again.stdout)).toMatchObject({ wasInstalled: false })
  })

  it('refuses a profile whose table is not there, and installs nothing', async () => {
    const empty = await createTestDatabase()
    try {
      const { exitCode, stderr } = await runCommand(['migrate', 'up', '--profile', 'clip'], {
        DATABASE_URL: empty.url,
      })
      expect(exitCode).toBe(2)
      expect(stderr).toContain('public.jobs')
      const { rows } = await empty.pool.query(`select 1 from pg_namespace where nspname = 'unstuck'`)
      expect(rows).toEqual([])
    } finally {
      await empty.drop()
    }
  })

  it('prints the SQL without a connection', async () => {
    const { exitCode, stdout } = await runCommand(['migrate', 'sql', '--schema', 'elsewhere'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('create or replace function "elsewhere"."reap_jobs"')
    expect(stdout).not.toContain('"unstuck"')
  })
})

describe('reap', () => {
  const profile = nativeProfile('unstuck')
  const [table] = profile.tables
  let store: JobStore
  let jobId: string

  beforeAll(async () => {
    await migrateUp({ databaseUrl: database.url, schema: 'unstuck', profile })
    store = createPostgresStore({ client: database.pool, table })
  })

  beforeEach(async () => {
    await database.pool.query('truncate unstuck.jobs, unstuck.events')
    const [job] = await store.enqueueJobs([{ type: 'asr' }])
    jobId = job?.jobId ?? ''
    await store.claimJobs({ workerId: 'worker-dead', queues: ['asr'], limit: 1, leaseMs: 10_000 })
    await elapse(database.pool, table, 'unstuck', 60_000)
  })

  it('REAP-13 shows with --dry-run what it would do, and changes nothing', async () => {
    const { exitCode, stdout } = await runCommand(['reap', '--dry-run'], env())
    expect(exitCode).toBe(0)
    expect(stdout).toContain('WOULD REQUEUE 1')
    expect(stdout).toContain('nothing was changed')
    expect((await store.getJob(jobId))?.status).toBe('running')
  })

  it('REAP-11 sweeps once and prints the ids it requeued and the ids it ended', async () => {
    const { exitCode, stdout } = await runCommand(['reap', '--once', '--json'], env())
    expect(exitCode).toBe(0)
    expect(parse(stdout)).toMatchObject({ tables: [{ table: 'jobs', requeuedIds: [jobId], failedIds: [] }] })
    expect((await store.getJob(jobId))?.status).toBe('waiting')
  })

  it('REAP-6 sweeps at start and at every interval until SIGTERM', async () => {
    await store.writePolicy({ reapBackoffStepsMs: [0], requeueRatePerS: 0 })
    const reaper = startCommand(['reaper', '--json', '--interval-sec', '1'], env())
    await reaper.said(jobId)
    const again = await store.claimJobs({ workerId: 'worker-dead', queues: ['asr'], limit: 1, leaseMs: 1 })
    expect(again.map((job) => job.jobId)).toEqual([jobId])
    await vi.waitFor(async () => expect((await store.getJob(jobId))?.crashes).toBe(2), { timeout: 30_000 })
    reaper.kill('SIGTERM')
    expect(await reaper.result).toMatchObject({ exitCode: 0 })
    const health = await store.readHealth()
    expect(health.reaperAgeMs).toBeLessThan(30_000)
  })

  it('a service that cannot work does not look alive', async () => {
    const { exitCode, stderr } = await runCommand(['reap', '--schema', 'nothing_here'], env())
    expect(exitCode).toBe(1)
    expect(stderr).toContain('nothing_here')
  })
})
