// @ts-check
// SQL lives in sql/ only: no statement in a literal of TypeScript. A file of sql/functions has the name of its public
// routine; private ones may share a file. Only literals are examined, so comments never count; patterns are anchored, so
// prose rarely does.
import { basename } from 'node:path'
import ts from 'typescript'
import { runAsCommand } from './problems.mjs'
import {
  descendants,
  isTestFile,
  lineOf,
  listFiles,
  listPackageSources,
  parseSource,
  readText,
} from './source-tree.mjs'
import { findRoutines } from './sql-text.mjs'

/** @import { Problem } from './problems.mjs' */

const MAX_SQL_LINE_LENGTH = 120
const ROUTINES = 'sql/functions/'
const WIRE_LEVEL_HOME = 'src/store/postgres/'
const SQL_LITERALS = /--[^\n]*|\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"[^"]*"/g
// Stands for `${…}` and for the operands of a concatenation that are not literals.
const HOLE = '\u25a1'
const NAME = String.raw`["\w.${HOLE}]+`
// "select a profile from the list", "create table failed": a statement names no such thing.
const PROSE = '(?:the|an?|your|this|that|these|those|its|one|any|some|another|which|is|was|failed|for)'
const OBJECT_WORDS = '(?:or\\s+replace|unique|temp|temporary|unlogged|materialized|constraint)'
const OBJECT_KINDS = '(?:table|function|procedure|index|schema|view|trigger|type|sequence)'

const STATEMENTS = [
  String.raw`select\s+(?!${PROSE}\s+(?!from\b|as\b)\w)[\s\S]*?\bfrom\s+(?!${PROSE}\s)\S`,
  String.raw`select\s+(?:\d+\s*(?:;|$|as\b)|${NAME}\((?!s\)))`,
  String.raw`insert\s+into\s+${NAME}\s*(?:$|;|\(|${HOLE}|(?:as|default|overriding|select|values|with)\b)`,
  String.raw`update\s+(?:only\s+)?${NAME}(?:\s+(?:as\s+)?\w+)?\s+set\s+(?:${HOLE}|\(|${NAME}\s*=)`,
  String.raw`delete\s+from\s+(?!${PROSE}\s)${NAME}(?:\s+(?:as\s+)?\w+)?\s*(?:$|;|(?:where|using|returning)\b)`,
  String.raw`(?:create|alter|drop)\s+(?:${OBJECT_WORDS}\s+)*${OBJECT_KINDS}\s+(?!${PROSE}\b)${NAME}`,
  String.raw`with\s+(?:recursive\s+)?${NAME}\s*(?:\([^)]*\)\s*)?as\s+(?:(?:not\s+)?materialized\s+)?\(`,
  String.raw`(?:truncate|lock)\s+table\s+(?!${PROSE}\b)${NAME}`,
  String.raw`call\s+${NAME}\(`,
  String.raw`do\s+\$`,
  String.raw`set\s+(?:local|session)\s+${NAME}(?:\s*=|\s+to\b)`,
  String.raw`(?:un)?listen\s+(?:${NAME}|\*)\s*;?$`,
  String.raw`notify\s+${NAME}\s*(?:,[\s\S]*)?;?$`,
].map((pattern) => new RegExp(`^${pattern}`, 'i'))

const TRANSACTION_CONTROL = [
  String.raw`(?:begin|start\s+transaction)(?:\s+(?:work|transaction))?(?:\s+(?:isolation|read)\s[\w\s,]+)?`,
  String.raw`(?:commit|rollback)(?:\s+(?:work|transaction))?`,
  String.raw`(?:savepoint|rollback\s+to(?:\s+savepoint)?|release\s+savepoint)\s+${NAME}`,
].map((pattern) => new RegExp(`^${pattern}\\s*;?$`, 'i'))

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  const sources = listPackageSources(root).filter((path) => !isTestFile(path))
  const sqlFiles = listFiles(root, 'sql').filter(
    (path) => path.endsWith('.sql') && !path.endsWith('.snapshot.sql'),
  )
  return [
    ...sources.flatMap((path) => findSqlLiterals(path, parseSource(root, path))),
    ...sqlFiles.flatMap((path) => checkSqlFile(path, readText(root, path))),
  ]
}

