// @ts-check
// Holds the import directions of src/: imports point down the table below, packages with a home are imported
// there only, the pure layers touch neither clock nor chance, and no import cycle exists.
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { runAsCommand } from './problems.mjs'
import { descendants, lineOf, listPackageSources, parseSource } from './source-tree.mjs'

/** @import { Problem } from './problems.mjs' */
/** @typedef {{ name: string, home: string, imports: readonly string[] | 'anything' }} Layer */
/** @typedef {{ specifier: string, line: number, isTypeOnly: boolean }} Import */
/** @typedef {{ path: string, source: ts.SourceFile, imports: Import[] }} Module */

const VOCABULARY = ['errors', 'job', 'policy', 'profile']
const BELOW_COMPOSE = [...VOCABULARY, 'config', 'observe', 'store', 'runtime', 'doctor']
const CONCRETE_STORES = ['store/memory', 'store/postgres', 'store/neo4j']

// A file belongs to the layer with the longest matching home. A layer may always import itself.
/** @type {Layer[]} */
const LAYERS = [
  { name: 'errors', home: 'src/errors/', imports: [] },
  { name: 'job', home: 'src/job/', imports: ['errors'] },
  { name: 'profile', home: 'src/profile/', imports: ['errors', 'job', 'policy'] },
  { name: 'policy', home: 'src/policy/', imports: ['errors', 'job'] },
  { name: 'config', home: 'src/config/', imports: VOCABULARY },
  { name: 'observe', home: 'src/observe/', imports: ['errors', 'job'] },
  { name: 'store', home: 'src/store/', imports: VOCABULARY },
  { name: 'store/memory', home: 'src/store/memory/', imports: [...VOCABULARY, 'store'] },
  { name: 'store/postgres', home: 'src/store/postgres/', imports: [...VOCABULARY, 'store', 'observe'] },
  // Its verbs are those of the memory store, over the part of the graph that a call has locked (ADR 0013).
  {
    name: 'store/neo4j',
    home: 'src/store/neo4j/',
    imports: [...VOCABULARY, 'store', 'store/memory', 'observe'],
  },
  { name: 'runtime', home: 'src/runtime/', imports: [...VOCABULARY, 'config', 'observe', 'store'] },
  { name: 'doctor', home: 'src/doctor/', imports: [...VOCABULARY, 'store'] },
  {
    name: 'commands',
    home: 'src/commands/',
    imports: [...VOCABULARY, 'config', 'observe', 'store', 'runtime'],
  },
  {
    name: 'open-table',
    home: 'src/compose/open-table.ts',
    imports: [...VOCABULARY, 'store', ...CONCRETE_STORES],
  },
  {
    name: 'open-heartbeat-store',
    home: 'src/compose/open-heartbeat-store.ts',
    imports: [...VOCABULARY, 'store', ...CONCRETE_STORES, 'open-table'],
  },
  {
    name: 'compose',
    home: 'src/compose/',
    imports: [...BELOW_COMPOSE, ...CONCRETE_STORES, 'open-table'],
  },
  {
    name: 'heartbeat-thread',
    home: 'src/compose/heartbeat-thread.ts',
    imports: [...BELOW_COMPOSE, 'open-heartbeat-store'],
  },
  { name: 'unstuck', home: 'src/unstuck/', imports: [...BELOW_COMPOSE, 'compose', 'heartbeat-thread'] },
  { name: 'http', home: 'src/http/', imports: [...BELOW_COMPOSE, 'commands', 'compose', 'unstuck'] },
  { name: 'cli', home: 'src/cli/', imports: [...BELOW_COMPOSE, 'commands', 'compose', 'unstuck', 'http'] },
  { name: 'index', home: 'src/index.ts', imports: 'anything' },
]

const PACKAGE_HOMES = [
  { name: 'neo4j-driver', homes: ['src/store/neo4j/'], typesElsewhere: false },
  { name: 'prom-client', homes: ['src/observe/'], typesElsewhere: true },
  { name: '@opentelemetry/api', homes: ['src/observe/'], typesElsewhere: true },
  { name: 'pg', homes: ['src/store/postgres/', 'src/compose/'], typesElsewhere: true },
]

