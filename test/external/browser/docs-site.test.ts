// The built documentation: its tools agree with the engine's functions, it loads nothing external, search works, and it has no
// accessibility violations.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { judgeBeat } from '../../../src/policy/lease/beat-check.ts'
import { LEAST_GRACE_MS, LOOK_MS } from '../../../src/policy/lease/presence-times.ts'
import { nativePolicy } from '../../../src/policy/policy.ts'
import { backoffMs, failureBackoff, reapBackoff } from '../../../src/policy/retry/backoff.ts'
import { showTime } from '../../../website/show-time.ts'
import { launchBrowser } from './dashboard-bench.ts'

const BASE = '/manual/'
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

let browser: Browser
let server: Server
let site: string

beforeAll(async () => {
  const script = fileURLToPath(new URL('../../../scripts/docs/build-site.mjs', import.meta.url))
  execFileSync(process.execPath, [script], { env: { ...process.env, DOCS_BASE: BASE }, stdio: 'pipe' })
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    const name = path.slice(BASE.length)
    const file = new URL(
      `../../../website/dist/${name === '' || name.endsWith('/') ? `${name}index.html` : name}`,
      import.meta.url,
    )
    if (!path.startsWith(BASE) || !existsSync(file)) return response.writeHead(404).end()
    const type = types[extname(file.pathname)] ?? 'application/octet-stream'
    return response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`
  browser = await launchBrowser()
}, 300_000)

afterAll(async () => {
  await browser?.close()
  server?.closeAllConnections()
  server?.close()
})

/** External requests and errors of the page. */
async function open(path: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await (await browser.newContext()).newPage()
  const complaints: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(site) && !request.url().startsWith('data:')) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(site + path, { waitUntil: 'networkidle' })
  return { page, complaints }
}

const result = (page: Page, name: string) => page.locator(`[data-result=${name}]`).first().innerText()

it('REAP-5, LEASE-4, LEASE-10 the rescue calculator shows what the engine computes', async () => {
  const { page, complaints } = await open('docs/tools/rescue-calculator.html')
  const { defaultLeaseMs, sweepIntervalMs, heartbeatMs } = nativePolicy
  // The page starts with 20 workers and 1,000 running jobs: the 50 jobs of one worker are spread over a second backoff (REAP-15).
  const backoff = backoffMs(reapBackoff(nativePolicy), 1, 0)
  const worstMs = defaultLeaseMs + sweepIntervalMs + 2 * backoff + 2_000
  expect(await result(page, 'worst')).toBe(`${showTime(worstMs)}, by the lease`)
  const endedMs = LOOK_MS + LEAST_GRACE_MS + 2 * backoff + 2_000
  expect(await result(page, 'ended')).toBe(`${showTime(endedMs)}, by presence`)
  expect(await result(page, 'beats')).toBe(String(defaultLeaseMs / heartbeatMs))

  await page.getByLabel('Lease (s)').fill('29')
  expect(await result(page, 'verdict')).toContain(
    judgeBeat({ ...nativePolicy, defaultLeaseMs: 29_000 }).refusal,
  )
  await page.getByLabel('Begin from').selectOption('brisk')
  expect(await result(page, 'promise')).toBe('24 s')
  // The profiles of the documents leave presence off.
  await page.getByLabel('Begin from').selectOption('clip')
  expect(await result(page, 'ended')).toContain(', by the lease')
  expect(complaints).toEqual([])
  await page.context().close()
})

it('FAIL-4, REAP-5 the retry schedule shows the waits of the engine, and where a job is given up', async () => {
  const { page, complaints } = await open('docs/tools/retry-schedule.html')
  const backoff = failureBackoff(nativePolicy)
  const secondWait = `${showTime(backoffMs(backoff, 2, 0))} to ${showTime(backoffMs(backoff, 2, 1))}`
  await page.locator('[data-try="2"]').getByText(secondWait, { exact: true }).waitFor()
  await page.locator('[data-try="3"]').getByText('dead').waitFor()

  await page.getByLabel('Every try').selectOption('crash')
  const firstWait = showTime(backoffMs(reapBackoff(nativePolicy), 1, 0))
  await page.locator('[data-try="1"]').getByText(firstWait, { exact: true }).first().waitFor()
  await page.getByLabel('Most tries').fill('5')
  await page.locator('[data-try="5"]').getByText('dead').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

it('the front page loads nothing from elsewhere, leads to other pages, and is searched offline', async () => {
  const { page, complaints } = await open('')
  await page.getByRole('link', { name: 'Quickstart', exact: true }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Quickstart' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill('blocked event loop')
  await page.getByRole('listbox').getByRole('option').first().waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

it.each(['enqueue', 'handle', 'drain'])('a search for %s leads to the API first', async (name) => {
  const { page } = await open('')
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill(name)
  const first = page.getByRole('listbox').getByRole('option').first()
  await first.getByText('TypeScript API').waitFor()
  expect(await first.getByRole('link').or(first.locator('a')).first().getAttribute('href')).toContain(
    `api.html#${name}`,
  )
  await page.context().close()
})

it.each([
  ['priority', /docs\/(?:guides\/handlers|reference\/api)/],
  ['cancel a job', /docs\/guides\/handlers\/enqueue-and-cancel/],
  ['my job is stuck', /docs\/start\/my-job-is-stuck/],
])('the search box finds the guide or the API first for %s', async (query, wanted) => {
  const { page } = await open('')
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').fill(query)
  const first = page.getByRole('listbox').getByRole('option').first()
  await expect
    .poll(() => first.locator('a').first().getAttribute('href'), { timeout: 30_000 })
    .toMatch(wanted)
  await page.context().close()
})

it('a link to a heading with an underscore arrives', async () => {
  const { page } = await open('docs/reference/sql-functions.html#claim_jobs')
  expect(await page.locator('[id="claim_jobs"]').count()).toBe(1)
  await page.context().close()
})

it.each(['docs/tools/rescue-calculator.html', 'docs/tools/retry-schedule.html'])(
  'SEE-5 %s has no violation of WCAG 2.2 AA in its tool',
  async (path) => {
    const { page } = await open(path)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const { violations } = await new AxeBuilder({ page })
        .include('.tool')
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        .analyze()
      expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([])
    }
    await page.context().close()
  },
)

it('programs find llms.txt, with addresses that exist', async () => {
  const index = await (await fetch(`${site}llms.txt`)).text()
  const links = [...index.matchAll(/\]\((\/manual\/[^)]*)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(60)
  const answers = await Promise.all(
    links.map(async (link) => `${(await fetch(new URL(link, site))).status} ${link}`),
  )
  expect(answers.filter((answer) => !answer.startsWith('200'))).toEqual([])
  expect(await (await fetch(`${site}llms-full.txt`)).text()).toContain('# Delivery guarantees')
})