/**
 * @param {string} path
 * @param {ts.SourceFile} source
 * @returns {Problem[]}
 */
function findSqlLiterals(path, source) {
  return [...descendants(source)].filter(isOutermostText).flatMap((node) => {
    const text = withoutLeadingComments(textOf(node))
    const isStatement = STATEMENTS.some((pattern) => pattern.test(text))
    const isControl =
      !path.startsWith(WIRE_LEVEL_HOME) && TRANSACTION_CONTROL.some((pattern) => pattern.test(text))
    if (!isStatement && !isControl) return []
    return [{ path, line: lineOf(source, node), message: `SQL outside sql/: ${excerpt(text)}` }]
  })
}

/**
 * A concatenation is judged as a whole, so its parts are skipped.
 * @param {ts.Node} node
 */
function isOutermostText(node) {
  return isText(node) && !isText(node.parent) && !ts.isLiteralTypeNode(node.parent) && !isPropertyName(node)
}

/** @param {ts.Node} node */
function isText(node) {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || isConcatenation(node)
}

/**
 * @param {ts.Node} node
 * @returns {node is ts.BinaryExpression}
 */
function isConcatenation(node) {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken
}

/** @param {ts.Node} node */
function isPropertyName(node) {
  return 'name' in node.parent && node.parent.name === node
}

/**
 * @param {ts.Node} node
 * @returns {string}
 */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => HOLE + span.literal.text).join('')
  }
  return isConcatenation(node) ? textOf(node.left) + textOf(node.right) : HOLE
}

/** @param {string} text */
function withoutLeadingComments(text) {
  return text.replace(/^(?:\s+|--[^\n]*\n|\/\*[\s\S]*?\*\/)+/, '').trimEnd()
}

/** @param {string} text */
function excerpt(text) {
  const line = text.replaceAll(HOLE, '${…}').replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/**
 * @param {string} path
 * @param {string} sql
 * @returns {Problem[]}
 */
function checkSqlFile(path, sql) {
  const problems = sql.split('\n').flatMap((text, index) => {
    const messages = []
    if (text.includes('\t')) messages.push('has a tab character')
    if (text.length > MAX_SQL_LINE_LENGTH)
      messages.push(`is ${text.length} characters long, over ${MAX_SQL_LINE_LENGTH}`)
    return messages.map((message) => ({ path, line: index + 1, message }))
  })
  problems.push(...findBareBackslashes(path, sql))
  return path.startsWith(ROUTINES) ? [...problems, ...checkRoutineFile(path, sql)] : problems
}

/**
 * With standard_conforming_strings off, which a role can set, a backslash in a plain literal is an escape.
 * @param {string} path
 * @param {string} sql
 * @returns {Problem[]}
 */
function findBareBackslashes(path, sql) {
  return [...sql.matchAll(SQL_LITERALS)]
    .filter(([text]) => text.startsWith("'") && text.includes('\\'))
    .map(({ index }) => ({
      path,
      line: sql.slice(0, index).split('\n').length,
      message: "has a backslash in a plain literal: write E'…', or a class such as [0-9]",
    }))
}

/**
 * @param {string} path
 * @param {string} sql
 * @returns {Problem[]}
 */
function checkRoutineFile(path, sql) {
  const routines = findRoutines(sql)
  if (routines.length === 0) return [{ path, line: 1, message: 'defines no function' }]
  const stem = basename(path, '.sql')
  const misplaced = routines.length === 1 ? routines : routines.filter(({ isPrivate }) => !isPrivate)
  return misplaced
    .filter(({ name }) => name !== stem)
    .map(({ name, line }) => ({ path, line, message: `defines ${name}: the file should be ${name}.sql` }))
}

runAsCommand(import.meta.url, findProblems)
