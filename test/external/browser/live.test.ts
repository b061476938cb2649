// The dashboard over the real server, a real database and real worker processes.
import { createHash, randomBytes } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { roles, type Scope } from '../../../src/commands/actor.ts'
import { type Deployment, openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { type HttpServer, serve } from '../../../src/http/serve.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../../surface/worker-harness.ts'
import { launchBrowser, openPage, pagePaths, settled } from './dashboard-bench.ts'

let browser: Browser
let database: TestDatabase
let harness: WorkerHarness
let deployment: Deployment
let server: HttpServer

beforeAll(async () => {
  browser = await launchBrowser()
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
  const config = loadConfig({ env: { DATABASE_URL: database.url, UNSTUCK_ENVIRONMENT: 'production' } })
  deployment = openDeployment(config)
  server = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  await deployment?.close()
  await harness?.close()
  await database?.drop()
})
beforeEach(() => harness.reset())
afterEach(() => harness.endWorkers())

async function deadJob(): Promise<string> {
  const { store } = harness
  const [id = ''] = await harness.enqueue('broken')
  const [job] = await store.claimJobs({ workerId: 'worker-1', queues: ['broken', 'default'], limit: 1 })
  if (job === undefined) throw new Error('nothing was claimed')
  await store.failJobs([
    {
      jobId: job.jobId,
      leaseId: job.leaseId,
      code: 'NOT_PDF',
      reason: 'no PDF',
      category: 'PERMANENT',
      isRetryable: false,
    },
  ])
  return id
}

describe('a worker process that is killed', () => {
  it('SEE-5 REAP-2 its jobs are seen coming back on another worker, without a reload', async () => {
    const ids = await harness.enqueue('slow', { ms: 120_000 }, 3)
    const first = harness.work({ workerId: 'worker-one' })
    for (const id of ids) await first.until(({ kind, jobId }) => kind === 'started' && jobId === id)
    const { page, complaints } = await openPage(browser)
    await page.goto(server.url)
    await page.getByRole('heading', { name: '3 running jobs' }).waitFor()
    expect(await page.getByText('worker-one').count()).toBe(3)

    const second = harness.work({ workerId: 'worker-two' })
    await second.until(({ kind }) => kind === 'claiming')
    first.child.kill('SIGKILL')
    const rescues = page.getByRole('region', { name: 'Rescues' })
    await rescues.getByText('requeued').nth(2).waitFor()
    await rescues.getByText('from worker-one').first().waitFor()
    await page.getByRole('region', { name: /Stage/ }).getByText('worker-two').nth(2).waitFor()
    // Rescues by presence have no lateness: the lease had not expired.
    await page.getByRole('link', { name: 'Reaper', exact: true }).click()
    await page.getByRole('img', { name: /rescued jobs ran again within/ }).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

const tokens: string[] = []

/** Creates a token and returns its secret. From then on every server of the database requires one. */
async function createToken(scopes: readonly Scope[], owner?: string): Promise<string> {
  const secret = `unstuck_${randomBytes(32).toString('base64url')}`
  const name = `somebody-${randomBytes(4).toString('hex')}`
  tokens.push(name)
  await deployment.access.createToken({
    name,
    sha256: createHash('sha256').update(secret).digest('hex'),
    scopes,
    ...(owner === undefined ? {} : { owner }),
  })
  return secret
}

async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Token').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describe('who has to sign in', () => {
  afterEach(async () => {
    for (const name of tokens.splice(0)) await deployment.access.revokeToken(name, 'test')
  })

  it('OPS-1 two owners see their own jobs and nothing of each other', async () => {
    const [mine = '', theirs = ''] = (
      await harness.store.enqueueJobs([
        { type: 'of-ana', owner: 'ana' },
        { type: 'of-ben', owner: 'ben' },
      ])
    ).map(({ jobId }) => jobId)
    const secrets = {
      ana: await createToken(roles.support, 'ana'),
      ben: await createToken(roles.support, 'ben'),
    }
    const config = loadConfig({ env: { DATABASE_URL: database.url } })
    const guarded = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
    const [ana, ben] = [await openPage(browser), await openPage(browser)]
    await ana.page.goto(`${guarded.url}/jobs`)
    await signIn(ana.page, secrets.ana)
    await ben.page.goto(`${guarded.url}/jobs`)
    await signIn(ben.page, secrets.ben)
    await ana.page.getByRole('cell', { name: 'of-ana' }).waitFor()
    await ben.page.getByRole('cell', { name: 'of-ben' }).waitFor()
    expect(await ana.page.getByRole('row').count()).toBe(2)
    expect(await ben.page.getByRole('row').count()).toBe(2)
    await ana.page.goto(`${guarded.url}/jobs/${theirs}`)
    await ana.page.getByText('This job does not exist.').waitFor()
    await ben.page.goto(`${guarded.url}/jobs/${theirs}`)
    await ben.page.getByRole('button', { name: 'Run now' }).waitFor()
    await ben.page.goto(`${guarded.url}/jobs/${mine}`)
    await ben.page.getByText('This job does not exist.').waitFor()
    expect([...ana.complaints, ...ben.complaints]).toEqual([])
    await ana.page.context().close()
    await ben.page.context().close()
    await guarded.close()
  })

  it('OPS-1 data of all owners is distinguished from zero and from broken', async () => {
    const secret = await createToken(roles.support, 'cleo')
    const config = loadConfig({ env: { DATABASE_URL: database.url } })
    const guarded = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${guarded.url}/`)
    await signIn(page, secret)
    await page.getByText('No running jobs.').waitFor()
    await expect.poll(() => page.getByText('unknown', { exact: true }).count()).toBe(4)
    expect(await page.getByText(/none waiting|past their lease|Nothing is due|Start a worker/).count()).toBe(
      1,
    )
    await page.goto(`${guarded.url}/reaper`)
    await page.getByText('No access: readHealth').waitFor()
    await page.getByText('No access: listStaleJobs').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
    await guarded.close()
  })

  it('SEE-5 OPS-1 signs in with a token, and what its role may not do stays, disabled with the reason', async () => {
    const id = await deadJob()
    const secret = await createToken(roles.viewer)
    const config = loadConfig({ env: { DATABASE_URL: database.url } })
    const guarded = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${guarded.url}/jobs/${id}`)
    await signIn(page, 'unstuck_wrong')
    await page.getByRole('alert').waitFor()
    await signIn(page, secret)
    const retry = page.getByRole('button', { name: 'Retry', exact: true })
    await retry.waitFor()
    expect(await retry.getAttribute('title')).toContain('jobs:retry')
    await page.getByText('Payloads need the scope jobs:payload.').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
    await guarded.close()
  })
})

describe('what an operator does', () => {
  it('SEE-5 OPS-1 a dead job is retried by its button, with the reason in its events', async () => {
    const id = await deadJob()
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByText('NOT_PDF').first().waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByLabel(/Reason/).fill('the document was replaced')
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByText(/^Retried\./).waitFor()
    await page.getByText(/the document was replaced/).waitFor()
    expect(await harness.store.getJob(id)).toMatchObject({ status: 'waiting', generation: 2 })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('OPS-9 a cause of dead letters is sent again', async () => {
    const id = await deadJob()
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/dead-letters`)
    await page.getByRole('button', { name: 'Redrive NOT_PDF' }).click()
    await page.getByLabel('Canary').fill('0')
    // In production the number must be typed.
    await page.getByLabel('Type 1 to confirm').fill('1')
    await page.getByRole('button', { name: 'Redrive 1 job' }).click()
    await page.getByText('Redrive of 1 job started.').waitFor()
    await harness.untilJob(id, ({ status }) => status === 'waiting')
    await page.getByText('1 of 1 retried').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('OPS-9 all jobs that match are cancelled as one operation, and it can be stopped', async () => {
    const ids = await harness.enqueue('slow', { ms: 1 }, 1_200)
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/jobs?q=status:waiting type:slow`)
    await page.getByRole('checkbox', { name: 'Select all shown' }).check()
    await page.getByRole('button', { name: 'All matching' }).click()
    await page.getByText('All 1,200 matching').waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel all matching jobs' })
    await dialog.getByLabel(/Reason/).fill('wrong bucket')
    const cancel = dialog.getByRole('button', { name: 'Cancel 1,200 jobs' })
    expect(await cancel.getAttribute('title')).toBe('Type 1200 first.')
    await dialog.getByLabel('Rate per second').fill('20')
    await dialog.getByLabel('Type 1200 to confirm').fill('1200')
    await cancel.click()
    await page.getByRole('region', { name: 'Notices' }).getByRole('link', { name: 'Cancel of' }).click()
    await page.getByText('cancelled', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: /^Stop/ }).click()
    await page.getByText('stopped: stopped manually').first().waitFor()
    const left = await harness.store.listJobs({ status: 'waiting' }, { limit: 1_000 })
    expect(left.jobs.length).toBeGreaterThan(0)
    expect(await harness.store.getJob(ids[0] ?? '')).toMatchObject({ status: 'cancelled' })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('OPS-9 a cause is marked as resolved, and comes back with the next job that dies of it', async () => {
    await deadJob()
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/dead-letters`)
    await page.getByLabel('State of NOT_PDF').selectOption('resolved')
    await page.getByLabel(/Reason/).fill('the upload checks it now')
    await page.getByRole('button', { name: 'Mark as resolved' }).click()
    await page.getByText('No cause in this state.').waitFor()
    await deadJob()
    await page.getByText('back since').waitFor()
    await page.getByText('“the upload checks it now”').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('OPS-9 a queue is paused for a while', async () => {
    await harness.enqueue('slow', { ms: 1 })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/queues`)
    await page.getByRole('button', { name: 'Pause slow' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause slow' })
    await dialog.getByLabel(/Reason/).fill('new model')
    await dialog.getByRole('button', { name: '1h' }).click()
    await dialog.getByRole('button', { name: 'Pause slow' }).click()
    await page.getByText(/Queue slow is paused by .*: “new model”, for (?:1 h|59 min \d+ s) more/).waitFor()
    const {
      queues: [queue],
    } = await harness.store.listQueues()
    expect(queue?.pausedForMs).toBeGreaterThan(3_000_000)
    await page.getByRole('button', { name: 'Resume slow' }).click()
    await page.getByText('slow is resumed.').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('WORK-4 a worker is drained, finishes what it runs and leaves', async () => {
    const worker = harness.work({ workerId: 'worker-to-drain' })
    await worker.until(({ kind }) => kind === 'claiming')
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/workers`)
    await page.getByRole('button', { name: 'Drain worker-to-drain' }).click()
    await page.getByLabel(/Reason/).fill('new host')
    await page.getByRole('button', { name: 'Drain worker', exact: true }).click()
    await page.getByText(/^worker-to-drain:\w+ is draining\.$/).waitFor()
    expect((await worker.ended).code).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('REAP-13 a dry run says what a sweep would take back, and takes nothing', async () => {
    const [id = ''] = await harness.enqueue('slow', { ms: 1 })
    await harness.store.claimJobs({ workerId: 'worker-1', queues: ['slow'], limit: 1 })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/reaper`)
    await page
      .getByRole('region', { name: 'Past their lease' })
      .getByText('LEASE_OVER')
      .or(page.getByText('NO_REAPER'))
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('A sweep now would change 1 job:').waitFor()
    expect(await harness.store.getJob(id)).toMatchObject({ status: 'running' })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('SEE-5 a waiting job is cancelled', async () => {
    const [id = ''] = await harness.enqueue('slow', { ms: 1 })
    const { page } = await openPage(browser)
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByRole('region', { name: 'Why' }).waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await page.getByText('Cancelled, or asked to stop.').waitFor()
    expect(await harness.store.getJob(id)).toMatchObject({ status: 'cancelled' })
    await page.context().close()
  })

  it('BREAK-4 a dependency is held and resumed, and its banner stands on every page meanwhile', async () => {
    await harness.store.mapDependency('convert', 'converter')
    const { page, complaints } = await openPage(browser)
    await page.goto(`${server.url}/dependencies`)
    await page.getByRole('button', { name: 'Hold converter' }).click()
    await page.getByLabel(/Reason/).fill('INC-431')
    await page.getByRole('dialog').getByRole('button', { name: 'Hold converter' }).click()
    const banner = page
      .getByRole('region', { name: 'Notices' })
      .getByText(/^Converter on hold by .* — jobs wait until it is resumed\.$/)
    await banner.waitFor()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await banner.waitFor()
    await page.getByRole('link', { name: 'Dependencies', exact: true }).click()
    await page
      .getByRole('region', { name: 'Dependency converter' })
      .getByRole('button', { name: 'Resume converter' })
      .click()
    await banner.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it.each(pagePaths)('SEE-5 %s has nothing to complain about with the real server', async (path) => {
    await deadJob()
    const { page, complaints } = await openPage(browser)
    await page.goto(server.url + path)
    const promises = page.getByRole('region', { name: 'Health' })
    await promises.getByText('since a reaper swept').waitFor()
    await settled(page)
    // The server aborts a read after two seconds, which a busy machine may exceed.
    while ((await page.getByText('could not be read').count()) > 0) {
      complaints.length = 0
      await page.reload()
      await promises.getByText('since a reaper swept').waitFor()
      await settled(page)
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
