// @ts-check
// The measurable rules of style that no formatter or linter holds: sizes, names, to-dos, switched-off tests,
// words that belong to one machine, and a lockfile that works with every registry.
import ts from 'typescript'
import { runAsCommand } from './problems.mjs'
import { descendants, isTestFile, lineOf, listFiles, parseSource, readText } from './source-tree.mjs'
import { findRoutines } from './sql-text.mjs'

/** @import { Problem } from './problems.mjs' */
/** @typedef {{ resolved?: string, link?: boolean, optionalDependencies?: Record<string, string> }} LockedPackage */
/** @typedef {{ packages?: Record<string, LockedPackage> }} Lockfile */

const MAX_FILE_LINES = 350
const MAX_TEST_FILE_LINES = 450
const MAX_FUNCTION_LINES = 70

const SCRIPT = /\.(?:[cm]?[jt]s|[jt]sx)$/
const CODE = /\.(?:[cm]?[jt]s|[jt]sx|sql|css|sh)$/
const TEXT = /\.(?:[cm]?[jt]s|[jt]sx|sql|css|sh|md|json|jsonc|ya?ml|toml|html|txt|service)$/
// Written by a tool, read by a tool.
const GENERATED = /(?:\.snapshot\.sql|\.generated\.ts|(?:^|\/)package-lock\.json)$/

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/
const SNAKE_CASE = /^[a-z0-9]+(?:[-_.]+[a-z0-9]+)*$/
// README.md, LICENSE.md: names that tools look for.
const CAPITALS = /^[A-Z][A-Z_]*\.md$/
const REFUSED_WORDS = ['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'lib']
const REFUSED_STEMS = ['types']

const TO_DO = /\b(?:TO-?DO|FIX-?ME)\b/
const ISSUE_NUMBER = /#\d+/
const BARE_EXCEPTION = /\b(?:eslint|oxlint)-disable(?!.*\s--\s\S)/
const STRAY_WORDS = [
  { pattern: /(?<![\w.~-])\/(?:work|home|root|Users)\//, message: 'has an absolute path of one machine' },
  { pattern: /\bregistry\.npmjs/, message: 'names a package registry' },
]

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  return listFiles(root).flatMap((path) => [...checkName(path), ...checkContent(root, path)])
}

/**
 * @param {string} path
 * @returns {Problem[]}
 */
function checkName(path) {
  if (!CODE.test(path) && !path.endsWith('.md')) return []
  const pattern = path.endsWith('.sql') ? SNAKE_CASE : KEBAB_CASE
  const [name = '', ...folders] = path.split('/').toReversed()
  /** @type {string[]} */
  const messages = []
  if (!pattern.test(name) && !CAPITALS.test(name)) messages.push('is not a kebab-case name')
  const stem = name.replace(/\..*$/, '')
  const refused = [stem, ...folders]
    .flatMap((part) => part.split(/[-_]/))
    .find((word) => REFUSED_WORDS.includes(word))
  if (refused !== undefined) messages.push(`is named "${refused}", which says nothing`)
  if (REFUSED_STEMS.includes(stem)) messages.push(`is named "${stem}", which says nothing`)
  return messages.map((message) => ({ path, line: 1, message }))
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {Problem[]}
 */
function checkContent(root, path) {
  if (path.endsWith('package-lock.json')) return checkLockfile(path, readText(root, path))
  if (GENERATED.test(path) || !TEXT.test(path)) return []
  const text = readText(root, path)
  const problems = findStrayWords(path, text)
  if (CODE.test(path)) problems.push(...findBareRemarks(path, text), ...checkFileLength(path, text))
  if (path.endsWith('.sql')) problems.push(...findLongRoutines(path, text))
  if (SCRIPT.test(path)) {
    const source = parseSource(root, path)
    problems.push(...(isTestFile(path) ? findSwitchedTests(path, source) : findLongFunctions(path, source)))
  }
  return problems
}

/**
 * @param {string} path
 * @param {string} text
 */
function findStrayWords(path, text) {
  return STRAY_WORDS.flatMap(({ pattern, message }) =>
    matchingLines(path, text, message, (line) => pattern.test(line)),
  )
}

/**
 * @param {string} path
 * @param {string} text
 */
function findBareRemarks(path, text) {
  return [
    ...matchingLines(path, text, 'has a to-do without an issue number', isUntrackedToDo),
    ...matchingLines(path, text, 'switches a lint rule off without "-- reason"', (line) =>
      BARE_EXCEPTION.test(line),
    ),
  ]
}

/** @param {string} line */
function isUntrackedToDo(line) {
  return TO_DO.test(line) && !ISSUE_NUMBER.test(line)
}

/**
 * @param {string} path
 * @param {string} text
 * @param {string} message
 * @param {(line: string) => boolean} matches
 * @returns {Problem[]}
 */
function matchingLines(path, text, message, matches) {
  return text
    .split('\n')
    .flatMap((line, index) => (matches(line) ? [{ path, line: index + 1, message }] : []))
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {Problem[]}
 */
function checkFileLength(path, text) {
  const lines = text.trimEnd().split('\n').length
  const limit = isTestFile(path) ? MAX_TEST_FILE_LINES : MAX_FILE_LINES
  return lines > limit ? [{ path, line: limit + 1, message: `has ${lines} lines, over ${limit}` }] : []
}

/**
 * @param {string} path
 * @param {string} sql
 */
function findLongRoutines(path, sql) {
  return findRoutines(sql).flatMap(({ name, line, bodyLines }) => longFunction(path, line, name, bodyLines))
}

/**
 * @param {string} path
 * @param {ts.SourceFile} source
 */
function findLongFunctions(path, source) {
  return [...descendants(source)].flatMap((node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return []
    const first = lineOf(source, node)
    const last = source.getLineAndCharacterOfPosition(node.end).line + 1
    return longFunction(path, first, functionName(node), last - first + 1)
  })
}

/** @param {ts.SignatureDeclaration} node */
function functionName(node) {
  if (node.name !== undefined) return node.name.getText()
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : 'a function'
}

/**
 * @param {string} path
 * @param {number} line
 * @param {string} name
 * @param {number} lines
 * @returns {Problem[]}
 */
function longFunction(path, line, name, lines) {
  return lines > MAX_FUNCTION_LINES
    ? [{ path, line, message: `${name} has ${lines} lines, over ${MAX_FUNCTION_LINES}` }]
    : []
}

/**
 * @param {string} path
 * @param {ts.SourceFile} source
 * @returns {Problem[]}
 */
function findSwitchedTests(path, source) {
  const lines = source.text.split('\n')
  return [...descendants(source)].flatMap((node) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
    const { name, expression } = node.expression
    if (!['only', 'skip'].includes(name.text) || !/^(?:it|test|describe)\b/.test(expression.getText()))
      return []
    const line = lineOf(source, node)
    if (hasReason(lines, line)) return []
    return [{ path, line, message: `uses .${name.text}() without a comment that says why` }]
  })
}

/**
 * @param {string[]} lines
 * @param {number} line counted from 1
 */
function hasReason(lines, line) {
  const previous = lines[line - 2]?.trim() ?? ''
  return /\s\/\/ \S/.test(lines[line - 1] ?? '') || previous.startsWith('// ') || previous.endsWith('*/')
}

/**
 * A resolved address ties every install to the registry that made the lockfile. Binaries that it does not list are not installed
 * on their platform: the root's must run on all of them, the others' belong to suites for Linux.
 * @param {string} path
 * @param {string} text
 * @returns {Problem[]}
 */
function checkLockfile(path, text) {
  const { packages = {} } = /** @type {Lockfile} */ (JSON.parse(text))
  /** @type {(part: string, message: string) => Problem} */
  const problemAt = (part, message) => ({
    path,
    line: text.slice(0, text.indexOf(JSON.stringify(part))).split('\n').length,
    message,
  })
  return Object.entries(packages).flatMap(([name, { resolved, link, optionalDependencies = {} }]) => [
    ...(resolved === undefined || link === true
      ? []
      : [problemAt(resolved, `${name} has a "resolved" address`)]),
    ...Object.keys(path === 'package-lock.json' ? optionalDependencies : {})
      .filter((each) => !(`node_modules/${each}` in packages || `${name}/node_modules/${each}` in packages))
      .map((each) => problemAt(each, `${each} has no entry: it would be missing on its platform`)),
  ])
}

runAsCommand(import.meta.url, findProblems)
