// @ts-check
// Follows every link inside the repository from every Markdown file: the file or folder exists, and so does the heading. So do
// the files that the pages about the code name. remark-validate-links checks no such names, does not see links and images
// in HTML, such as the README's pictures, and accepts absolute paths, which work on GitHub only; and it adds 219 packages.
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import GithubSlugger from 'github-slugger'
import { runAsCommand } from './problems.mjs'
import { listFiles, readText } from './source-tree.mjs'

/** @import { Problem } from './problems.mjs' */
/** @typedef {{ target: string, line: number }} Link */

// The text of a link may start on the line before.
const INLINE = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g
const DEFINITION = /^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/g
const HTML = /<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i

const PAGES_ABOUT_CODE = ['ARCHITECTURE.md', 'CONTRIBUTING.md']
const FILE_NAME = /`([\w./-]+\.(?:sql|[cm]?[jt]s))`/g

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  /** @type {Map<string, Set<string>>} */
  const anchors = new Map()
  const files = listFiles(root)
  const broken = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      findLinks(readText(root, path)).flatMap(({ target, line }) => {
        const message = checkTarget(root, path, target, anchors)
        return message === undefined ? [] : [{ path, line, message }]
      }),
    )
  return [...broken, ...findMissingFiles(root, files)]
}

/**
 * A name without its folder is enough: `claim_jobs.sql`.
 * @param {string} root
 * @param {string[]} files
 * @returns {Problem[]}
 */
function findMissingFiles(root, files) {
  return PAGES_ABOUT_CODE.filter((path) => files.includes(path)).flatMap((path) =>
    proseLines(readText(root, path)).flatMap((text, index) =>
      [...text.matchAll(FILE_NAME)]
        .filter(([, name = '']) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))
        .map(([, name]) => ({ path, line: index + 1, message: `names ${name}, which does not exist` })),
    ),
  )
}

/**
 * @param {string} root
 * @param {string} from
 * @param {string} target
 * @param {Map<string, Set<string>>} anchors
 */
function checkTarget(root, from, target, anchors) {
  if (ELSEWHERE.test(target)) return undefined
  if (target.startsWith('/')) return `links to ${target}, which is not a relative path`
  const [file = '', anchor] = target.split('#', 2)
  const path = file === '' ? from : posix.join(posix.dirname(from), decodeURIComponent(file))
  if (path.startsWith('..')) return `links to ${target}, which is outside the repository`
  if (!existsSync(join(root, path))) return `links to ${target}, which does not exist`
  if (anchor === undefined || !path.endsWith('.md')) return undefined
  const known = anchors.get(path) ?? findAnchors(readText(root, path))
  anchors.set(path, known)
  return known.has(decodeURIComponent(anchor))
    ? undefined
    : `links to ${target}, and ${path} has no such heading`
}

/**
 * @param {string} markdown
 * @returns {Link[]}
 */
function findLinks(markdown) {
  return proseLines(markdown).flatMap((text, index) => {
    const prose = text.replaceAll(/(`+)[^`]*?\1/g, '``')
    const found = [INLINE, DEFINITION, HTML].flatMap((pattern) => [...prose.matchAll(pattern)])
    return found.map(([, target = '']) => ({ target, line: index + 1 }))
  })
}

/** @param {string} markdown */
function findAnchors(markdown) {
  const slugger = new GithubSlugger()
  /** @type {Set<string>} */
  const slugs = new Set()
  for (const line of proseLines(markdown)) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1]
    if (heading === undefined) continue
    slugs.add(slugger.slug(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')))
  }
  return slugs
}

/**
 * The lines, with those of code blocks empty: they hold neither links nor headings.
 * @param {string} markdown
 */
function proseLines(markdown) {
  let fence = ''
  return markdown.split('\n').map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === '' && mark === undefined) return line
    if (fence === '') fence = mark ?? ''
    else if (mark?.startsWith(fence)) fence = ''
    return ''
  })
}

runAsCommand(import.meta.url, findProblems)