const LAYERS_WITHOUT_PACKAGES = ['errors']
const PURE_LAYERS = ['job', 'policy']
const IMPURE_MEMBERS = ['Date.now', 'Math.random']
const IMPURE_GLOBALS = ['performance', 'setTimeout', 'setInterval', 'setImmediate']

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  const modules = listPackageSources(root).map((path) => readModule(root, path))
  const ownName = readPackageName(root)
  // Tests may reach sideways: a runtime test drives the real memory store.
  const layered = modules.filter(({ path }) => path.startsWith('src/') && !/\.test\.tsx?$/.test(path))
  return [
    ...layered.flatMap((module) => findLayerProblems(module, ownName)),
    ...layered.flatMap(findImpureUses),
    ...findCycles(modules),
  ]
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {Module}
 */
function readModule(root, path) {
  const source = parseSource(root, path)
  return { path, source, imports: [...descendants(source)].flatMap((node) => readImport(source, node) ?? []) }
}

/**
 * @param {ts.SourceFile} source
 * @param {ts.Node} node
 * @returns {Import | undefined}
 */
function readImport(source, node) {
  const [target, isTypeOnly] = importTarget(node)
  if (target === undefined || !ts.isStringLiteralLike(target)) return undefined
  return { specifier: target.text, line: lineOf(source, node), isTypeOnly }
}

/**
 * `import { type A }` is not type-only: with verbatimModuleSyntax the module is still loaded.
 * @param {ts.Node} node
 * @returns {[target: ts.Node | undefined, isTypeOnly: boolean]}
 */
function importTarget(node) {
  if (ts.isImportDeclaration(node)) return [node.moduleSpecifier, isTypeClause(node.importClause)]
  if (ts.isExportDeclaration(node)) return [node.moduleSpecifier, node.isTypeOnly]
  if (ts.isImportTypeNode(node))
    return [ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true]
  if (ts.isExternalModuleReference(node)) return [node.expression, false]
  if (ts.isCallExpression(node) && isLoadCall(node.expression)) return [node.arguments[0], false]
  return [undefined, false]
}

