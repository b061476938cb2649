import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KillReport } from '../../../src/cli/health/kill-drill.ts'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { clipProfile } from '../../../src/profile/clip.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import { createPostgresStore, migrateUp } from '../../../src/store/postgres/index.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness } from '../../surface/worker-harness.ts'
import { runCommand, startCommand } from '../support/run-command.ts'

let database: TestDatabase
let store: JobStore
const env = () => ({ DATABASE_URL: database.url })
const run = (...args: string[]) => runCommand(['drill', ...args], env())
const brisk = { ...nativePolicy, sweepIntervalMs: 500, reapBackoffStepsMs: [0], requeueRatePerS: 0 }

beforeAll(async () => {
  database = await createInstalledDatabase()
  const profile = nativeProfile('unstuck')
  store = createPostgresStore({ client: database.pool, table: profile.tables[0] })
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.pool.query('truncate unstuck.jobs, unstuck.events, unstuck.sweeps, unstuck.workers')
  await store.writePolicy(brisk)
  await store.setMode('reap')
})

const jobsLeft = async (table = 'unstuck.jobs') =>
  (await database.pool.query<{ count: number }>(`select count(*)::int as count from ${table}`)).rows[0]?.count

// On a busy machine a process may take seconds to start.
const patient = { timeout: 120_000 }

