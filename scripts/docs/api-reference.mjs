// @ts-check
// Renders docs/reference/api.md from the types of the front door and their comments. Reads the source as it is written, so
// that a type has the name that an editor shows.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { apiSections } from './api-sections.mjs'

/** @import { ApiPart } from './api-sections.mjs' */
/** @typedef {ts.InterfaceDeclaration | ts.FunctionDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration} Declaration */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** @type {Map<string, ts.SourceFile>} */
const sources = new Map()

export function renderApiReference() {
  const intro = [
    '# TypeScript API',
    'The front door for applications, by what you do with it. Generated from the types and their comments. Operator verbs are in',
    '`q.store`; see [use the store directly](../guides/handlers/use-the-store.md).',
  ]
  const [title, ...text] = intro
  const parts = apiSections.flatMap(({ heading, text: about, parts: ofSection }) => [
    `## ${heading}`,
    about,
    ...ofSection.flatMap(renderPart),
  ])
  return `${[title, text.join('\n'), ...parts].filter((part) => part !== '').join('\n\n')}\n`
}

/**
 * @param {ApiPart} part
 * @returns {string[]}
 */
function renderPart(part) {
  const declaration = find(part.file, part.name)
  const about = 'heading' in part && part.heading !== undefined ? [`### ${part.heading}`] : []
  if (part.as === 'function')
    return [...about, ...overloadsOf(declaration).flatMap((each) => [signature(each), commentOf(each)])]
  if (part.as === 'type') {
    const { typeParameters = [] } = /** @type {ts.TypeAliasDeclaration} */ (declaration)
    const names = typeParameters.map(({ name }) => name.text).join(', ')
    return [...about, `- \`${part.name}<${names}>\`: ${oneLine(commentOf(declaration))}`]
  }
  if (part.as === 'fields') return [...about, commentOf(declaration), fieldTable(declaration)]
  if (part.as === 'events') return [...about, eventTable(declaration)]
  return methods(declaration)
}

/**
 * @param {string} file
 * @param {string} name
 * @returns {Declaration}
 */
function find(file, name) {
  const source = sources.get(file) ?? parse(file)
  const found = source.statements.find(
    (statement) =>
      (ts.isInterfaceDeclaration(statement) ||
        ts.isFunctionDeclaration(statement) ||
        ts.isClassDeclaration(statement) ||
        ts.isTypeAliasDeclaration(statement)) &&
      statement.name?.text === name,
  )
  if (found === undefined) throw new Error(`${file} declares no ${name}`)
  return /** @type {Declaration} */ (found)
}

