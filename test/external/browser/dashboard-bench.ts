// A browser with the dashboard over an invented deployment: pages can be full, empty or broken. live.test.ts uses a real
// engine.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AxeBuilder } from '@axe-core/playwright'
import { getRequestListener } from '@hono/node-server'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { secureHeaders } from '../../../src/http/access/guards.ts'
import type { ApiEnv } from '../../../src/http/api.ts'
import { addDashboardRoutes } from '../../../src/http/dashboard-files.ts'
import { OpenAPIHono } from '../../../src/http/openapi/zod-openapi.ts'
import { problemResponse, toApiProblem } from '../../../src/http/problem.ts'
import { createFakeHandler } from './invented-deployment/fake-server.ts'

export const pagePaths = [
  '/',
  '/jobs',
  '/queues',
  '/dead-letters',
  '/operations',
  '/workers',
  '/dependencies',
  '/reaper',
  '/doctor',
  '/settings',
  '/settings/webhooks',
  '/settings/audit',
] as const

/** Settles when nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').waitFor()
  await page.locator('.animate-pulse').first().waitFor({ state: 'detached' })
}

export type World = 'full' | 'empty' | 'broken'

export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['UNSTUCK_TEST_CHROMIUM']
  if (executablePath === undefined)
    throw new Error('UNSTUCK_TEST_CHROMIUM is not set: see npm run test:browser')
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
  })
}

export interface FakeDashboard {
  url: string
  /** Adds waiting jobs. */
  enqueue(count: number): void
  close(): Promise<void>
}

export async function serveFake(world: World, basePath = ''): Promise<FakeDashboard> {
  const pages = new OpenAPIHono<ApiEnv>()
  pages.onError((error) => problemResponse(toApiProblem(error)))
  pages.use('*', async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(secureHeaders)) c.res.headers.set(name, value)
  })
  addDashboardRoutes(basePath === '' ? pages : pages.basePath(basePath), { basePath })
  const servePage = getRequestListener(pages.fetch)
  const handle = createFakeHandler(world === 'empty' ? 'empty' : 'full')
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').slice(basePath.length)
    if (!path.startsWith('/v1/')) {
      await servePage(request, response)
      return
    }
    request.url = path
    if (world === 'broken') response.writeHead(503, { 'content-type': 'application/json' }).end(broken)
    else await handle(request, response)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const url = await listen(server)
  return {
    url: `${url}${basePath}`,
    enqueue: handle.enqueue,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const broken = JSON.stringify({ code: 'DATABASE_UNREACHABLE', detail: 'The database does not answer.' })

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface WatchedPage {
  page: Page
  /** Errors of the page and violations of its content policy. */
  complaints: string[]
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // The browser logs failed requests; tests of broken pages expect them.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  return { page, complaints }
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The themes differ only in colours. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block']

/** Violations of WCAG 2.2 AA, in both themes. */
export async function violationsOf(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Colours change a frame or two after the theme, later under load: the second check counts.
    const first = await audit(page, colorScheme)
    found.push(...(first.length === 0 ? [] : await audit(page, colorScheme)))
  }
  return found
}

async function audit(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  // Skips frames of other origins, of which there are none.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (colorScheme === 'light'
    ? axe.withTags(RULES)
    : axe.withRules(RULES_OF_COLOURS)
  ).analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${colorScheme} ${id} ${target.join(' ')}: ${failureSummary}`),
  )
}
