import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sidebar } from '../../../website/sidebar.ts'
import { renderLlmsFull, renderLlmsIndex } from '../../../website/write-llms-files.ts'

const root = new URL('../../../', import.meta.url)
const listed = sidebar.flatMap(({ pages }) => pages.map(({ path }) => path))
const written = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file.replaceAll('\\', '/')}`)

it('every page of docs can be reached from the sidebar', () => {
  expect(written.filter((path) => !listed.includes(path))).toEqual([])
})

it('every page of the sidebar exists, and stands there once', () => {
  expect(listed.filter((path) => !existsSync(new URL(path, root)))).toEqual([])
  expect(listed.toSorted()).toEqual([...new Set(listed)].toSorted())
})

it('llms.txt has a sentence for every page, and llms-full.txt all of each', () => {
  const index = renderLlmsIndex('/unstuck/')
  for (const path of ['', 'ARCHITECTURE.html', 'docs/start/quickstart.html', 'docs/reference/'])
    expect(index).toContain(`](/unstuck/${path}): `)
  for (const line of index.split('\n').filter((text) => text.startsWith('- ')))
    expect(line).toMatch(/\): .{15,}[.?:]$/)
  expect(renderLlmsFull().match(/^<!-- .*\.md -->$/gm)).toHaveLength(listed.length)
})
