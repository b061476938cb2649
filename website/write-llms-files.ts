// llms.txt is a list of the pages with a sentence each, llms-full.txt all of them in one file, for language models.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOf, type SidebarPage, sidebar } from './sidebar.ts'

const root = new URL('../', import.meta.url)
const heading = `# unstuck

> A job reliability layer for PostgreSQL, in TypeScript and in SQL. Every running job has a lease that its worker renews; a job
> whose lease expires is requeued, and a worker that lost its lease can no longer write. Execution is at least once.
`

export function writeLlmsFiles(folder: string, base: string): void {
  writeFileSync(join(folder, 'llms.txt'), renderLlmsIndex(base))
  writeFileSync(join(folder, 'llms-full.txt'), renderLlmsFull())
}

export function renderLlmsIndex(base: string): string {
  const groups = sidebar.map(
    ({ title, pages }) => `## ${title}\n\n${pages.map((page) => describePage(page, base)).join('\n')}\n`,
  )
  return `${heading}\n${groups.join('\n')}`
}

export function renderLlmsFull(): string {
  const pages = sidebar.flatMap(({ pages }) => pages)
  return `${heading}\n${pages.map(({ path }) => `<!-- ${path} -->\n\n${readText(path)}`).join('\n')}`
}

function describePage(page: SidebarPage, base: string): string {
  return `- [${page.title}](${base}${addressOf(page)}): ${firstSentence(readText(page.path))}`
}

/** First sentence of the first paragraph of prose. */
function firstSentence(markdown: string): string {
  const paragraphs = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').split(/\n\s*\n/)
  const prose = paragraphs.find((text) => /^[A-Za-z`*"]/.test(text.trim())) ?? ''
  const plain = prose.replaceAll(/\s+/g, ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.?](?=\s|$)/.exec(plain)?.[0] ?? plain
}

function readText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
