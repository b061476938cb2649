// @ts-check
// Lists and parses the files of the repository for the checks.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'coverage'])
const SEEN_DOT_FOLDERS = new Set(['.github', '.ci'])

/**
 * Paths below `folder`, relative to `root`, with forward slashes, in a stable order. A missing folder is empty.
 * @param {string} root
 * @param {string} [folder]
 * @returns {string[]}
 */
export function listFiles(root, folder = '') {
  const absolute = join(root, folder)
  if (!existsSync(absolute)) return []
  const entries = readdirSync(absolute, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return isSkippedFolder(entry.name) ? [] : listFiles(root, path)
    return entry.isFile() ? [path] : []
  })
}

/** @param {string} name */
function isSkippedFolder(name) {
  return SKIPPED_FOLDERS.has(name) || (name.startsWith('.') && !SEEN_DOT_FOLDERS.has(name))
}

/**
 * The TypeScript files of the published packages.
 * @param {string} root
 */
export function listPackageSources(root) {
  return [...listFiles(root, 'src'), ...listFiles(root, 'embedded/src')].filter((path) =>
    /\.tsx?$/.test(path),
  )
}

/**
 * The conformance suite is a test too: every store's test file runs it.
 * @param {string} path
 */
export function isTestFile(path) {
  return (
    /\.test\.tsx?$/.test(path) || /^(?:\w+\/)?test\//.test(path) || path.startsWith('src/store/conformance/')
  )
}

/**
 * @param {string} root
 * @param {string} path
 */
export function readText(root, path) {
  return readFileSync(join(root, path), 'utf8')
}

/**
 * @param {string} root
 * @param {string} path
 */
export function parseSource(root, path) {
  return ts.createSourceFile(path, readText(root, path), ts.ScriptTarget.Latest, true)
}

/**
 * @param {ts.SourceFile} source
 * @param {ts.Node} node
 */
export function lineOf(source, node) {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
}

/**
 * The node and everything below it, in source order.
 * @param {ts.Node} node
 * @returns {Generator<ts.Node>}
 */
export function* descendants(node) {
  yield node
  /** @type {ts.Node[]} */
  const children = []
  ts.forEachChild(node, (child) => {
    children.push(child)
  })
  for (const child of children) yield* descendants(child)
}
