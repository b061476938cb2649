// Configuration of dependency-cruiser: import directions of src/ (the table of ARCHITECTURE.md), homes of packages, no cycles.

/** @typedef {{ home: string, imports: readonly string[] | 'anything' }} Layer */

const VOCABULARY = ['errors', 'job', 'policy', 'profile']
const BELOW_COMPOSE = [...VOCABULARY, 'config', 'observe', 'store', 'runtime', 'doctor']
const CONCRETE_STORES = ['store/memory', 'store/postgres', 'store/neo4j', 'store/sharded']

/**
 * A file belongs to the layer with the longest matching home. A layer may always import itself.
 * @type {Record<string, Layer>}
 */
const LAYERS = {
  errors: { home: 'src/errors/', imports: [] },
  job: { home: 'src/job/', imports: ['errors'] },
  profile: { home: 'src/profile/', imports: ['errors', 'job', 'policy'] },
  policy: { home: 'src/policy/', imports: ['errors', 'job'] },
  config: { home: 'src/config/', imports: VOCABULARY },
  observe: { home: 'src/observe/', imports: ['errors', 'job'] },
  store: { home: 'src/store/', imports: VOCABULARY },
  'store/memory': { home: 'src/store/memory/', imports: [...VOCABULARY, 'store'] },
  'store/postgres': { home: 'src/store/postgres/', imports: [...VOCABULARY, 'store', 'observe'] },
  // Runs the verbs of the memory store over the part of the graph that a call has locked (ADR 0013).
  'store/neo4j': {
    home: 'src/store/neo4j/',
    imports: [...VOCABULARY, 'store', 'store/memory', 'observe'],
  },
  'store/sharded': { home: 'src/store/sharded/', imports: [...VOCABULARY, 'store'] },
  runtime: { home: 'src/runtime/', imports: [...VOCABULARY, 'config', 'observe', 'store'] },
  doctor: { home: 'src/doctor/', imports: [...VOCABULARY, 'store'] },
  commands: { home: 'src/commands/', imports: [...VOCABULARY, 'config', 'observe', 'store', 'runtime'] },
  'open-table': {
    home: 'src/compose/open-table.ts',
    imports: [...VOCABULARY, 'store', ...CONCRETE_STORES],
  },
  'open-heartbeat-store': {
    home: 'src/compose/open-heartbeat-store.ts',
    imports: [...VOCABULARY, 'store', ...CONCRETE_STORES, 'open-table'],
  },
  'heartbeat-thread': {
    home: 'src/compose/heartbeat-thread.ts',
    imports: [...BELOW_COMPOSE, ...CONCRETE_STORES, 'open-heartbeat-store'],
  },
  compose: { home: 'src/compose/', imports: [...BELOW_COMPOSE, ...CONCRETE_STORES, 'open-table'] },
  unstuck: { home: 'src/unstuck/', imports: [...BELOW_COMPOSE, 'compose', 'heartbeat-thread'] },
  http: { home: 'src/http/', imports: [...BELOW_COMPOSE, 'commands', 'compose', 'unstuck'] },
  cli: { home: 'src/cli/', imports: [...BELOW_COMPOSE, 'commands', 'compose', 'unstuck', 'http', 'demo'] },
  demo: { home: 'src/demo/', imports: [...BELOW_COMPOSE, 'compose', 'unstuck', 'http', 'cli'] },
  index: { home: 'src/index.ts', imports: 'anything' },
}

/** Types may be imported elsewhere, except those of an optional store. */
const PACKAGE_HOMES = [
  { name: 'neo4j-driver', homes: ['src/store/neo4j/'], typesElsewhere: false },
  { name: 'prom-client', homes: ['src/observe/'], typesElsewhere: true },
  { name: '@opentelemetry/api', homes: ['src/observe/'], typesElsewhere: true },
  { name: 'pg', homes: ['src/store/postgres/', 'src/compose/'], typesElsewhere: true },
]

// Tests may reach sideways: a runtime test drives the real memory store.
const TESTS = '[.]test[.]tsx?$'

/**
 * @param {string} name
 * @param {{ path: string | string[], pathNot?: string }} from
 * @param {object} to
 */
function rule(name, from, to) {
  const pathNot = [TESTS, ...(from.pathNot === undefined ? [] : [from.pathNot])]
  return [{ name, severity: 'error', from: { ...from, pathNot }, to }]
}

/** @param {string} text */
const escape = (text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')
/** @param {string[]} homes */
const startOf = (homes) => `^(${homes.map(escape).join('|')})`

const homes = Object.values(LAYERS).map(({ home }) => home)
/**
 * Patterns of the files of layers, without those of layers inside their homes.
 * @param {string[]} names
 */
function filesOf(names) {
  return names.map((name) => {
    const home = LAYERS[name]?.home ?? ''
    const inner = homes.filter((other) => other !== home && other.startsWith(home))
    return inner.length === 0 ? `^${escape(home)}` : `^(?!${inner.map(escape).join('|')})${escape(home)}`
  })
}

const directions = Object.entries(LAYERS).flatMap(([name, { imports }]) =>
  imports === 'anything'
    ? []
    : rule(
        `${name} imports ${imports.length === 0 ? 'nothing' : `only ${imports.join(', ')}`}`,
        { path: filesOf([name]) },
        { path: '^src/', pathNot: filesOf([name, ...imports]) },
      ),
)

const packageHomes = PACKAGE_HOMES.flatMap(({ name, homes, typesElsewhere }) =>
  rule(
    `only ${homes.join(' and ')} may import ${name}`,
    { path: '^src/', pathNot: startOf(homes) },
    {
      path: `(^|/)node_modules/(@types/)?${escape(name)}/`,
      ...(typesElsewhere ? { dependencyTypesNot: ['type-only'] } : {}),
    },
  ),
)

export default {
  forbidden: [
    ...directions,
    ...packageHomes,
    ...rule(
      'every file belongs to a layer of scripts/check/import-rules.mjs',
      { path: '^src/', pathNot: startOf(homes) },
      {},
    ),
    ...rule(
      'src imports neither other folders nor its own package by name',
      { path: '^src/' },
      // The package @unstuck/embedded resolves to its workspace.
      { pathNot: ['^src/', '^embedded/dist/', '(^|/)node_modules/'], dependencyTypesNot: ['core'] },
    ),
    ...rule('errors import no package', { path: filesOf(['errors']) }, { pathNot: '^src/' }),
    ...rule(
      'job and policy import no built-in module',
      { path: filesOf(['job', 'policy']) },
      { dependencyTypes: ['core'] },
    ),
    { name: 'no import cycles, not even of types', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Counts type-only imports too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
