// Links to what is not a page of the site. A page that only the repository has becomes a link to the repository; another file,
// such as a script of an example, becomes text. scripts/check/links.mjs checks that it exists.
import { readFileSync } from 'node:fs'
import { posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isInRepositoryOnly } from './sidebar.ts'

interface Token {
  type: string
  tag: string
  attrs: [string, string][] | null
  children: Token[] | null
}

/** The part of markdown-it used here; `path` is the file of the page. */
interface MarkdownParser {
  core: {
    ruler: {
      push: (name: string, rule: (state: { tokens: Token[]; env: { path?: string } }) => void) => unknown
    }
  }
}

const root = fileURLToPath(new URL('../', import.meta.url))
const { homepage } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { homepage: string }
const repository = homepage.replace(/#.*$/, '/blob/main/')

export function linkOtherFiles(parser: MarkdownParser): void {
  parser.core.ruler.push('link-other-files', ({ tokens, env: { path = root } }) => {
    const folder = posix.dirname(relative(root, path).replaceAll('\\', '/'))
    for (const { children } of tokens) if (children !== null) replaceLinks(children, folder)
  })
}

function replaceLinks(tokens: Token[], folder: string): void {
  let isText = false
  for (const token of tokens) {
    const href = token.attrs?.find(([name]) => name === 'href')
    if (token.type === 'link_open' && href !== undefined && !isElsewhere(href[1])) {
      const target = posix.join(folder, href[1])
      isText = !/\.md(?:#|$)/.test(target)
      if (isText) Object.assign(token, { type: 'file_open', tag: 'span', attrs: null })
      else if (isInRepositoryOnly(target.replace(/#.*$/, ''))) href[1] = `${repository}${target}`
    } else if (token.type === 'link_close' && isText) {
      Object.assign(token, { type: 'file_close', tag: 'span' })
      isText = false
    }
  }
}

const isElsewhere = (href: string) => href === '' || href.startsWith('#') || /^[a-z][a-z0-9+.-]*:/i.test(href)
