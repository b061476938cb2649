import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isInRepositoryOnly, sidebar } from '../../../website/sidebar.ts'
import { renderLlmsFull, renderLlmsIndex } from '../../../website/write-llms-files.ts'

const root = new URL('../../../', import.meta.url)
const listed = sidebar.flatMap(({ pages }) => pages.map(({ path }) => path))
const written = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file.replaceAll('\\', '/')}`)

it('every page of docs is in the sidebar, or for those who change unstuck and nowhere on the site', () => {
  expect(written.filter((path) => listed.includes(path) === isInRepositoryOnly(path))).toEqual([])
  expect(written.filter(isInRepositoryOnly)).toContain('docs/requirements.md')
})

it('SEE-8 the first page is for a job that is stuck', () => {
  expect(listed[0]).toBe('docs/start/my-job-is-stuck.md')
})

it.each(['README.md', 'docs/guides/tables/attach.md'])('%s attaches in the same steps', (path) => {
  const text = readFileSync(new URL(path, root), 'utf8')
  const [block = ''] = /```sh\n[^`]*unstuck scan[^`]*```/.exec(text) ?? []
  const commands = [...block.matchAll(/unstuck (scan|attach|mode)( --plan| --table)?/g)].map(
    ([, verb, flag = '']) => `${verb}${flag}`,
  )
  expect(commands).toEqual(['scan', 'attach --table', 'attach --plan', 'attach', 'mode', 'mode'])
})

it('every page of the sidebar exists, and stands there once', () => {
  expect(listed.filter((path) => !existsSync(new URL(path, root)))).toEqual([])
  expect(listed.toSorted()).toEqual([...new Set(listed)].toSorted())
})

it('llms.txt has a sentence for every page, and llms-full.txt all of each', () => {
  const index = renderLlmsIndex('/unstuck/')
  for (const path of ['', 'CHANGELOG.html', 'docs/start/quickstart.html', 'docs/reference/'])
    expect(index).toContain(`](/unstuck/${path}): `)
  for (const line of index.split('\n').filter((text) => text.startsWith('- ')))
    expect(line).toMatch(/\): .{15,}[.?:]$/)
  expect(renderLlmsFull().match(/^<!-- .*\.md -->$/gm)).toHaveLength(listed.length)
})
