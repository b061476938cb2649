// @ts-check
// Takes the screenshots of docs/images/dashboard, with its own database, the real server and four workers with the default times: one is
// frozen, another killed, and a new version replaces one.
import { fork } from 'node:child_process'
import { setTimeout as waitFor } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@unstuck/embedded'
import { chromium } from 'playwright-core'
import { openDeployment } from '../../dist/compose/index.js'
import { loadConfig } from '../../dist/config/index.js'
import { serve } from '../../dist/http/serve.js'
import { nativePolicy } from '../../dist/policy/policy.js'
import { nativeProfile } from '../../dist/profile/native.js'
import { migrateUp } from '../../dist/store/postgres/index.js'

/** @import { ChildProcess } from 'node:child_process' */
/** @import { Page } from 'playwright-core' */
/** @import { JobStore } from '../../dist/store/job-store.js' */

const IMAGES = fileURLToPath(new URL('../../docs/images/dashboard/', import.meta.url))
const WORKER = fileURLToPath(new URL('screenshot-worker.mjs', import.meta.url))
const LONG_MS = 600_000
const COLUMNS = '?q=status:dead&cols=type,status,note,owner,payload.source,finished_at'
const DESKTOP = { width: 1440, height: 900 }

const policy = { ...nativePolicy, events: /** @type {const} */ ('all') }

/** @param {JobStore} store */
async function seed(store) {
  await store.writePolicy(policy)
  const owner = (/** @type {number} */ index) => `user-${(index % 5) + 1}`
  /** @param {string} type @param {string} queue @param {number} count @param {object} payload @param {number} [delayMs] */
  const enqueue = (type, queue, count, payload, delayMs = 0) =>
    store.enqueueJobs(
      Array.from({ length: count }, (_, index) => ({
        type,
        queue,
        owner: owner(index),
        delayMs,
        payload: { source: `clips/${type}-${index}.mp4`, api_key: 'secret', ...payload },
      })),
    )
  await enqueue('run_tsa', 'media', 12, { ms: 50, code: 'GW_4XX', reason: 'gateway refused the audio: 415' })
  await enqueue('run_asr', 'media', 5, { ms: 80, code: 'SOURCE_UNREADABLE', reason: 'moov atom not found' })
  await enqueue('burn_in', 'media', 3, { ms: 60, code: 'NO_FONT', reason: 'font "Inter" is not installed' })
  await enqueue('run_asr', 'media', 6, { ms: LONG_MS })
  await enqueue('run_tsa', 'media', 5, { ms: LONG_MS })
  await enqueue('burn_in', 'media', 3, { ms: LONG_MS })
  await enqueue('upload_clip', 'uploads', 4, { ms: LONG_MS })
  await enqueue('run_asr', 'media', 14, { ms: LONG_MS }, 420_000)
  await store.mapDependency('render', 'converter')
  await store.mapDependency('media', 'gateway')
  await store.recordCalls('gateway', calls(1, 19))
  await store.recordCalls('converter', calls(14, 6))
  await enqueue('convert', 'render', 9, { ms: LONG_MS })
}

/** @param {number} failures @param {number} successes */
function calls(failures, successes) {
  return Array.from({ length: failures + successes }, (_, index) => ({ isFailure: index >= successes }))
}

/** @param {string} databaseUrl @param {string} id @param {string} appVersion */
function startWorker(databaseUrl, id, appVersion) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: databaseUrl,
    WORKER_ID: id,
    APP_VERSION: appVersion,
  }
  return fork(WORKER, [], { env, stdio: 'inherit' })
}

/** @param {Page} page @param {string} name */
async function take(page, name) {
  await page.locator('.animate-pulse').first().waitFor({ state: 'detached' })
  await page.screenshot({ path: `${IMAGES}${name}.png` })
  console.log(`docs/images/dashboard/${name}.png`)
}

/** Marks a failure cause as seen and uses the dependency. @param {JobStore} store */
async function act(store) {
  const { groups } = await store.groupDeadJobs()
  const cause = groups.find(({ code }) => code === 'SOURCE_UNREADABLE')
  if (cause !== undefined)
    await store.markCause(cause.causeId, {
      state: 'investigating',
      actor: 'ana',
      reason: 'the uploader cuts files',
    })
  const gateway = { key: 'gateway', ratePerS: 2, burst: 50 }
  for (const [owner, tokens] of /** @type {const} */ ([
    ['user-3', 10],
    ['user-1', 8],
    ['user-5', 2],
  ]))
    await store.takeTokens([gateway, { key: `gateway:${owner}`, ratePerS: 0.1, burst: 10 }], tokens)
}

