// Bulk changes, causes and queue controls of an operator, over the invented deployment.
import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FakeDashboard, launchBrowser, openPage, serveFake, violationsOf } from './dashboard-bench.ts'

let browser: Browser
let fake: FakeDashboard
let page: Page
let complaints: string[]

beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser?.close())
beforeEach(async () => {
  fake = await serveFake('full')
  ;({ page, complaints } = await openPage(browser, { reducedMotion: 'reduce' }))
})
afterEach(async () => {
  expect(complaints).toEqual([])
  await page.context().close()
  await fake.close()
})

describe('a list of jobs', () => {
  it('SEE-5 its columns are in the address, paths of the payload too', async () => {
    await page.goto(`${fake.url}/jobs?q=status:dead`)
    await page.getByRole('button', { name: 'Columns' }).click()
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.getByRole('checkbox', { name: 'Owner' }).check()
    await dialog.getByLabel('Payload path').fill('user.id')
    await dialog.getByRole('button', { name: 'Add path' }).click()
    expect(await violationsOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('columnheader', { name: 'payload.user.id' }).waitFor()
    const address = page.url()
    expect(new URL(address).searchParams.get('cols')).toContain('owner,payload.user.id')
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByRole('columnheader', { name: 'Owner' }).waitFor()
    await page.getByRole('cell', { name: '242', exact: true }).waitFor()
  })

  it('OPS-9 what a search finds is taken along as a file, redacted as it is seen', async () => {
    await page.goto(`${fake.url}/jobs?q=status:dead&cols=type,payload.user.id,payload.api_key`)
    await page.locator('[data-row]').first().waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export CSV' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('jobs.csv')
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines[0]).toBe('id,table,type,payload.user.id,payload.api_key')
    expect(lines).toHaveLength(1 + 41 + 12 + 3)
    expect(lines[1]).toMatch(/,jobs,run_tsa,242,\[redacted\]$/)
  })

  it('SEE-5 new jobs wait behind a button, and a selection lets the list rest', async () => {
    await page.goto(`${fake.url}/jobs?q=status:waiting`)
    await page.locator('[data-row]').first().waitFor()
    const first = await page.locator('[data-row]').first().textContent()
    fake.enqueue(2)
    const arrived = page.getByRole('button', { name: 'Show 2 new jobs' })
    await arrived.waitFor()
    expect(await page.locator('[data-row]').first().textContent()).toBe(first)
    await arrived.click()
    await expect.poll(() => page.locator('[data-row]').first().textContent()).not.toBe(first)
    await page
      .getByRole('checkbox', { name: /^Select 0/ })
      .first()
      .check()
    await page.getByText('1 job selected · updates paused').waitFor()
  })

  it('OPS-9 all matches are changed as one operation, which can be stopped and lists each job', async () => {
    fake.enqueue(270)
    await page.goto(`${fake.url}/jobs?q=status:waiting`)
    await page.getByRole('checkbox', { name: 'Select all shown' }).check()
    await page.getByRole('button', { name: 'All matching' }).click()
    await page.getByText('All 300 matching').waitFor()
    const retry = page.getByRole('button', { name: 'Retry', exact: true })
    expect(await retry.getAttribute('title')).toBe('All matching jobs are waiting')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Cancel all matching jobs' })
    await dialog.getByText('match now').waitFor()
    await dialog.getByText('unstuck jobs cancel --where status:waiting --table jobs --expect 300').waitFor()
    await dialog.getByLabel(/Reason/).fill('wrong bucket')
    await dialog.getByRole('button', { name: 'Cancel 300 jobs' }).click()
    // Its banner is on every page.
    await page.goto(`${fake.url}/workers`)
    await page
      .getByRole('region', { name: 'Notices' })
      .getByRole('link', { name: 'Cancel of 300 jobs' })
      .click()
    await page.getByRole('button', { name: /^Stop/ }).click()
    await page.getByText('stopped: stopped manually').first().waitFor()
    await page.getByText('cancelled', { exact: true }).first().waitFor()
    await page.getByText('unchanged').first().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'All operations' }).click()
    await page.getByText('“wrong bucket”').waitFor()
  }, 120_000)
})