describe('on the native table', patient, () => {
  it('REAP-1 a killed canary is rescued by the reaper that is there, and nothing is left of it', async () => {
    const reaper = startCommand(['reaper', '--json'], env())
    await reaper.said('"event":"sweep"')
    const { exitCode, stdout, stderr } = await run('--lease', '1s', '--budget', '60s')
    reaper.kill('SIGTERM')
    await reaper.result
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/worker canary-1 \(pid \d+\) held 1 job · SIGKILL/)
    expect(stdout).toMatch(/worker canary-1 \(pid \d+\) claimed .*, fence 1 · frozen/)
    expect(stdout).toMatch(/late write with the frozen worker’s lease, fence 1 → lease-lost/)
    expect(stdout).toMatch(/finished by canary-2 \(pid \d+\) after \d+\.\d s/)
    expect(stdout).toMatch(/^PASS {2}\d+\.\d s ≤ 60\.0 s/m)
    expect(await jobsLeft()).toBe(0)
  })

  it('LEASE-10 every job of killed workers runs again long before its lease ends, each with its time', async () => {
    await store.writePolicy({ ...brisk, defaultLeaseMs: 3_600_000, heartbeatMs: 15_000 })
    const harness = await openWorkerHarness(database.url)
    try {
      await harness.work().until(({ kind }) => kind === 'ready')
      const args = ['--times', '2', '--jobs', '12', '--lease', '1s', '--budget', '60s', '--json']
      const { exitCode, stdout, stderr } = await run(...args)
      expect([exitCode, stderr]).toEqual([0, ''])
      const { killed } = JSON.parse(stdout) as { killed: KillReport }
      expect(killed).toMatchObject({ isPassed: true, failure: null, skipped: null })
      expect(killed.rescues.map(({ kill }) => kill)).toEqual([...Array(12).fill(1), ...Array(12).fill(2)])
      expect(new Set(killed.rescues.map(({ jobId }) => jobId)).size).toBe(24)
      const times = killed.rescues.map(({ runsAgainAfterMs }) => runsAgainAfterMs)
      expect(killed.worstMs).toBe(Math.max(...times))
      expect(await jobsLeft()).toBe(0)
      const canaries = (await store.listWorkers()).filter(({ workerId }) => workerId.startsWith('canary'))
      expect(canaries).toMatchObject([{ state: 'stopped' }])
    } finally {
      await harness.endWorkers()
      await harness.close()
    }
  })

  it.each([
    ['the policy turns presence off', { presence: 'off' }, 'presence is off by the policy'],
    ['nobody watches', {}, 'no worker and no unstuck reaper watches'],
  ] as const)('LEASE-10 %s: it says so, and tests the lease alone', async (_, change, reason) => {
    await store.writePolicy({ ...brisk, ...change })
    const { stdout } = await run('--lease', '1s', '--budget', '1s', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      reapedAfterMs: null,
      killed: { skipped: reason, rescues: [], isPassed: true },
    })
  })

  it('REAP-1 nobody sweeps: it fails with exit code 1, says so, and cleans up', async () => {
    const { exitCode, stdout } = await run('--lease', '1s', '--budget', '3s')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('FAIL  it was not requeued within 3 s')
    expect(stdout).toContain('No sweep has run yet')
    expect(await jobsLeft()).toBe(0)
  })

  it('REAP-1 with --sweep it needs no reaper, and prints its figures as JSON', async () => {
    const { exitCode, stdout } = await run('--sweep', '--lease', '1s', '--budget', '60s', '--json')
    expect(exitCode).toBe(0)
    const report = JSON.parse(stdout) as Record<string, unknown>
    expect(report).toMatchObject({
      table: 'jobs',
      isPassed: true,
      failure: null,
      lateWrite: 'lease-lost',
      fences: [1, 2],
      budgetMs: 60_000,
      promiseMs: 1_000 + 500 + 0 + 2_000,
      leaseMs: 1_000,
    })
    expect(report['finishedAfterMs']).toBeGreaterThan(0)
  })

  it('REAP-1 other jobs are not touched', async () => {
    const [running, waiting] = await store.enqueueJobs([{ type: 'asr' }, { type: 'asr', delayMs: 3_600_000 }])
    await store.claimJob(running?.jobId ?? '', { workerId: 'somebody', leaseMs: 3_600_000 })
    const before = await Promise.all([running, waiting].map((job) => store.getJob(job?.jobId ?? '')))
    expect(await run('--sweep', '--lease', '1s', '--budget', '60s')).toMatchObject({ exitCode: 0 })
    expect(await Promise.all([running, waiting].map((job) => store.getJob(job?.jobId ?? '')))).toEqual(before)
    expect(await jobsLeft()).toBe(2)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'REAP-1 %s ends it with 130, and the canary is taken out',
    async (signal) => {
      const drill = startCommand(['drill', '--lease', '30s', '--budget', '5m'], env())
      await drill.said('frozen worker')
      await drill.said('· frozen')
      drill.kill(signal)
      const { exitCode, stderr } = await drill.result
      expect(exitCode).toBe(130)
      expect(stderr).toContain('interrupted')
      expect(await jobsLeft()).toBe(0)
    },
  )

  it('REAP-1 a drill that was killed itself leaves no process, and the next one takes its canary out', async () => {
    const drill = startCommand(['drill', '--lease', '1s', '--budget', '5m'], env())
    await drill.said('frozen worker')
    await drill.said('· frozen')
    drill.kill('SIGKILL')
    await drill.result
    expect(await jobsLeft()).toBe(1)
    await vi.waitFor(
      async () => {
        const { rows } = await database.pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
              and application_name like '%unstuck%'`,
        )
        expect(rows).toEqual([])
      },
      { timeout: 30_000 },
    )
    await database.pool.query(`update unstuck.jobs set created_at = created_at - interval '2 hours'`)
    expect(await run('--sweep', '--lease', '1s', '--budget', '60s')).toMatchObject({ exitCode: 0 })
    expect(await jobsLeft()).toBe(0)
  })

  it('REAP-1 interrupted, it takes its canary out and says so, with --json as one object', async () => {
    const drill = startCommand(['drill', '--json', '--lease', '1s', '--budget', '5m'], env())
    await vi.waitFor(async () => expect(await jobsLeft()).toBe(1), { timeout: 60_000 })
    drill.kill('SIGINT')
    const { exitCode, stdout, stderr } = await drill.result
    expect([exitCode, stdout]).toEqual([130, ''])
    const message = 'interrupted; the canary was deleted'
    expect(JSON.parse(stderr)).toEqual({ error: { code: 'INTERRUPTED', message, hint: null } })
    expect(await jobsLeft()).toBe(0)
  })

  it('REAP-1 in mode observe there is no rescue to prove: exit code 4', async () => {
    await store.setMode('observe')
    const { exitCode, stderr } = await run()
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(/observe mode.*\n.*unstuck mode reap/)
    expect(await jobsLeft()).toBe(0)
  })

  it('REAP-1 an engine whose leases do not fence fails the drill', async () => {
    await database.pool.query(`
      create function public.keep_first_lease() returns trigger language plpgsql as $$
      begin
        new.traceparent := coalesce(old.traceparent, new.lease_id::text);
        if new.lease_id is not null then new.lease_id := new.traceparent::uuid; end if;
        return new;
      end $$;
      create trigger keep_first_lease before update on unstuck.jobs for each row execute function public.keep_first_lease()`)
    try {
      const { exitCode, stdout } = await run('--sweep', '--lease', '1s', '--budget', '60s')
      expect(stdout).toContain('FAIL  the frozen worker’s lease could still write: completed')
      expect(exitCode).toBe(1)
    } finally {
      await database.pool.query(
        'drop trigger keep_first_lease on unstuck.jobs; drop function public.keep_first_lease()',
      )
    }
  })

  it('REAP-1 a duration that is none is refused', async () => {
    const { exitCode, stderr } = await run('--budget', 'soon')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Must be a duration such as 30s')
  })
})

describe('on an attached table', patient, () => {
  let withoutQueues: Awaited<ReturnType<typeof run>>

  beforeAll(async () => {
    await database.pool.query(clipTables)
    const clip = { databaseUrl: database.url, schema: 'unstuck', profile: clipProfile }
    await migrateUp(clip)
    withoutQueues = await run('--profile', 'clip', '--yes')
    await migrateUp({ ...clip, features: ['queues'] })
    const [table] = clipProfile.tables
    await createPostgresStore({ client: database.pool, table }).writePolicy({ ...brisk, maxAttempts: 3 })
  })

  it('REAP-1 a table whose workers would take the canary for a job of theirs is refused, with the remedy', async () => {
    expect([withoutQueues.exitCode, withoutQueues.stderr]).toEqual([
      4,
      expect.stringMatching(/without the feature queues\n.*unstuck attach --features queues/),
    ])
    expect(await jobsLeft('public.jobs')).toBe(0)
  })

  it('REAP-1 it asks first, for a worker without leases could take the canary', async () => {
    const { exitCode, stderr } = await run('--profile', 'clip', '--sweep')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/jobs is attached.*\n.*--yes/)
    expect(await jobsLeft('public.jobs')).toBe(0)
  })

  it('REAP-1 with --yes it is rescued there too, and the team’s table is as it was', async () => {
    const { exitCode, stdout } = await run(
      '--profile',
      'clip',
      '--sweep',
      '--yes',
      '--lease',
      '1s',
      '--budget',
      '60s',
    )
    expect(stdout).toContain('PASS')
    expect(exitCode).toBe(0)
    expect(await jobsLeft('public.jobs')).toBe(0)
  })

  it('REAP-1 a table with columns that only the team can fill is refused in plain words', async () => {
    await database.pool.query('alter table public.asr_jobs add column video text not null')
    const { exitCode, stderr } = await run('--profile', 'clip', '--table', 'asr_jobs', '--yes')
    expect([exitCode, stderr]).toEqual([
      4,
      expect.stringMatching(/table asr_jobs does not accept a canary: .*video/),
    ])
  })
})