/** A redrive stops when its canary fails again. @param {Page} page @param {string} url */
async function redrive(page, url) {
  await page.goto(`${url}/dead-letters`)
  await page.getByRole('button', { name: 'Redrive GW_4XX' }).click()
  await page.getByLabel(/Reason/).fill('the gateway takes opus now')
  await page.getByRole('heading', { name: 'Examples' }).waitFor()
  await take(page, 'redrive')
  await page.getByRole('button', { name: 'Redrive 12 jobs' }).click()
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('the canary failed again').first().waitFor()
  await page.getByText('unchanged').first().waitFor()
  await page.getByText('done so far').waitFor({ state: 'detached' })
  await take(page, 'operation')
}

/** Two workers of the next version start, and those of the last one are asked to leave. @param {Page} page @param {string} url @param {Map<string, ChildProcess>} workers */
async function deploy(page, url, workers) {
  for (const id of ['media-5', 'media-6']) workers.set(id, startWorker(postgres.url, id, '2.5.0'))
  await page.goto(`${url}/workers`)
  await page.getByText('media-6').first().waitFor()
  for (const id of ['media-1', 'media-2', 'media-3', 'media-4']) workers.get(id)?.kill('SIGTERM')
  await page
    .getByText(/\d draining/)
    .first()
    .waitFor()
  await waitFor(1_500)
  await take(page, 'deploy')
}

/** @param {string} url @param {Map<string, ChildProcess>} workers @param {JobStore} store */
async function takeAll(url, workers, store) {
  const browser = await chromium.launch({
    executablePath: process.env['UNSTUCK_TEST_CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--force-color-profile=srgb'],
  })
  const dark = await browser.newPage({ viewport: DESKTOP, colorScheme: 'dark' })
  const light = await browser.newPage({ viewport: DESKTOP, colorScheme: 'light' })
  await Promise.all([dark, light].map((page) => page.goto(url)))
  await light.goto(`${url}/workers`)
  await dark.getByText('18 running jobs').waitFor()
  // The first minute is counted when it has ended.
  await dark.getByRole('link', { name: /^[1-9]\d* enqueued/ }).waitFor({ timeout: 120_000 })
  const counts = await Promise.all(
    [...workers].map(async ([id, worker]) => ({ worker, count: await dark.getByText(id).count() })),
  )
  const [busiest, second] = counts.toSorted((a, b) => b.count - a.count)
  second?.worker.kill('SIGSTOP')
  // Leases of the frozen worker are late; then the jobs of the killed one come back by presence.
  await dark.getByText('▯').first().waitFor({ timeout: 90_000 })
  busiest?.worker.kill('SIGKILL')
  await dark.getByText('claimed by').first().waitFor()
  await Promise.all([dark, light].map((page) => page.getByText('rescue p95').waitFor()))
  await waitFor(1_500)
  await take(dark, 'now')
  await take(light, 'workers')
  second?.worker.kill('SIGCONT')
  await dark.getByRole('region', { name: 'Rescues' }).getByRole('link').nth(1).click()
  await dark.getByText('reaped').first().waitFor()
  await waitFor(2_000)
  await take(dark, 'job')
  await act(store)
  for (const name of ['dead-letters', 'dependencies', 'jobs', 'queues']) {
    await light.goto(`${url}/${name}${name === 'jobs' ? COLUMNS : ''}`)
    await light.getByText('since a reaper swept').waitFor()
    await waitFor(1_500)
    await take(light, name)
  }
  await redrive(light, url)
  await dark.getByRole('link', { name: 'Reaper', exact: true }).click()
  await waitFor(1_500)
  await take(dark, 'reaper')
  const phone = await browser.newPage({
    viewport: { width: 390, height: 844 },
    colorScheme: 'light',
    deviceScaleFactor: 2,
  })
  await phone.goto(url)
  await phone
    .getByText(/s left$/)
    .first()
    .waitFor()
  await take(phone, 'phone')
  await deploy(light, url, workers)
  await browser.close()
}

const postgres = await startPostgres({ persistent: false, settings: { fsync: 'off' } })
/** @type {Map<string, ChildProcess>} */
const workers = new Map()
try {
  await migrateUp({ databaseUrl: postgres.url, schema: 'unstuck', profile: nativeProfile('unstuck') })
  const config = loadConfig({ env: { DATABASE_URL: postgres.url, UNSTUCK_ENVIRONMENT: 'staging' } })
  const deployment = openDeployment(config)
  await seed(deployment.tables[0].store)
  const server = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
  for (const id of ['media-1', 'media-2', 'media-3', 'media-4'])
    workers.set(id, startWorker(postgres.url, id, '2.4.1'))
  await takeAll(server.url, workers, deployment.tables[0].store)
  await server.close()
  await deployment.close()
} finally {
  for (const worker of workers.values()) worker.kill('SIGKILL')
  await postgres.stop()
}
