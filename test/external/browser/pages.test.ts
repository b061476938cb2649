import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type FakeDashboard,
  launchBrowser,
  openPage,
  pagePaths,
  serveFake,
  settled,
  violationsOf,
} from './dashboard-bench.ts'

let browser: Browser
const worlds = {} as Record<'full' | 'empty' | 'broken', FakeDashboard>

beforeAll(async () => {
  browser = await launchBrowser()
  for (const world of ['full', 'empty', 'broken'] as const) worlds[world] = await serveFake(world)
})

afterAll(async () => {
  await browser?.close()
  for (const fake of Object.values(worlds)) await fake.close()
})

/** Opens a dead job by its error code: one that can be retried, or one whose source is gone. */
async function openDeadJob(page: Page, code: string): Promise<void> {
  await page.goto(`${worlds.full.url}/jobs?q=status:dead`)
  await page.getByRole('row').filter({ hasText: code }).first().getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Attempts' }).waitFor()
}

describe('the dashboard in both themes', () => {
  it.each(pagePaths)('SEE-5 %s is full, without a violation of WCAG 2.2 AA', async (path) => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    await page.goto(worlds.full.url + path)
    await settled(page)
    await page.getByRole('region', { name: 'Health' }).getByText('since a reaper swept').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('SEE-5 the page of a job, its dialog and the redrive drawer have no violation', async () => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    await openDeadJob(page, 'GW_5XX')
    const progress = page.getByRole('progressbar', { name: 'Progress' })
    expect(await progress.getAttribute('aria-valuetext')).toBe('40 %: segment 12 of 30')
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await violationsOf(page)).toEqual([])
    await page.goto(`${worlds.full.url}/dead-letters`)
    await page.getByRole('button', { name: 'Redrive GW_5XX' }).click()
    await page.getByRole('dialog').getByText('Examples').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it.each(pagePaths)('SEE-5 %s says so where there is nothing', async (path) => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    await page.goto(worlds.empty.url + path)
    await settled(page)
    const expected: Readonly<Record<string, string>> = {
      '/': 'No running jobs.',
      '/jobs': 'No jobs yet.',
      '/dead-letters': 'No dead letters.',
      '/workers': 'No workers.',
      '/dependencies': 'No dependencies yet.',
      '/reaper': 'No rescues yet.',
      '/operations': 'No operations yet.',
      '/settings/webhooks': 'No webhooks yet.',
      '/settings/audit': 'No entries yet.',
    }
    const text = expected[path]
    if (text !== undefined) await page.getByText(text).first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it.each(pagePaths)('SEE-5 %s says so where the server cannot read', async (path) => {
    const { page, complaints } = await openPage(browser, { reducedMotion: 'reduce' })
    await page.goto(worlds.broken.url + path)
    await page.getByText('could not be read').first().waitFor()
    await page.getByText('Server unreachable; retrying.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

describe('the dashboard by hand', () => {
  it('SEE-5 a dead job is retried with the keyboard alone', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${worlds.full.url}/jobs?q=status:dead`)
    await page.locator('[data-row]').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor()
    await page.keyboard.press('r')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('the gateway is back')
    await page.keyboard.press('Enter')
    await page.getByText(/^Retried\./).waitFor()
    await page.getByRole('button', { name: 'Run now' }).waitFor()
    await page.context().close()
  })

  it('SEE-7 the lease of a running job is on its page once, where it counts down', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${worlds.full.url}/jobs?q=status:running`)
    await page.locator('[data-row]').first().click()
    await page
      .getByRole('region', { name: 'Lease' })
      .getByText(/s left/)
      .waitFor()
    await page.getByRole('region', { name: 'Why' }).getByText('It is running.').waitFor()
    expect(await page.getByText(/lease .* left/).count()).toBe(0)
    await page.context().close()
  })

  it('SEE-5 Retry stays, disabled with the reason, where the source is gone', async () => {
    const { page } = await openPage(browser)
    await openDeadJob(page, 'SOURCE_UNREADABLE')
    const retry = page.getByRole('button', { name: 'Retry', exact: true })
    expect(await retry.getAttribute('aria-disabled')).toBe('true')
    await page.getByText('Source document was deleted — cannot run again.').last().waitFor()
    await retry.focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('r')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.context().close()
  })

  it('OPS-9 a cause is sent again as one redrive', async () => {
    const fake = await serveFake('full')
    const { page } = await openPage(browser)
    await page.goto(`${fake.url}/dead-letters`)
    await page.getByRole('button', { name: 'Redrive GW_5XX' }).click()
    await page.getByRole('button', { name: 'Redrive 41 jobs' }).click()
    await page.getByText('Redrive of 41 jobs started.').waitFor()
    await page.getByText('41 of 41 retried').waitFor()
    await page.context().close()
    await fake.close()
  })

  it('OPS-9 selected jobs are retried together, and only where all of them can be', async () => {
    const fake = await serveFake('full')
    const { page } = await openPage(browser)
    await page.goto(`${fake.url}/jobs`)
    await page.getByRole('row').filter({ hasText: 'dead' }).first().getByRole('checkbox').check()
    await page.getByRole('row').filter({ hasText: 'running' }).first().getByRole('checkbox').check()
    const retry = page.getByRole('button', { name: 'Retry', exact: true })
    expect(await retry.getAttribute('title')).toBe('1 of 2 is running')
    await page.getByRole('row').filter({ hasText: 'running' }).first().getByRole('checkbox').uncheck()
    await retry.click()
    await page.getByRole('button', { name: 'Retry 1 job' }).click()
    await page.getByText('1 job retried.').waitFor()
    await page.context().close()
    await fake.close()
  })

  it('OPS-9 a search that cannot be read says which word is wrong', async () => {
    const { page } = await openPage(browser)
    await page.goto(worlds.full.url)
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('nonsense')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: '"nonsense" takes key:value' }).first().waitFor()
    await page.context().close()
  })

  it('SEE-5 keys go to pages, and rest where the settings say so', async () => {
    const { page } = await openPage(browser)
    await page.goto(worlds.full.url)
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.locator('h1').focus()
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings')
    await page.context().close()
  })

  it('SEE-5 the time zone is in the address and stays from page to page', async () => {
    const { page } = await openPage(browser, { timezoneId: 'Asia/Tokyo' })
    await page.goto(`${worlds.full.url}/dead-letters`)
    await page.getByRole('button', { name: 'UTC' }).click()
    await page
      .getByText(/first \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}Z/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('heading', { name: 'Jobs' }).waitFor()
    expect(new URL(page.url()).searchParams.get('tz')).toBe('utc')
    await page.context().close()
  })

  it('SEE-5 a lease bar drains, and with reduced motion it is text that changes', async () => {
    const moving = await openPage(browser)
    await moving.page.goto(worlds.full.url)
    await moving.page.getByRole('region', { name: 'Stage asr' }).waitFor()
    await expect
      .poll(() =>
        moving.page.evaluate('document.getAnimations().some(({ playState }) => playState === "running")'),
      )
      .toBe(true)
    const still = await openPage(browser, { reducedMotion: 'reduce' })
    await still.page.goto(worlds.full.url)
    await still.page
      .getByText(/s left$/)
      .first()
      .waitFor()
    const running = await still.page.evaluate(
      'document.getAnimations().filter((each) => each.constructor === Animation).length',
    )
    expect(running).toBe(0)
    await moving.page.context().close()
    await still.page.context().close()
  })

  it('SEE-5 it works under any base path, deep links included', async () => {
    const fake = await serveFake('full', '/ops/jobs-of-ours')
    const { page, complaints } = await openPage(browser)
    await page.goto(`${fake.url}/dead-letters`)
    await page.getByText('GW_5XX').first().waitFor()
    await page.getByRole('link', { name: 'Reaper', exact: true }).click()
    await page.getByText('healthy').first().waitFor()
    expect(new URL(page.url()).pathname).toBe('/ops/jobs-of-ours/reaper')
    expect(complaints).toEqual([])
    await page.context().close()
    await fake.close()
  })
})

describe.each([390, 1024, 1440])('at %i pixels', (width) => {
  it.each(pagePaths)('SEE-9 %s fits, with its strip, its ids and room for a finger', async (path) => {
    const { page, complaints } = await openPage(browser, {
      viewport: { width, height: 844 },
      hasTouch: width < 600,
      reducedMotion: 'reduce',
    })
    await page.goto(worlds.full.url + path)
    await settled(page)
    await page.getByRole('region', { name: 'Health' }).getByText('rescue p95').waitFor()
    expect(await page.evaluate(misfits)).toEqual([])
    if (width < 600) expect(await page.evaluate(smallTargets)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('SEE-9 the page of a job fits, and neither jobs on a phone nor queues nor the audit log scroll sideways', async () => {
    const { page } = await openPage(browser, { viewport: { width, height: 844 }, reducedMotion: 'reduce' })
    await openDeadJob(page, 'GW_5XX')
    expect(await page.evaluate(misfits)).toEqual([])
    const details = page.getByRole('region', { name: 'Events' }).locator('li > span:last-child')
    const widths = await details.evaluateAll((texts) => texts.map((text) => text.clientWidth))
    expect(widths.filter((wide) => wide < 200)).toEqual([])
    await page.goto(`${worlds.full.url}/jobs`)
    await page.locator('[data-row]').first().waitFor()
    if (width < 600) await fits(page.getByRole('region', { name: 'Table of jobs' }))
    await page.goto(`${worlds.full.url}/queues`)
    await page
      .getByRole('button', { name: /^Pause/ })
      .first()
      .waitFor()
    await fits(page.getByRole('region', { name: 'Table of queues' }))
    await fits(page.getByRole('region', { name: 'Table of trends' }))
    await page.goto(`${worlds.full.url}/settings/audit`)
    await fits(page.getByRole('region', { name: 'Table of audit entries' }))
    await page.context().close()
  })
})

async function fits(table: Locator): Promise<void> {
  expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth)).toBeLessThanOrEqual(0)
}

/** A page wider than its window, a clipped strip, and ids on more than one line. */
const misfits = `(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
  const strip = document.querySelector('section[aria-label=Health] ul')
  const clipped = [...strip.querySelectorAll('li')].filter((light) => {
    const box = light.getBoundingClientRect()
    return box.right > document.documentElement.clientWidth || [...light.querySelectorAll('span:not(.sr-only)')].some((text) => text.clientWidth > 0 && text.scrollWidth > text.clientWidth + 1)
  })
  const ids = [...document.querySelectorAll('main a, main code, main span')].filter(
    (each) => each.childElementCount === 0 && /^…?[0-9a-f-]{12,36}$/.test(each.textContent) && each.getClientRects().length > 0,
  )
  const broken = ids.filter((each) => each.getClientRects().length > 1 || each.getBoundingClientRect().height > 30)
  return [
    ...(wide > 0 ? ['the page is ' + wide + ' px too wide'] : []),
    ...clipped.map((light) => 'clipped: ' + light.textContent),
    ...broken.map((each) => 'broken id: ' + each.textContent),
  ]
})()`

/** Controls under 24 px. Links inside a sentence are exempt (WCAG 2.5.8). */
const smallTargets = `(() => {
  const isInText = (each) => each.matches('a') && getComputedStyle(each).display === 'inline'
  return [...document.querySelectorAll('a, button, select, input')]
    .filter((each) => each.getClientRects().length > 0 && !isInText(each) && !each.closest('.sr-only'))
    .map((each) => [each, (each.matches('input[type=checkbox], input[type=radio]') ? (each.closest('label') ?? each) : each).getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 2 && (width < 24 || height < 24))
    .map(([each, { width, height }]) => (each.getAttribute('aria-label') ?? each.textContent) + ' ' + Math.round(width) + '×' + Math.round(height))
})()`
