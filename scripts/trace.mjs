// @ts-check
// Ties each requirement of docs/requirements.md to the tests whose titles start with its id, in both directions.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { isRunAsCommand, printProblems } from './check/problems.mjs'
import { descendants, lineOf, listFiles, parseSource, readText } from './check/source-tree.mjs'

/** @import { Problem } from './check/problems.mjs' */
/** @typedef {{ file: string, line: number, title: string }} Test */
/** @typedef {{ id: string, line: number, isOpen: boolean, tests: Test[] }} Requirement */
/** @typedef {{ requirements: Requirement[], problems: Problem[] }} Trace */

const DOCUMENT = 'docs/requirements.md'
const REQUIREMENT = /^- (?:\*\*)?([A-Z][A-Z0-9]*-\d+)\b/
const OPEN_MARK = /\(open\)\s*$/
const LEADING_IDS = /^(?:[A-Z][A-Z0-9]*-\d+\b[\s,:]*)+/
const TEST_FILE = /\.test\.tsx?$|^src\/store\/conformance\/.+\.ts$/
const TEST_FUNCTIONS = ['it', 'test', 'describe']
// These never run or define no test: `test.extend('port', …)` names a fixture.
const UNCOUNTED_MODIFIERS = ['skip', 'todo', 'extend']

/**
 * @param {string} root
 * @returns {Trace}
 */
export function trace(root) {
  if (!existsSync(join(root, DOCUMENT))) {
    return { requirements: [], problems: [{ path: DOCUMENT, line: 1, message: 'is missing' }] }
  }
  const requirements = readRequirements(readText(root, DOCUMENT))
  const files = listFiles(root).filter((path) => TEST_FILE.test(path))
  const unknown = files.flatMap((file) => assignTests(requirements, readTests(root, file)))
  return {
    requirements,
    problems: [...findUntested(requirements), ...findDuplicates(requirements), ...unknown],
  }
}

/**
 * A requirement may continue on indented lines; its mark is at the end of the last.
 * @param {string} document
 * @returns {Requirement[]}
 */
function readRequirements(document) {
  const lines = document.split('\n')
  return lines.flatMap((text, index) => {
    const id = REQUIREMENT.exec(text)?.[1]
    if (id === undefined) return []
    let last = index
    while (/^\s+\S/.test(lines[last + 1] ?? '')) last += 1
    return [{ id, line: index + 1, isOpen: OPEN_MARK.test(lines[last] ?? ''), tests: [] }]
  })
}

/**
 * @param {string} root
 * @param {string} file
 * @returns {Test[]}
 */
function readTests(root, file) {
  const source = parseSource(root, file)
  return [...descendants(source)].flatMap((node) => {
    const title = ts.isCallExpression(node) ? readTitle(node) : undefined
    return title === undefined ? [] : [{ file, line: lineOf(source, node), title }]
  })
}

/** @param {ts.CallExpression} call */
function readTitle(call) {
  const [name, ...modifiers] = calleePath(call.expression)
  if (name === undefined || !TEST_FUNCTIONS.includes(name)) return undefined
  if (modifiers.some((modifier) => UNCOUNTED_MODIFIERS.includes(modifier))) return undefined
  const [title] = call.arguments
  if (title === undefined) return undefined
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText().slice(1, -1) : undefined
}

/**
 * `it.skipIf(…).each([…])` reads as it, skipIf, each.
 * @param {ts.Expression} callee
 * @returns {string[]}
 */
function calleePath(callee) {
  if (ts.isIdentifier(callee)) return [callee.text]
  if (ts.isPropertyAccessExpression(callee)) return [...calleePath(callee.expression), callee.name.text]
  if (ts.isCallExpression(callee)) return calleePath(callee.expression)
  return ts.isTaggedTemplateExpression(callee) ? calleePath(callee.tag) : []
}

/**
 * @param {Requirement[]} requirements
 * @param {Test[]} tests
 * @returns {Problem[]} tests that name an unknown id
 */
function assignTests(requirements, tests) {
  return tests.flatMap((test) => {
    const ids = LEADING_IDS.exec(test.title)?.[0].match(/[A-Z][A-Z0-9]*-\d+/g) ?? []
    return [...new Set(ids)].flatMap((id) => {
      const requirement = requirements.find((candidate) => candidate.id === id)
      requirement?.tests.push(test)
      if (requirement !== undefined) return []
      return [{ path: test.file, line: test.line, message: `names ${id}, which is not in ${DOCUMENT}` }]
    })
  })
}

/**
 * @param {Requirement[]} requirements
 * @returns {Problem[]}
 */
function findUntested(requirements) {
  return requirements
    .filter(({ isOpen, tests }) => !isOpen && tests.length === 0)
    .map(({ id, line }) => ({ path: DOCUMENT, line, message: `${id} has no test` }))
}

/**
 * @param {Requirement[]} requirements
 * @returns {Problem[]}
 */
function findDuplicates(requirements) {
  return requirements
    .filter(({ id }, index) => requirements.findIndex((other) => other.id === id) < index)
    .map(({ id, line }) => ({ path: DOCUMENT, line, message: `${id} is defined twice` }))
}

/** @param {Requirement[]} requirements */
export function formatTable(requirements) {
  const width = Math.max(0, ...requirements.map(({ id }) => id.length)) + 2
  const rows = requirements.flatMap(({ id, isOpen, tests }) => {
    const cells = tests.map(({ file, title }) => `${file} › ${title}`)
    if (cells.length === 0) cells.push(isOpen ? '(open)' : '(no test)')
    return cells.map((cell, index) => (index === 0 ? id : '').padEnd(width) + cell)
  })
  return [...rows, '', formatSummary(requirements)].join('\n')
}

/** @param {Requirement[]} requirements */
function formatSummary(requirements) {
  const open = requirements.filter(({ isOpen }) => isOpen).map(({ id }) => id)
  const tests = new Set(requirements.flatMap(({ tests }) => tests)).size
  const names = open.length > 0 ? `: ${open.join(' ')}` : ''
  return `${requirements.length} requirements, ${tests} tests, ${open.length} open${names}`
}

if (isRunAsCommand(import.meta.url)) {
  const root = resolve(process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? '.')
  const { requirements, problems } = trace(root)
  const format = process.argv.includes('--summary') ? formatSummary : formatTable
  const isJson = process.argv.includes('--json')
  console.log(isJson ? JSON.stringify({ requirements, problems }, null, 2) : format(requirements))
  printProblems(problems)
}