describe('dead letters', () => {
  it('OPS-9 a cause is sent again with the keyboard alone', async () => {
    await page.goto(`${fake.url}/dead-letters`)
    await page.getByRole('button', { name: 'Redrive GW_5XX' }).focus()
    await page.keyboard.press('Enter')
    // The first field is the canary; the reason follows the rate.
    await page.getByLabel('Canary').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('the gateway is back')
    expect(await page.getByLabel(/Reason/).inputValue()).toBe('the gateway is back')
    await page.keyboard.press('Enter')
    await page.getByText('Redrive of 41 jobs started.').waitFor()
    await page.getByText('41 of 41 retried').waitFor()
  })

  it('OPS-9 a cause is marked, with the reason; a resolved one that came back says since when', async () => {
    await page.goto(`${fake.url}/dead-letters?tz=utc`)
    await page.getByText(/back since \d{4}-/).waitFor()
    await page.getByLabel('State of GW_5XX').selectOption('ignored')
    await page.getByText('unstuck dead mark cause-1 --as ignored').waitFor()
    await page.getByLabel(/Reason/).fill('a test of the gateway')
    await page.getByRole('button', { name: 'Mark as ignored' }).click()
    await page.getByText('GW_5XX is ignored.').waitFor()
    await page.getByRole('button', { name: 'Redrive GW_5XX' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'ignored 1' }).click()
    await page.getByText('“a test of the gateway”').waitFor()
    expect(new URL(page.url()).searchParams.get('state')).toBe('ignored')
  })
})

describe('queue controls', () => {
  it('OPS-9 a queue is paused for a while, and the command that does the same can be copied', async () => {
    await page.goto(`${fake.url}/queues`)
    await page.getByRole('button', { name: 'Pause media' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause media' })
    await dialog.getByLabel(/Reason/).fill('new model')
    await dialog.getByLabel(/End automatically/).fill('soon')
    const pause = dialog.getByRole('button', { name: 'Pause media' })
    expect(await pause.getAttribute('title')).toBe('The end must be a duration: 30s, 10m, 2h or 1d.')
    await dialog.getByRole('button', { name: '10m' }).click()
    await dialog.getByText("unstuck queues pause media --table jobs --for 10m --reason 'new model'").waitFor()
    expect(await violationsOf(page)).toEqual([])
    await pause.click()
    const notices = page.getByRole('region', { name: 'Notices' })
    await notices.getByText('Queue media is paused by ana: “new model”, for 10 min more').waitFor()
  })
})

describe('the reaper', () => {
  it('SEE-7 SEE-8 a sweep is of the table on whose card it is', async () => {
    await page.goto(`${fake.url}/reaper`)
    const card = page.getByRole('region', { name: 'Table uploads' })
    await card.getByRole('button', { name: 'Sweep now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Requeues every job of uploads whose lease expired, now.').waitFor()
    await dialog.getByText('unstuck reap --once --table uploads').waitFor()
    const request = page.waitForRequest(/v1\/reaper\/run$/)
    await dialog.getByRole('button', { name: 'Sweep now' }).click()
    expect((await request).postDataJSON()).toEqual({ dry_run: false, table: 'uploads' })
  })
})

describe('the shell', () => {
  it('SEE-5 the chosen table is in the address and holds for every list', async () => {
    await page.goto(fake.url)
    await page.getByRole('region', { name: 'Stage asr' }).waitFor()
    await page.getByLabel('Table of native').selectOption('uploads')
    await page.getByRole('region', { name: 'Stage asr' }).waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: '4 running jobs' }).waitFor()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('cell', { name: 'upload_clip' }).first().waitFor()
    expect(await page.getByRole('cell', { name: 'run_asr' }).count()).toBe(0)
    expect(new URL(page.url()).searchParams.get('table')).toBe('uploads')
  })

  it('SEE-5 the tabs of a browser share one stream, and go on when its tab is closed', async () => {
    const context = await browser.newContext()
    const streams = countStreams(context)
    const first = await context.newPage()
    await first.goto(fake.url)
    await first.getByRole('region', { name: 'Stage asr' }).waitFor()
    const second = await context.newPage()
    await second.goto(fake.url)
    await second.getByRole('region', { name: 'Stage asr' }).waitFor()
    await second.getByRole('button', { name: 'Live: pause' }).waitFor()
    expect(streams()).toBe(1)
    await first.close()
    await expect.poll(streams, { timeout: 30_000 }).toBe(2)
    await context.close()
  })

  it('OPS-10 the secret of a new webhook is shown once', async () => {
    await page.goto(`${fake.url}/settings/webhooks`)
    await page.getByText('the address answered 410 Gone').waitFor()
    await page.getByRole('button', { name: 'Deliveries' }).first().click()
    await page.getByText('no answer within 10 s').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'New webhook' }).click()
    await page.getByLabel('Address').fill('https://example.com/hook')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('heading', { name: 'https://example.com/hook' }).waitFor()
    expect(await page.getByText(/^whsec_/).count()).toBe(0)
  })
})

function countStreams(context: BrowserContext): () => number {
  let count = 0
  context.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/v1/stream')) count += 1
  })
  return () => count
}
