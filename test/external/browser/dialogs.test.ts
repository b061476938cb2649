import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobList } from '../../../src/http/contract/index.ts'
import { type FakeDashboard, launchBrowser, openPage, serveFake, violationsOf } from './dashboard-bench.ts'

let browser: Browser
let fake: FakeDashboard

beforeAll(async () => {
  browser = await launchBrowser()
  fake = await serveFake('full')
})

afterAll(async () => {
  await browser?.close()
  await fake?.close()
})

type Open = (page: Page) => Promise<void>

const press =
  (name: string | RegExp): Open =>
  (page) =>
    page
      .getByRole('button', { name, exact: typeof name === 'string' })
      .first()
      .click()

const strike =
  (key: string): Open =>
  async (page) => {
    await page.locator('main h1').waitFor()
    await page.keyboard.press(key)
  }

const mark: Open = async (page) => {
  await page.getByLabel('State of GW_5XX').selectOption('ignored')
}

/** `:dead` and `:scheduled` stand for the id of such a job. */
const dialogs: [name: string, path: string, open: Open][] = [
  ['the remedy of a dead job', '/jobs/:dead', press(/^One more attempt /)],
  ['the remedy of an open breaker', '/jobs/:scheduled', press('Close breaker converter')],
  ['the remedy that is a command', '/reaper', press('End the session')],
  ['the sweep', '/reaper', press('Sweep now')],
  ['the retry', '/jobs/:dead', press('Retry')],
  ['the run now', '/jobs/:scheduled', press('Run now')],
  ['the cancel', '/jobs/:scheduled', press('Cancel')],
  ['the export', '/jobs', press('Export')],
  ['the columns', '/jobs', press('Columns')],
  ['the drain', '/workers', press('Drain ip-10-0-3-7:4121')],
  ['the mark of a cause', '/dead-letters', mark],
  ['the hold', '/dependencies', press('Hold gateway')],
  ['the new webhook', '/settings/webhooks', press('New webhook')],
  ['the palette', '/', strike('Control+k')],
  ['the shortcuts', '/', strike('?')],
]

async function idOf(query: string, isIt: (job: JobList['jobs'][number]) => boolean): Promise<string> {
  const answer = await fetch(`${fake.url}/v1/jobs?limit=200&q=${query}`)
  const { jobs } = (await answer.json()) as JobList
  return jobs.find(isIt)?.id ?? 'none'
}

async function addressOf(path: string): Promise<string> {
  const dead = await idOf('status:dead', ({ error_detail }) => error_detail?.code === 'GW_5XX')
  const scheduled = await idOf(
    'status:waiting',
    ({ run_at }) => Date.parse(run_at ?? '') > Date.now() + 60_000,
  )
  return fake.url + path.replace(':dead', dead).replace(':scheduled', scheduled)
}

describe('the dialogs in both themes', () => {
  it.each(dialogs)('SEE-5 SEE-8 %s has no violation of WCAG 2.2 AA', async (_, path, open) => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    await page.goto(await addressOf(path))
    await open(page)
    await page.getByRole('dialog').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('SEE-5 the sign-in and its refusal have no violation of WCAG 2.2 AA', async () => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    const body = JSON.stringify({ code: 'UNAUTHENTICATED', detail: 'The token is unknown.' })
    await page.route('**/v1/**', (route) =>
      route.fulfill({ status: 401, body, contentType: 'application/json' }),
    )
    await page.goto(fake.url)
    await page.getByLabel('Token').fill('unstuck_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

describe('a held dependency', () => {
  it('SEE-7 BREAK-4 promises to resume by itself only if it will', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${fake.url}/dependencies`)
    await press('Hold gateway')(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Hold gateway' }).click()
    const notices = page.getByRole('region', { name: 'Notices' })
    await notices.getByText('Gateway on hold by ana — jobs wait until it is resumed.').waitFor()
    await page.context().close()
  })
})
