// SQL alone: after the install everything is typed into psql, and pg_cron is the only thing that runs.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { executorProfile } from '../../../src/profile/executor.ts'
import { migrateDown, migrateUp } from '../../../src/store/postgres/index.ts'
import {
  cronWrappers,
  deadWorkerTest,
  maxAttemptsTest,
  twiceTtlTest,
} from '../../support/tables/executor-document.ts'
import { executorTables } from '../../support/tables/executor-tables.ts'

const url = inject('cronUrl')

/** The rows as psql prints them, unaligned. */
function psql(text: string): string[] {
  const program = `${process.env['UNSTUCK_TEST_BINARIES']}/bin/psql`
  const { status, stdout, stderr } = spawnSync(
    program,
    ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1', url],
    { input: text, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return stdout.trim().split('\n').filter(Boolean)
}

const until = (timeoutMs: number, check: () => void) =>
  vi.waitFor(check, { timeout: timeoutMs, interval: 250 })

const nextSweep = async () => {
  psql(`update unstuck.sweeps set swept_at = null`)
  await until(75_000, () =>
    expect(
      psql(
        `select reaper_id from unstuck.sweeps where attachment = 'executor_jobs' and swept_at is not null`,
      ),
    ).toEqual(['pg_cron']),
  )
}

beforeAll(async () => {
  psql('create extension pg_cron;')
  psql(executorTables + cronWrappers)
  await migrateUp({ databaseUrl: url, schema: 'unstuck', profile: executorProfile })
  psql('select unstuck.schedule_sweeps__executor_jobs(15);')
})

afterAll(() => {
  psql('delete from cron.job')
})

it('OPS-3 sweeps are scheduled every 15 seconds, as the version of pg_cron can', () => {
  const [version] = psql(`select extversion from pg_extension where extname = 'pg_cron'`)
  const hasSeconds = Number.parseFloat(String(version)) >= 1.5
  expect(psql(`select jobname, schedule, command from cron.job`)).toEqual([
    hasSeconds
      ? `unstuck executor_jobs|15 seconds|call unstuck.run_sweep__executor_jobs('pg_cron')`
      : `unstuck executor_jobs|* * * * *|call unstuck.run_sweeps__executor_jobs(15, 'pg_cron')`,
  ])
  expect(psql('select unstuck.schedule_sweeps__executor_jobs(20); select count(*) from cron.job;')).toEqual([
    hasSeconds ? '20 seconds' : '* * * * *',
    '1',
  ])
  psql('select unstuck.schedule_sweeps__executor_jobs(15);')
})

it('OPS-3 003 Test 1: Simulate Dead Worker: with no other program the job is back in less than 30 seconds', async () => {
  await nextSweep()
  const since = performance.now()
  psql(deadWorkerTest.create)
  await until(30_000, () => {
    const [row = ''] = psql(deadWorkerTest.verify)
    expect(row).toMatch(
      /^test-ttl-reclaim-[\d.]+\|run_tsa\|queued\|2\|RECLAIMED_TTL: Exceeded TTL \(30 min\)/,
    )
  })
  expect(performance.now() - since).toBeLessThan(30_000)
})

it('OPS-4 003 Test 2: No Jobs > 2x TTL: a job of any age is gone with the next sweeps', async () => {
  await nextSweep()
  psql(`insert into public.executor_jobs (type, status, locked_at, locked_by)
        values ('run_tsa', 'processing', now() - interval '3 days', 'gone')`)
  expect(psql(twiceTtlTest)).toEqual(['1'])
  await until(30_000, () => expect(psql(twiceTtlTest)).toEqual(['0']))
  expect(psql('select * from public.executor_jobs_stale_validation')).toEqual([])
})

it('OPS-3 003 Test 3: Max Attempts → Dead', async () => {
  await nextSweep()
  psql(maxAttemptsTest.create)
  await until(30_000, () => {
    const [row = ''] = psql(maxAttemptsTest.verify)
    expect(row).toMatch(/^test-max-attempts-[\d.]+\|dead\|10\|RECLAIMED_TTL: .*Max attempts reached/)
  })
})

it('OPS-3 003 the cron job that calls a wrapper reclaims first, then does what it did before', async () => {
  psql("select unstuck.unschedule_sweeps('executor_jobs');")
  psql(`truncate public.executor_jobs;`)
  psql(deadWorkerTest.create)
  psql(`select cron.schedule('orchestrator', '* * * * *', 'select public.process_orchestrator_jobs()');`)
  await until(75_000, () =>
    expect(psql('select url, queued from public.http_calls')).toContain('orchestrator|1'),
  )
  expect(psql(deadWorkerTest.verify)).toHaveLength(1)
})

it('OPS-5 detach takes the sweeps off pg_cron, and no job of the team', async () => {
  psql('select unstuck.schedule_sweeps__executor_jobs();')
  await migrateDown({ databaseUrl: url, schema: 'unstuck' })
  expect(psql('select jobname from cron.job')).toEqual(['orchestrator'])
})
