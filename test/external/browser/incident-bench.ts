// Incidents on a real database, made by the engine's own verbs, and every number that the pages claim about them.
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Deployment, openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { type HttpServer, serve } from '../../../src/http/serve.ts'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { runSweep } from '../../../src/runtime/services/run-sweep.ts'
import { runInProcess } from '../../cli/support/in-process.ts'
import type { CommandResult } from '../../cli/support/run-command.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../../surface/worker-harness.ts'
import { openPage, settled } from './dashboard-bench.ts'

export interface IncidentBench extends WorkerHarness {
  url: string
  page: Page
  complaints: string[]
  open: (path: string) => Promise<void>
  /** A worker that reported just now, with its claimed jobs. */
  startWorker: (worker: {
    id: string
    type: string
    slots?: number
    claims?: number
  }) => Promise<ClaimedJob[]>
  die: (type: string, count: number, code: string) => Promise<void>
  sweepNow: () => Promise<void>
  status: () => Promise<CommandResult>
  end: () => Promise<void>
}

export async function openIncidents(browser: Browser): Promise<IncidentBench> {
  const database = await createInstalledDatabase()
  const harness = await openWorkerHarness(database.url)
  const config = loadConfig({ env: { DATABASE_URL: database.url } })
  const deployment: Deployment = openDeployment(config)
  const server: HttpServer = await serve({
    config,
    deployment,
    host: '127.0.0.1',
    port: 0,
    isReadOnly: false,
  })
  const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
  const { store } = harness
  return {
    ...harness,
    url: server.url,
    page,
    complaints,
    async reset() {
      await harness.reset()
      await harness.pool.query(
        'truncate unstuck.workers, unstuck.pauses, unstuck.dependencies, unstuck.probes, ' +
          'unstuck.operations, unstuck.operation_jobs',
      )
      await harness.pool.query('delete from unstuck.breakers')
      await harness.pool.query('update unstuck.sweeps set swept_at = null')
      await store.writePolicy({ defaultLeaseMs: 600_000, heartbeatMs: 15_000, sweepIntervalMs: 60_000 })
    },
    async open(path) {
      await page.goto(`${server.url}${path}`)
      await settled(page)
    },
    async startWorker({ id, type, slots = 4, claims = 0 }) {
      const report = { workerId: id, phase: 'running' as const, types: [type], concurrency: slots }
      await store.reportWorker({ ...report, isStart: true, running: 0, reportMs: 60_000 })
      if (claims === 0) return []
      await harness.enqueue(type, {}, claims)
      return store.claimJobs({ workerId: id, queues: [type], limit: claims })
    },
    async die(type, count, code) {
      await harness.enqueue(type, {}, count)
      const jobs = await store.claimJobs({ workerId: 'gone:1', queues: [type], limit: count })
      await store.failJobs(jobs.map((job) => ({ ...job, code, reason: code, isRetryable: false })))
    },
    async sweepNow() {
      await runSweep(store, { reaper: { reaperId: 'reaper-1' } })
    },
    status: () => runInProcess(['status', '--json'], { DATABASE_URL: database.url }),
    async end() {
      await page.context().close()
      await server.close()
      await deployment.close()
      await harness.close()
      await database.drop()
    },
  }
}

interface Claims {
  waiting: number
  due: number
  running: number
  overdue: number
  dead: number
}

/** Straight from the rows. */
async function truthOf({ pool }: IncidentBench): Promise<Claims> {
  const { rows } = await pool.query<Record<keyof Claims, string>>(`
    select count(*) filter (where status = 'waiting') as waiting,
           count(*) filter (where status = 'waiting' and coalesce(run_at, created_at) <= now()) as due,
           count(*) filter (where status = 'running') as running,
           count(*) filter (where status = 'running' and lease_expires_at < now()) as overdue,
           count(*) filter (where status = 'dead') as dead
      from unstuck.jobs`)
  const [row] = rows
  if (row === undefined) throw new Error('the jobs could not be counted')
  const { waiting, due, running, overdue, dead } = row
  return {
    waiting: Number(waiting),
    due: Number(due),
    running: Number(running),
    overdue: Number(overdue),
    dead: Number(dead),
  }
}