/** @param {string} file */
function parse(file) {
  const source = ts.createSourceFile(
    file,
    readFileSync(`${ROOT}/${file}`, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  sources.set(file, source)
  return source
}

/**
 * Its own members, then those of interfaces of the same file that it extends.
 * @param {Declaration} declaration
 * @returns {ts.Node[]}
 */
function membersOf(declaration) {
  const own = 'members' in declaration ? [...declaration.members] : []
  const { heritageClauses = [] } = /** @type {ts.InterfaceDeclaration} */ (declaration)
  const inherited = [...heritageClauses].flatMap(({ types }) =>
    declaration.getSourceFile().statements.flatMap((other) => {
      const isExtended =
        ts.isInterfaceDeclaration(other) &&
        types.some(({ expression }) => textOf(expression) === other.name.text)
      return isExtended ? membersOf(other) : []
    }),
  )
  return [...own, ...inherited]
}

/**
 * A heading for each method, so that a search for its name ends there.
 * @param {Declaration} declaration
 */
function methods(declaration) {
  return membersOf(declaration).flatMap((member) => [
    `### ${nameOf(member)}`,
    code(signaturesOf(member).join('\n')),
    commentOf(member),
  ])
}

const TYPED_METHODS = 'src/unstuck/typed-methods.ts'

/**
 * A method whose type depends on the declared jobs has one signature with them, and one without.
 * @param {ts.Node} member
 * @returns {string[]}
 */
function signaturesOf(member) {
  const { type } = /** @type {ts.PropertySignature} */ (member)
  const alias = ts.isPropertySignature(member) && type !== undefined ? methodType(type) : undefined
  // The lines of a member are indented by its interface.
  if (alias === undefined) return [textOf(member).replaceAll(/^ {2}/gm, '')]
  return [
    '// With declared jobs:',
    ...callsOf(nameOf(member), alias.falseType),
    '// Without:',
    ...callsOf(nameOf(member), alias.trueType),
  ]
}

/**
 * @param {ts.TypeNode} type
 * @returns {ts.ConditionalTypeNode | undefined}
 */
function methodType(type) {
  if (!ts.isTypeReferenceNode(type) || !textOf(type.typeName).endsWith('Method')) return undefined
  const declaration = find(TYPED_METHODS, textOf(type.typeName))
  if (!ts.isTypeAliasDeclaration(declaration) || !ts.isConditionalTypeNode(declaration.type))
    throw new Error(`${textOf(type.typeName)} is no choice between declared and open jobs`)
  return declaration.type
}

/**
 * @param {string} name
 * @param {ts.Node} type A function type, or the name of one or of an interface of calls.
 * @returns {string[]}
 */
function callsOf(name, type) {
  if (ts.isTypeReferenceNode(type)) {
    const declaration = find(TYPED_METHODS, textOf(type.typeName))
    if (ts.isTypeAliasDeclaration(declaration)) return callsOf(name, declaration.type)
    return membersOf(declaration).flatMap((member) => callsOf(name, member))
  }
  const { typeParameters = [], parameters, type: returned } = /** @type {ts.FunctionTypeNode} */ (type)
  const generic = typeParameters.length === 0 ? '' : `<${listOf(typeParameters)}>`
  const call = `${name}${generic}(${listOf(parameters)}): ${oneLine(textOf(returned))}`
  const shown =
    call.length <= 100
      ? call
      : `${name}${generic}(\n  ${listOf(parameters, ',\n  ')},\n): ${oneLine(textOf(returned))}`
  return [shown.replaceAll(/\bSelf\b/g, 'Unstuck<Jobs>')]
}

/**
 * @param {readonly ts.Node[]} nodes
 * @param {string} separator
 */
const listOf = (nodes, separator = ', ') => nodes.map((node) => oneLine(textOf(node))).join(separator)

/** @param {Declaration} declaration */
function signature(declaration) {
  const text = textOf(declaration)
  const body = 'body' in declaration ? declaration.body : undefined
  const head = body === undefined ? text : text.slice(0, text.length - textOf(body).length)
  return code(bare(head))
}

/** @param {string} text */
const bare = (text) => text.replace(/^export (?:async )?/, '').trimEnd()

/**
 * A function with overloads is called by those, not by its implementation.
 * @param {Declaration} declaration
 * @returns {Declaration[]}
 */
function overloadsOf(declaration) {
  const all = declaration
    .getSourceFile()
    .statements.filter(ts.isFunctionDeclaration)
    .filter(({ name }) => name?.text === declaration.name?.text)
  const overloads = all.filter(({ body }) => body === undefined)
  return overloads.length === 0 ? [declaration] : overloads
}

/** @param {Declaration} declaration */
function fieldTable(declaration) {
  const rows = membersOf(declaration)
    .filter(isField)
    .map((member) => `| \`${nameOf(member)}\` | ${cell(typeOf(member))} | ${oneLine(commentOf(member))} |`)
  return ['| Name | Type | |', '| --- | --- | --- |', ...rows].join('\n')
}

/** @param {ts.Node} member */
function isField(member) {
  const isOne =
    ts.isPropertySignature(member) || ts.isPropertyDeclaration(member) || ts.isMethodSignature(member)
  return isOne && !ts.isPrivateIdentifier(member.name)
}

/** @param {Declaration} declaration */
function eventTable(declaration) {
  const rows = membersOf(declaration).map((member) => {
    const { type } = /** @type {ts.PropertySignature} */ (member)
    const fields =
      type !== undefined && ts.isTypeLiteralNode(type)
        ? type.members.map((field) => cell(`${nameOf(field)}: ${typeOf(field)}`)).join(' ')
        : ''
    return `| \`${nameOf(member)}\` | ${fields} | ${oneLine(commentOf(member))} |`
  })
  return ['| Event | Fields | |', '| --- | --- | --- |', ...rows].join('\n')
}

/** @param {ts.Node} member */
function nameOf(member) {
  const { name, questionToken } = /** @type {ts.PropertySignature} */ (member)
  const text = ts.isStringLiteral(name) ? name.text : name.getText()
  return questionToken === undefined || ts.isMethodSignature(member) ? text : `${text}?`
}

/** @param {ts.Node} member */
function typeOf(member) {
  if (ts.isMethodSignature(member)) return oneLine(textOf(member).slice(textOf(member).indexOf('(')))
  const { type, questionToken } = /** @type {ts.PropertySignature} */ (member)
  if (type === undefined) return ''
  const text = oneLine(textOf(type).replaceAll(/\/\*\*[\s\S]*?\*\//g, ''))
  // The name of an optional field has a question mark.
  return questionToken === undefined ? text : text.replace(/ \| undefined$/, '')
}

/** @param {ts.Node} node */
function textOf(node) {
  return node.getText()
}

/** @param {ts.Node} node */
function commentOf(node) {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc).slice(-1)
  return (ts.getTextOfJSDocComment(comment?.comment) ?? '').trim()
}

/** @param {string} text */
const code = (text) => `\`\`\`typescript\n${text}\n\`\`\``
/** @param {string} text */
const oneLine = (text) => text.replaceAll(/\s+/g, ' ')
/** @param {string} text */
const cell = (text) => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``)
