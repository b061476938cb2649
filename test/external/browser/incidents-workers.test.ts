// Six incidents of workers and sweeps: every claim of every page is checked against the database.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchBrowser } from './dashboard-bench.ts'
import { expectTrueCounts, type IncidentBench, openIncidents } from './incident-bench.ts'

let browser: Browser
let bench: IncidentBench

beforeAll(async () => {
  browser = await launchBrowser()
  bench = await openIncidents(browser)
})
afterAll(async () => {
  await bench?.end()
  await browser?.close()
})
beforeEach(() => bench.reset())
afterEach(() => expect(bench.complaints.splice(0)).toEqual([]))

/** Puts the lease of running jobs into the past. */
const expireLeases = () =>
  bench.pool.query(
    "update unstuck.jobs set lease_expires_at = now() - interval '1 min', heartbeat_at = now() - interval '11 min', " +
      "started_at = now() - interval '20 min' where status = 'running'",
  )
const ageSweep = (minutes: number) =>
  bench.pool.query('update unstuck.sweeps set swept_at = now() - make_interval(mins => $1)', [minutes])
const notices = () => bench.page.getByRole('region', { name: 'Notices' })

describe('an incident', () => {
  it('SEE-7 SEE-8 stuck: a job past its lease is swept from its own page', async () => {
    const [job] = await bench.startWorker({ id: 'w:1', type: 'asr', claims: 1 })
    await bench.sweepNow()
    await expireLeases()
    await expectTrueCounts(bench)
    expect((await bench.status()).exitCode).toBe(1)
    await bench.open(`/jobs/${job?.jobId}`)
    await bench.page.getByText('LEASE_OVER_AWAITING_REAPER').waitFor()
    const why = bench.page.getByRole('region', { name: 'Why' })
    await why.getByRole('button', { name: 'Sweep now' }).click()
    await bench.page.getByRole('dialog').getByRole('button', { name: 'Sweep now' }).click()
    await expect
      .poll(async () => (await bench.store.getJob(job?.jobId ?? ''))?.status, { timeout: 30_000 })
      .toBe('waiting')
    await expectTrueCounts(bench)
  })

  it('SEE-7 no reaper: running jobs that nobody sweeps are an alert with the command', async () => {
    await bench.startWorker({ id: 'w:1', type: 'asr', claims: 2 })
    await expectTrueCounts(bench)
    await notices().getByText('No reaper has swept jobs yet.').waitFor()
    await notices().getByRole('button', { name: 'Start a reaper' }).click()
    await bench.page.getByRole('dialog').getByText('unstuck reaper').waitFor()
    expect((await bench.status()).exitCode).toBe(1)
  })

  it('SEE-7 reaper late: the last sweep is as old as the database says', async () => {
    await bench.startWorker({ id: 'w:1', type: 'asr', claims: 2 })
    await bench.sweepNow()
    await bench.open('/')
    expect(
      await notices()
        .getByText(/No sweep/)
        .count(),
    ).toBe(0)
    await ageSweep(6)
    await expect
      .poll(() => notices().textContent(), { timeout: 30_000 })
      .toMatch(/No reaper has swept jobs for 6 min/)
    await expectTrueCounts(bench)
  })

  it('SEE-7 workers killed: they stand among the others in red, not among those that ended', async () => {
    await bench.startWorker({ id: 'killed:1', type: 'asr' })
    await bench.startWorker({ id: 'stopped:1', type: 'asr' })
    const stop = { workerId: 'stopped:1', phase: 'stopped' as const, types: ['asr'], concurrency: 4 }
    await bench.store.reportWorker({ ...stop, running: 0, reportMs: 60_000, exitCode: 0 })
    await bench.pool.query(
      "update unstuck.workers set seen_at = now() - interval '20 min' where worker_id = 'killed:1'",
    )
    await expectTrueCounts(bench)
    await bench.page.getByText('killed or lost', { exact: true }).waitFor()
    expect(await bench.page.getByText('stopped:1').count()).toBe(0)
    await bench.page.getByRole('button', { name: 'Show 1 worker that ended' }).click()
    await bench.page.getByText('stopped:1').waitFor()
  })

  it('SEE-7 worker silent: Now tells it from a killed one', async () => {
    await bench.startWorker({ id: 'killed:1', type: 'asr' })
    await bench.startWorker({ id: 'silent:1', type: 'asr', claims: 1 })
    await bench.pool.query("update unstuck.workers set seen_at = now() - interval '20 min'")
    await expectTrueCounts(bench)
    await bench.open('/')
    await bench.page
      .getByRole('link', { name: /^Workers 0 1 silent, 1 killed or lost within the hour/ })
      .waitFor()
  })

  it('SEE-7 all slots busy: jobs ahead and busy slots are named, and no start is promised', async () => {
    await bench.sweepNow()
    await bench.startWorker({ id: 'w:1', type: 'asr', slots: 2, claims: 5 })
    await bench.enqueue('asr', {}, 7)
    const [last = ''] = await bench.enqueue('asr')
    await expectTrueCounts(bench)
    await bench.open(`/jobs/${last}`)
    await bench.page
      .getByText('It waits for 7 jobs of asr before it, and no slot is free: 2 of 2 slots busy.')
      .waitFor()
    expect(await bench.page.getByText(/runs in about|Nothing for you to do/).count()).toBe(0)
    await bench.page.getByText('attempt 0 of 3').waitFor()
    await bench.page.getByText('Nothing has happened to it yet.').waitFor()
  })

  it('SEE-7 more running jobs than the page has room for: its title counts all of them', async () => {
    await bench.pool.query(
      "insert into unstuck.jobs (id, type, status, worker_id, lease_id, started_at, heartbeat_at, lease_expires_at, attempt) select unstuck.uuid_v7(), 'bulk', 'running', 'w:1', gen_random_uuid(), now(), now(), now() + interval '10 min', 1 from generate_series(1, 520)",
    )
    await bench.sweepNow()
    await bench.open('/')
    await bench.page.getByRole('heading', { name: '520 running jobs' }).waitFor()
    await bench.page.getByRole('link', { name: 'All running jobs' }).waitFor()
    await bench.page.getByRole('button', { name: /^Table/ }).click()
    await bench.page
      .getByRole('region', { name: 'Table of running jobs' })
      .getByText('All running jobs')
      .waitFor()
  })

  it('SEE-7 SEE-9 deploy under way: draining and new workers are counted, and a drained one is not live', async () => {
    await bench.sweepNow()
    await bench.startWorker({ id: 'old:1', type: 'asr', claims: 1 })
    await bench.startWorker({ id: 'new:1', type: 'asr' })
    await bench.store.drainWorker('old:1', { actor: 'ana', reason: 'deploy' })
    await expectTrueCounts(bench)
    const lane = bench.page.getByRole('listitem').filter({ hasText: 'old:1' })
    await lane.getByText('draining', { exact: true }).waitFor()
    await lane.getByText(/asked to drain by ana/).waitFor()
    await bench.open('/')
    await bench.page.getByText('Deploy in progress').waitFor()
    await bench.page.getByText(/1 draining, 1 started within 2 min/).waitFor()
  })
})
