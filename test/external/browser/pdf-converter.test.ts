// The page of examples/pdf-converter, with two users, a gateway that is broken by a button, and a PDF that is deleted.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolder, startExample } from '../../repository/examples/example-process.ts'
import { launchBrowser, openPage } from './dashboard-bench.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser.close())

const rowsOf = (page: Page) => page.locator('#jobs tr')

it('SEE-5 BREAK-4 the page of the PDF converter shows the banner, and retry with the reason why not', async () => {
  const example = startExample('pdf-converter/start.mjs', { args: [makeFolder()], env: { PORT: '0' } })
  const [, url = ''] = await example.said(/Open (http:\S+)/)
  const { page, complaints } = await openPage(browser)
  page.setDefaultTimeout(30_000)
  await page.goto(url)
  await page.getByRole('button', { name: 'Be Ana' }).click()
  await page.getByRole('button', { name: 'A sample' }).click()
  await rowsOf(page).getByRole('link', { name: 'XML' }).waitFor()

  await page.getByRole('button', { name: 'Break it' }).click()
  await page.getByRole('button', { name: 'A sample' }).click()
  await page.getByText('Converter busy — jobs will resume automatically.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Mend it' }).click()
  await page.locator('#banner').waitFor({ state: 'hidden' })
  await rowsOf(page).getByRole('link', { name: 'XML' }).nth(1).waitFor()

  await page.getByRole('button', { name: 'One that cannot be converted' }).click()
  const retry = page.getByRole('button', { name: 'Retry', exact: true })
  await retry.waitFor()
  expect(await retry.isEnabled()).toBe(true)
  await page.getByRole('button', { name: 'Delete the PDF' }).click()
  await page.getByText('Its source no longer exists: it cannot run again.').waitFor()
  expect(await retry.isDisabled()).toBe(true)

  await page.getByRole('button', { name: 'Be Bob' }).click()
  await page.getByText('You are bob.').waitFor()
  await rowsOf(page).first().waitFor({ state: 'detached' })
  expect(await rowsOf(page).count()).toBe(0)
  expect(complaints).toEqual([])
})
