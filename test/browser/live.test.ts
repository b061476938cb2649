// The dashboard over the real server, a real database and real worker processes.
import { createHash, randomBytes } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { roles } from '../../src/commands/actor.ts'
import { type Deployment, openDeployment } from '../../src/compose.ts'
import { loadConfig } from '../../src/config/index.ts'
import { type HttpServer, serve } from '../../src/http/serve.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../surface/worker-harness.ts'
import { launchBrowser, openPage, settled } from './dashboard-bench.ts'

let browser: Browser
let database: TestDatabase
let harness: WorkerHarness
let deployment: Deployment
let server: HttpServer

beforeAll(async () => {
  browser = await launchBrowser()
  database = await createTestDatabase()
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
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

describe('who has to sign in', () => {
  it('SEE-5 OPS-1 signs in with a token, and what its role may not do stays, disabled with the reason', async () => {
    const id = await deadJob()
    const secret = `unstuck_${randomBytes(32).toString('base64url')}`
    await deployment.access.createToken({
      name: `viewer-${randomBytes(4).toString('hex')}`,
      sha256: createHash('sha256').update(secret).digest('hex'),
      scopes: roles.viewer,
    })
    const config = loadConfig({ env: { DATABASE_URL: database.url } })
    const guarded = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${guarded.url}/jobs/${id}`)
    await page.getByLabel('Token').fill('unstuck_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Token').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const retry = page.getByRole('button', { name: 'Retry' })
    await retry.waitFor()
    expect(await retry.getAttribute('title')).toContain('jobs:retry')
    await page.getByText('Seeing payloads needs the scope jobs:payload.').waitFor()
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
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByLabel(/Reason/).fill('the document was replaced')
    await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()
    await page.getByText('It waits for a worker again.').waitFor()
    await page.getByText(/reason the document was replaced/).waitFor()
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
    // A deployment that calls itself production asks for the number.
    await page.getByLabel('Type 1 to confirm').fill('1')
    await page.getByRole('button', { name: 'Redrive 1 job' }).click()
    await page.getByText('Redrive of 1 job has begun.').waitFor()
    await harness.untilJob(id, ({ status }) => status === 'waiting')
    await page.getByText('1 of 1 brought back').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('SEE-5 a waiting job is cancelled', async () => {
    const [id = ''] = await harness.enqueue('slow', { ms: 1 })
    const { page } = await openPage(browser)
    await page.goto(`${server.url}/jobs/${id}`)
    await page.getByRole('region', { name: 'Why' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
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
    const notices = page.getByRole('region', { name: 'Notices' })
    await notices.getByText('Converter busy — jobs will resume automatically.').waitFor()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await notices.getByText('Converter busy — jobs will resume automatically.').waitFor()
    await page.getByRole('link', { name: 'Dependencies', exact: true }).click()
    await page
      .getByRole('region', { name: 'Dependency converter' })
      .getByRole('button', { name: 'Resume converter' })
      .click()
    await notices.getByText('Converter busy').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it.each(['/', '/jobs', '/dead-letters', '/workers', '/dependencies', '/reaper', '/doctor', '/settings'])(
    'SEE-5 %s has nothing to complain about with the real server',
    async (path) => {
      await deadJob()
      const { page, complaints } = await openPage(browser)
      await page.goto(server.url + path)
      await page.getByRole('region', { name: 'Promises' }).getByText('since the last sweep').waitFor()
      await settled(page)
      expect(await page.getByText('could not be read').count()).toBe(0)
      expect(complaints).toEqual([])
      await page.context().close()
    },
  )
})
