// Five incidents as an operator walks through them, from Now to the fix, on a real database. Every click is recorded: at
// most three lead to the fix.
import type { Browser, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchBrowser } from './dashboard-bench.ts'
import { type IncidentBench, openIncidents } from './incident-bench.ts'

let browser: Browser
let bench: IncidentBench
let walk: string[]

beforeAll(async () => {
  browser = await launchBrowser()
  bench = await openIncidents(browser)
})
afterAll(async () => {
  await bench?.end()
  await browser?.close()
})
beforeEach(async () => {
  walk = []
  await bench.reset()
})
afterEach(() => {
  expect(walk.length).toBeLessThanOrEqual(3)
  expect(bench.complaints.splice(0)).toEqual([])
})

async function click(name: string, locator: Locator): Promise<void> {
  await locator.click()
  walk.push(name)
}

const button = (name: string | RegExp) => bench.page.getByRole('button', { name })
const dialogButton = (name: string) => bench.page.getByRole('dialog').getByRole('button', { name })
const notices = () => bench.page.getByRole('region', { name: 'Notices' })

/** Completes every job of the type, as a worker would, until `isDone`. */
async function completeUntil(type: string, isDone: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 120_000
  while (!(await isDone())) {
    if (performance.now() > endMs) throw new Error(`the jobs of ${type} did not end`)
    const jobs = await bench.store.claimJobs({ workerId: 'w:1', queues: [type], limit: 100 })
    if (jobs.length > 0) await bench.store.completeJobs(jobs)
    else await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('an operator', () => {
  it('SEE-8 stuck job: sweeps it from the notice on Now', async () => {
    const [job] = await bench.startWorker({ id: 'w:1', type: 'asr', claims: 1 })
    await bench.pool.query(
      "update unstuck.jobs set lease_expires_at = now() - interval '9 min', heartbeat_at = now() - interval '19 min'",
    )
    await bench.open('/')
    await click('Sweep now', notices().getByRole('button', { name: 'Sweep now' }))
    await click('Sweep now (dialog)', dialogButton('Sweep now'))
    await bench.page.getByText('Sweep now: 1 requeued, 0 dead.').waitFor()
    expect(await bench.store.getJob(job?.jobId ?? '')).toMatchObject({ status: 'waiting' })
    expect(walk).toEqual(['Sweep now', 'Sweep now (dialog)'])
  })

  it('SEE-8 300 dead jobs of one cause: redrives them with a canary, and sees all of them succeed', async () => {
    await bench.sweepNow()
    await bench.die('charge', 300, 'GATEWAY_502')
    await bench.open('/')
    await click('Dead', bench.page.getByRole('link', { name: /^Dead 300/ }))
    await click('Redrive…', button('Redrive GATEWAY_502'))
    const dialog = bench.page.getByRole('dialog')
    expect(await dialog.getByLabel('Canary').inputValue()).not.toBe('0')
    await dialog.getByLabel('Rate per second').fill('500')
    await dialog.getByLabel(/Reason/).fill('the gateway is back')
    await click('Redrive 300 jobs', dialogButton('Redrive 300 jobs'))
    await completeUntil('charge', async () => (await bench.store.readHealth()).waiting === 0 && isRedriven())
    await bench.page.getByText('300 of 300 retried').waitFor({ timeout: 60_000 })
    expect(walk).toEqual(['Dead', 'Redrive…', 'Redrive 300 jobs'])
  }, 180_000)

  it('SEE-8 SEE-9 deploy: sees it on Now, and drains the worker of the old version', async () => {
    await bench.sweepNow()
    for (const [workerId, appVersion] of [
      ['old:1', '1.4.1'],
      ['new:1', '1.4.2'],
    ] as const) {
      const report = { workerId, appVersion, phase: 'running' as const, types: ['asr'], concurrency: 4 }
      await bench.store.reportWorker({ ...report, isStart: true, running: 0, reportMs: 60_000 })
    }
    await bench.open('/')
    await bench.page.getByText(/versions 1\.4\.1 \(1\), 1\.4\.2 \(1\)/).waitFor()
    await bench.page.getByRole('link', { name: /^Workers 2/ }).waitFor()
    await click('Deploy in progress', bench.page.getByRole('link', { name: 'Deploy in progress' }))
    await click('Drain', button('Drain old:1'))
    await click('Drain worker', dialogButton('Drain worker'))
    await bench.page.getByText('old:1 is draining.').waitFor()
    const workers = await bench.store.listWorkers()
    expect(workers.find(({ workerId }) => workerId === 'old:1')).toMatchObject({ state: 'draining' })
    expect(await auditTypes()).toContain('worker-drained')
  })

  it('SEE-8 gateway down: sees the held jobs, and closes the breaker once it is mended', async () => {
    await bench.sweepNow()
    await bench.store.mapDependency('call', 'gateway')
    await bench.store.writeBreaker('gateway', { minCalls: 2, cooldownMs: 600_000 })
    await bench.store.recordCalls(
      'gateway',
      Array.from({ length: 4 }, () => ({ isFailure: true })),
    )
    await bench.enqueue('call', {}, 5)
    await bench.open('/')
    await notices().getByText('5 jobs held.').waitFor()
    await click('Gateway busy', notices().getByRole('link', { name: /^Gateway busy/ }))
    await click('Resume', button('Resume gateway'))
    await bench.page.getByText('gateway is resumed.').waitFor()
    expect(await bench.store.listBreakers()).toMatchObject([{ name: 'gateway', state: 'closed' }])
    expect(await bench.store.claimJobs({ workerId: 'w:1', queues: ['call'], limit: 9 })).toHaveLength(5)
  })

  it('SEE-8 who cancelled this? names the person and the reason on the page of the job', async () => {
    await bench.sweepNow()
    const [id = ''] = await bench.enqueue('invoice')
    await bench.store.cancelJobs([id], { actor: 'ana', reason: 'wrong bucket' })
    await bench.open('/')
    await click('Jobs', bench.page.getByRole('link', { name: 'Jobs', exact: true }))
    await click('the job', bench.page.getByRole('link', { name: `…${id.slice(-12)}` }))
    await bench.page.getByText('It was cancelled by ana and will not run.').waitFor()
    await bench.page
      .getByRole('region', { name: 'Why' })
      .getByText(/by ana: wrong bucket/)
      .waitFor()
  })
})

async function isRedriven(): Promise<boolean> {
  const { rows } = await bench.pool.query<{ count: string }>(
    "select count(*) from unstuck.jobs where status = 'succeeded'",
  )
  return Number(rows[0]?.count) === 300
}

async function auditTypes(): Promise<string[]> {
  const { rows } = await bench.pool.query<{ type: string }>(
    'select type from unstuck.audit_entries order by at',
  )
  return rows.map(({ type }) => type)
}