const numberIn = (text: string | null, pattern: RegExp) =>
  Number((pattern.exec(text ?? '')?.[1] ?? 'NaN').replaceAll(',', ''))

/** Every page that counts jobs counts them as the database does, and so do the command line and the HTTP API. */
export async function expectTrueCounts(bench: IncidentBench): Promise<void> {
  const { page, open } = bench
  const truth = await truthOf(bench)
  await open('/')
  const counter = async (name: string) => {
    const link = page.getByRole('link', { name: new RegExp(`^${name} (\\d|≥)`) })
    return numberIn(await link.locator('span').nth(1).textContent(), /([\d,]+)/)
  }
  const strip = async () =>
    numberIn(
      await page.getByRole('region', { name: 'Health' }).textContent(),
      /(?:kept|look|broken):([\d,]+)past their lease/,
    )
  await expect
    .poll(
      async () => ({
        waiting: await counter('Waiting'),
        due: await counter('Due now'),
        running: await counter('Running'),
        overdue: await strip(),
        dead: await counter('Dead'),
      }),
      { timeout: 30_000 },
    )
    .toEqual(truth)
  await open('/reaper')
  const card = page.getByRole('region', { name: 'Table jobs' })
  await expect
    .poll(async () => numberIn(await card.textContent(), /Past their lease([\d,]+)/), { timeout: 30_000 })
    .toBe(truth.overdue)
  await open('/queues')
  await expect.poll(() => sumOfColumn(page, 'Waiting'), { timeout: 30_000 }).toBe(truth.waiting)
  await expect.poll(() => sumOfColumn(page, 'Running'), { timeout: 30_000 }).toBe(truth.running)
  await open('/dead-letters')
  if (truth.dead > 0)
    await page
      .getByText(new RegExp(`\\b${truth.dead} jobs?\\b`))
      .first()
      .waitFor()
  await expectTrueWorkers(bench)
  const { stdout } = await bench.status()
  const [table] = (JSON.parse(stdout) as { tables: { health: Claims; dead: { jobs: number } }[] }).tables
  const { waiting, due, running, overdue } = table?.health ?? truth
  expect({ waiting, due, running, overdue, dead: table?.dead.jobs }).toEqual(truth)
}

/** The sum of a column of the table of queues. */
async function sumOfColumn(page: Page, column: string): Promise<number> {
  const table = page.getByRole('region', { name: 'Table of queues' }).locator('table')
  if ((await table.count()) === 0) return 0
  const heads = await table.getByRole('columnheader').allTextContents()
  const cells = await table.locator('tbody tr').evaluateAll(
    (rows, nth) => rows.map((row) => row.children[nth]?.textContent ?? ''),
    heads.findIndex((head) => head.startsWith(column)),
  )
  return cells.reduce((sum, cell) => sum + numberIn(cell, /([\d,]+)/), 0)
}

/** Slots, claims ahead and states of workers. */
async function expectTrueWorkers({ page, open, pool }: IncidentBench): Promise<void> {
  const { rows } = await pool.query<{ id: string; slots: number; leases: string }>(`
    select worker.worker_id as id, worker.concurrency as slots,
           (select count(*) from unstuck.jobs job
             where job.status = 'running' and job.worker_id = worker.worker_id) as leases
      from unstuck.workers worker where worker.stopped_at is null`)
  await open('/workers')
  for (const { id, slots, leases } of rows) {
    const busy = Math.min(Number(leases), slots)
    const ahead = Number(leases) - busy
    const lane = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: id, exact: true }) })
    await lane.getByText(`${busy} of ${slots} slots busy`).waitFor()
    expect(await lane.getByText(/claimed ahead/).count()).toBe(ahead > 0 ? 1 : 0)
    if (ahead > 0) await lane.getByText(`${ahead} claimed ahead`).waitFor()
  }
}
