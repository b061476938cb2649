// Links to files that are not pages, such as a script of an example, become text: the site has only pages.
// scripts/check-links.mjs checks that such a file exists.

interface Token {
  type: string
  tag: string
  attrs: [string, string][] | null
  children: Token[] | null
}

/** The part of markdown-it used here. */
interface MarkdownParser {
  core: { ruler: { push: (name: string, rule: (state: { tokens: Token[] }) => void) => unknown } }
}

export function showFilesAsText(parser: MarkdownParser): void {
  parser.core.ruler.push('files-as-text', ({ tokens }) => {
    for (const { children } of tokens) if (children !== null) replaceLinks(children)
  })
}

function replaceLinks(tokens: Token[]): void {
  let isFile = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      isFile = isFileOfRepository(token.attrs?.find(([name]) => name === 'href')?.[1] ?? '')
      if (isFile) Object.assign(token, { type: 'file_open', tag: 'span', attrs: null })
    } else if (token.type === 'link_close' && isFile) {
      Object.assign(token, { type: 'file_close', tag: 'span' })
      isFile = false
    }
  }
}

function isFileOfRepository(href: string): boolean {
  const isElsewhere = href === '' || href.startsWith('#') || /^[a-z][a-z0-9+.-]*:/i.test(href)
  return !isElsewhere && !/\.md(?:#|$)/.test(href)
}