/** @param {ts.ImportClause | undefined} clause */
function isTypeClause(clause) {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

/** @param {ts.Expression} callee */
function isLoadCall(callee) {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
}

/** @param {string} root */
function readPackageName(root) {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return undefined
  return /** @type {{ name?: string }} */ (JSON.parse(readFileSync(path, 'utf8'))).name
}

/**
 * @param {Module} module
 * @param {string | undefined} ownName
 * @returns {Problem[]}
 */
function findLayerProblems({ path, imports }, ownName) {
  const layer = layerOf(path)
  if (layer === undefined)
    return [{ path, line: 1, message: 'belongs to no layer: give it one in scripts/check/imports.mjs' }]
  return imports.flatMap((found) => {
    const message = isRelative(found.specifier)
      ? refuseFile(layer, resolveImport(path, found.specifier))
      : refusePackage(layer, path, found, ownName)
    return message === undefined ? [] : [{ path, line: found.line, message }]
  })
}

/** @param {string} path */
function layerOf(path) {
  return LAYERS.filter(({ home }) => path.startsWith(home)).toSorted(
    (a, b) => b.home.length - a.home.length,
  )[0]
}

/**
 * @param {Layer} layer
 * @param {string} target
 */
function refuseFile(layer, target) {
  if (!target.startsWith('src/')) return `imports ${target}, which is outside src`
  const targetLayer = layerOf(target)
  if (targetLayer === undefined || targetLayer === layer || layer.imports === 'anything') return undefined
  if (layer.imports.includes(targetLayer.name)) return undefined
  return `${layer.name} may not import ${targetLayer.name} (${target})`
}

/**
 * @param {Layer} layer
 * @param {string} path
 * @param {Import} found
 * @param {string | undefined} ownName
 */
function refusePackage(layer, path, { specifier, isTypeOnly }, ownName) {
  if (LAYERS_WITHOUT_PACKAGES.includes(layer.name)) return `${layer.name} may not import ${specifier}`
  if (ownName !== undefined && isFromPackage(specifier, ownName))
    return `imports its own package by name (${specifier})`
  if (PURE_LAYERS.includes(layer.name) && isBuiltin(specifier))
    return `${layer.name} is pure and may not import ${specifier}`
  const rule = PACKAGE_HOMES.find(({ name }) => isFromPackage(specifier, name))
  if (rule === undefined || rule.homes.some((home) => path.startsWith(home))) return undefined
  if (isTypeOnly && rule.typesElsewhere) return undefined
  return `only ${rule.homes.join(' and ')} may import ${rule.name}`
}

/**
 * @param {string} specifier
 * @param {string} name
 */
function isFromPackage(specifier, name) {
  return specifier === name || specifier.startsWith(`${name}/`)
}

/** @param {string} specifier */
function isRelative(specifier) {
  return specifier.startsWith('.')
}

/**
 * @param {string} path
 * @param {string} specifier
 */
function resolveImport(path, specifier) {
  return posix.join(posix.dirname(path), specifier).replace(/\.js(x?)$/, '.ts$1')
}

/**
 * @param {Module} module
 * @returns {Problem[]}
 */
function findImpureUses({ path, source }) {
  const layer = layerOf(path)
  if (layer === undefined || !PURE_LAYERS.includes(layer.name)) return []
  return [...descendants(source)].flatMap((node) => {
    const use = impureUse(node)
    if (use === undefined) return []
    return [{ path, line: lineOf(source, node), message: `${layer.name} is pure and may not use ${use}` }]
  })
}

/** @param {ts.Node} node */
function impureUse(node) {
  if (ts.isPropertyAccessExpression(node)) {
    const member = `${node.expression.getText()}.${node.name.text}`.replace(/^globalThis\./, '')
    return [...IMPURE_MEMBERS, ...IMPURE_GLOBALS].includes(member) ? member : undefined
  }
  if (ts.isNewExpression(node) && isDate(node.expression) && !node.arguments?.length)
    return 'new Date() without a time'
  if (ts.isCallExpression(node) && isDate(node.expression)) return 'Date()'
  if (ts.isIdentifier(node) && IMPURE_GLOBALS.includes(node.text) && !isName(node)) return node.text
  return undefined
}

/** @param {ts.Expression} expression */
function isDate(expression) {
  return ts.isIdentifier(expression) && expression.text === 'Date'
}

/**
 * A member or a declaration that happens to have the name, such as `report.performance`.
 * @param {ts.Identifier} node
 */
function isName(node) {
  if (ts.isShorthandPropertyAssignment(node.parent)) return false
  return 'name' in node.parent && node.parent.name === node
}

/**
 * @param {Module[]} modules
 * @returns {Problem[]}
 */
function findCycles(modules) {
  const byPath = new Map(modules.map((module) => [module.path, module]))
  /** @type {Set<string>} */
  const finished = new Set()
  /** @type {Problem[]} */
  const problems = []

  /** @param {Module} module @param {string[]} trail */
  function visit(module, trail) {
    for (const { specifier, line } of module.imports) {
      const target = isRelative(specifier) ? byPath.get(resolveImport(module.path, specifier)) : undefined
      if (target === undefined || finished.has(target.path)) continue
      const start = trail.indexOf(target.path)
      if (start === -1) visit(target, [...trail, target.path])
      else
        problems.push({
          path: module.path,
          line,
          message: cycleMessage([...trail.slice(start), target.path]),
        })
    }
    finished.add(module.path)
  }

  for (const module of modules) if (!finished.has(module.path)) visit(module, [module.path])
  return problems
}

/** @param {string[]} trail */
function cycleMessage(trail) {
  return `closes an import cycle: ${trail.join(' → ')}`
}

runAsCommand(import.meta.url, findProblems)
