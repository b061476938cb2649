// The dashboard over two shards, one of which is killed and comes back.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Deployment, openDeployment } from '../../../src/compose/index.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { type HttpServer, serve } from '../../../src/http/serve.ts'
import { type ShardServers, startShardServers } from '../../support/shard-servers.ts'
import { launchBrowser, openPage, settled } from './dashboard-bench.ts'

let servers: ShardServers
let deployment: Deployment
let server: HttpServer
let browser: Browser
let page: Page
let complaints: string[]

beforeAll(async () => {
  servers = await startShardServers()
  const config = loadConfig({ env: { UNSTUCK_SHARDS: servers.urls.join(' ') } })
  deployment = openDeployment(config)
  server = await serve({ config, deployment, host: '127.0.0.1', port: 0, isReadOnly: false })
  browser = await launchBrowser()
  const opened = await openPage(browser, { reducedMotion: 'reduce' })
  page = opened.page
  complaints = opened.complaints
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await server?.close()
  await deployment?.close()
  await servers?.close()
})

it('OPS-15 SEE-7 a banner names the shard that does not answer, until it does', async () => {
  await page.goto(`${server.url}/`)
  await settled(page)
  const banner = page.getByRole('region', { name: 'Notices' }).getByText(/^Shard 1 \(.*\) does not answer/)
  expect(await banner.count()).toBe(0)
  await servers.killSecond()
  await banner.waitFor({ timeout: 30_000 })
  await page.goto(`${server.url}/jobs`)
  await settled(page)
  await banner.waitFor({ timeout: 30_000 })
  await servers.restartSecond()
  await banner.waitFor({ state: 'detached', timeout: 30_000 })
  expect(complaints).toEqual([])
}, 120_000)
