// Six incidents of queues, dependencies and dead letters: every claim of every page is checked against the database.
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
beforeEach(async () => {
  await bench.reset()
  await bench.sweepNow()
})
afterEach(() => expect(bench.complaints.splice(0)).toEqual([]))

const notices = () => bench.page.getByRole('region', { name: 'Notices' })
const failed = (count: number) => Array.from({ length: count }, () => ({ isFailure: true }))

async function openBreaker(): Promise<void> {
  const { store } = bench
  await store.mapDependency('call', 'salesforce')
  await store.writeBreaker('salesforce', { minCalls: 2, cooldownMs: 60_000 })
  await store.recordCalls('salesforce', failed(4))
}

describe('an incident', () => {
  it('SEE-7 SEE-8 paused: run now is refused for a due job, and resuming is beside the cause', async () => {
    const [id = ''] = await bench.enqueue('gdpr', {}, 3)
    await bench.store.pauseQueue('gdpr', { actor: 'ana', reason: 'legal hold' })
    await expectTrueCounts(bench)
    await bench.open(`/jobs/${id}`)
    await bench.page.getByText('It waits until an operator resumes it.').waitFor()
    const runNow = bench.page.getByRole('button', { name: 'Run now' })
    expect(await runNow.getAttribute('title')).toBe('It is due already: see why it is not running.')
    const why = bench.page.getByRole('region', { name: 'Why' })
    await why.getByRole('button', { name: 'Resume queue gdpr' }).click()
    const dialog = bench.page.getByRole('dialog')
    await dialog.getByLabel(/Reason/).fill('hold is over')
    await dialog.getByText("unstuck queues resume gdpr --reason 'hold is over'").waitFor()
    await dialog.getByRole('button', { name: 'Resume queue' }).click()
    await expect
      .poll(async () => (await bench.store.listQueues()).queues[0]?.isPaused, { timeout: 30_000 })
      .toBe(false)
    await bench.open('/settings/audit')
    await bench.page.getByText(/hold is over/).waitFor()
    expect(await bench.page.getByText('loopback').count()).toBe(0)
  })

  it('SEE-8 no worker: a queue that nobody claims from says none, with the command that starts a worker', async () => {
    await bench.startWorker({ id: 'w:1', type: 'asr' })
    await bench.enqueue('asr')
    await bench.enqueue('mial', {}, 2)
    await expectTrueCounts(bench)
    await bench.open('/queues')
    const row = (queue: string) =>
      bench.page
        .getByRole('region', { name: 'Table of queues' })
        .getByRole('row')
        .filter({ has: bench.page.getByRole('link', { name: queue, exact: true }) })
    await row('mial').getByText('none', { exact: true }).waitFor()
    expect(await row('asr').getByText('none', { exact: true }).count()).toBe(0)
    await row('mial').getByRole('button', { name: 'Start a worker' }).click()
    await bench.page.getByRole('dialog').getByText('unstuck worker handlers.js').waitFor()
  })

  it('SEE-7 breaker open: the banner counts the held jobs and promises what will happen', async () => {
    await openBreaker()
    await bench.enqueue('call', {}, 5)
    await expectTrueCounts(bench)
    await notices().getByText('Salesforce busy — jobs will resume automatically.').waitFor()
    await notices().getByText('5 jobs held.').waitFor()
    await bench.enqueue('mail')
    await bench.open('/')
    await bench.page.getByText('6 jobs are due, 5 of them in queues that are paused or on hold.').waitFor()
  })

  it('SEE-7 half-open without reports: a worker that knows no breaker ends the promise too', async () => {
    await openBreaker()
    await bench.enqueue('call', {}, 6)
    await bench.pool.query(
      "update unstuck.breakers set cooldown_until = now() - interval '5 min' where name = 'salesforce'",
    )
    for (let nth = 0; nth < 3; nth += 1) {
      const [job] = await bench.store.claimJobs({ workerId: 'w:1', queues: ['call'], limit: 1 })
      if (job === undefined) throw new Error('no job was let through')
      await bench.store.completeJobs([job])
      await bench.pool.query("update unstuck.probes set granted_at = granted_at - interval '61 s'")
    }
    await bench.open('/')
    await notices().getByText('Salesforce stays half-open: its last 3 jobs reported no call').waitFor()
    expect((await bench.status()).stdout).toContain('"unheard":3')
  })

  it('SEE-7 half-open without calls: the banner says what is wrong, and doctor and why do too', async () => {
    await openBreaker()
    await bench.enqueue('call', {}, 6)
    await bench.pool.query(
      "update unstuck.breakers set cooldown_until = now() - interval '5 min' where name = 'salesforce'",
    )
    for (let nth = 0; nth < 3; nth += 1) {
      const [job] = await bench.store.claimJobs({ workerId: 'w:1', queues: ['call'], limit: 1 })
      if (job === undefined) throw new Error('no job was let through')
      await bench.store.recordCalls('salesforce', [{ jobId: job.jobId }])
      await bench.store.completeJobs([job])
    }
    await expectTrueCounts(bench)
    const text = 'Salesforce stays half-open: its last 3 jobs reported no call'
    await notices().getByText(text).waitFor()
    expect(
      await notices()
        .getByText(/will resume automatically/)
        .count(),
    ).toBe(0)
    await notices().getByRole('button', { name: 'Close breaker salesforce' }).waitFor()
    await bench.open('/doctor')
    await bench.page.getByText(/salesforce stays half-open: its last 3 jobs reported no call/).waitFor()
  })

  it('SEE-7 dead by one cause: the group has as many jobs as the database', async () => {
    await bench.die('charge', 12, 'CARD_DECLINED')
    await expectTrueCounts(bench)
    await bench.open('/dead-letters')
    await bench.page.getByText('CARD_DECLINED').first().waitFor()
  })

  it('SEE-8 out of attempts: one more attempt is beside the cause, and the audit log has it', async () => {
    const [enqueued] = await bench.store.enqueueJobs([{ type: 'charge', maxAttempts: 1 }])
    const jobId = enqueued?.jobId ?? ''
    const [job] = await bench.store.claimJobs({ workerId: 'w:1', queues: ['charge'], limit: 1 })
    if (job === undefined) throw new Error('nothing was claimed')
    await bench.store.failJobs([{ ...job, code: 'GATEWAY_502', reason: '502', isRetryable: true }])
    await bench.open(`/jobs/${jobId}`)
    const why = bench.page.getByRole('region', { name: 'Why' })
    await why.getByRole('button', { name: `One more attempt ${jobId}` }).click()
    const dialog = bench.page.getByRole('dialog')
    await dialog.getByText('Keeps its counts and allows one attempt more.').waitFor()
    await dialog.getByLabel(/Reason/).fill('gateway is back')
    await dialog.getByText(`unstuck jobs retry ${jobId} --keep-attempts --reason 'gateway is back'`).waitFor()
    await dialog.getByRole('button', { name: 'One more attempt' }).click()
    await expect
      .poll(() => bench.store.getJob(jobId), { timeout: 30_000 })
      .toMatchObject({ status: 'waiting', attempt: 1, maxAttempts: 2 })
    await bench.open('/settings/audit')
    await bench.page.getByText('gateway is back').waitFor()
  })

  it('SEE-8 scheduled: cancelling is beside the cause, and the job says who did it', async () => {
    const [id = ''] = await bench.enqueue('mail')
    await bench.pool.query("update unstuck.jobs set run_at = now() + interval '1 hour'")
    await bench.open(`/jobs/${id}`)
    const why = bench.page.getByRole('region', { name: 'Why' })
    await why.getByRole('button', { name: `Cancel job ${id}` }).click()
    const dialog = bench.page.getByRole('dialog')
    await dialog.getByLabel(/Reason/).fill('wrong address')
    await dialog.getByRole('button', { name: 'Cancel job' }).click()
    await bench.page.getByText(/^It was cancelled by \S+ and will not run\.$/).waitFor()
    await why.getByText(/: wrong address/).waitFor()
  })

  it('SEE-7 canary fails: canary, total and the fate of each job are told apart', async () => {
    await bench.die('charge', 6, 'CARD_DECLINED')
    const begun = await bench.store.beginOperation({
      action: 'redrive',
      filter: { status: 'dead' },
      q: 'status:dead',
      canary: 1,
      actor: 'ana',
      leaseMs: 600_000,
    })
    if (begun.outcome !== 'begun' || begun.leaseId === null) throw new Error('the redrive did not begin')
    const lease = { operationId: begun.operation.id, leaseId: begun.leaseId }
    await bench.store.stepOperation(lease, { limit: 3, phase: 'canary' })
    const [good, bad] = await bench.store.claimJobs({ workerId: 'w:1', queues: ['charge'], limit: 2 })
    if (good === undefined || bad === undefined) throw new Error('nothing was retried')
    await bench.store.completeJobs([good])
    await bench.store.failJobs([{ ...bad, code: 'CARD_DECLINED', isRetryable: false }])
    await bench.store.endOperation(lease, { state: 'stopped', stopped: 'canary-failed' })
    await expectTrueCounts(bench)
    await bench.open(`/operations/${begun.operation.id}`)
    await bench.page
      .getByText('3 of 6 retried: 1 succeeded, 1 dead again, 1 waiting; stopped: the canary failed again')
      .waitFor()
    const outcomes = bench.page.getByRole('region', { name: 'Outcomes' })
    for (const [fate, count] of [
      ['succeeded', 1],
      ['dead again', 1],
      ['waiting', 1],
      ['unchanged', 3],
    ] as const)
      expect(await outcomes.getByText(fate, { exact: true }).count()).toBe(count)
  })

  it('SEE-7 more dead jobs than are read: no page gives their number as the whole', async () => {
    await bench.pool.query(
      "insert into unstuck.jobs (id, type, status, finished_at, error_code) select unstuck.uuid_v7(), 'bulk', 'dead', now(), 'X' from generate_series(1, 10001)",
    )
    await bench.open('/')
    await bench.page.getByRole('link', { name: /^Dead ≥ 10,000/ }).click()
    await bench.page
      .getByText('More jobs are dead: only the newest 10,000 of each table are counted here.')
      .waitFor()
    expect((await bench.status()).stdout).toContain('"isComplete":false')
  })

  it('SEE-7 database slow: the pages say that their data is out of date', async () => {
    await bench.enqueue('mail', {}, 2)
    await expectTrueCounts(bench)
    await bench.open('/')
    const client = await bench.pool.connect()
    try {
      await client.query('begin')
      await client.query('lock table unstuck.jobs in access exclusive mode')
      await notices()
        .getByText(/out of date/)
        .waitFor({ timeout: 60_000 })
    } finally {
      await client.query('rollback')
      client.release()
    }
    await notices()
      .getByText(/out of date/)
      .waitFor({ state: 'detached', timeout: 60_000 })
    await expectTrueCounts(bench)
  })
})

describe('a search', () => {
  it('SEE-7 goes on by itself through old jobs, says how far it is, and finds the one', async () => {
    await bench.store.enqueueJobs([{ type: 'migrate_tenant', owner: 'acme' }])
    await bench.pool.query(
      "insert into unstuck.jobs (id, type, status, finished_at) select unstuck.uuid_v7(), 'bulk', 'succeeded', now() from generate_series(1, 120000)",
    )
    await bench.open('/jobs?q=type:migrate_tenant')
    await bench.page.getByRole('cell', { name: 'migrate_tenant' }).waitFor({ timeout: 60_000 })
    await bench.open('/jobs?q=type:never_there')
    await bench.page.getByText('No matching jobs.').waitFor({ timeout: 60_000 })
  })
})
