// @ts-check
// Bundles three parts of dist/. Run by `npm run build` after tsc.
// 1. Node pays for each file it loads, in memory and time. The modules that an application loads go into four chunks; each of
//    them is replaced by a file that re-exports from its chunk (ADR 0017).
// 2. The heartbeat thread is one file, for the same reason.
// 3. @hono/zod-openapi and the dependencies it runs go into one file, with their licences beside it (ADR 0015). zod and hono
//    stay outside: an application must load one copy of each.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

/** @import { BuildOptions, Plugin } from 'rolldown' */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SRC = join(ROOT, 'src')
const DIST = join(ROOT, 'dist')
const APPLICATION = 'index.ts'
/** Between them they load what every command loads. */
const COMMANDS = ['cli/connection/with-commands.ts', 'cli/health/status.ts', 'cli/jobs/jobs.ts']
const HEARTBEAT_THREAD = 'compose/heartbeat-thread.ts'
/** Runs before pg is loaded, which a bundle would import first. */
const BEFORE_PG = 'store/postgres/connection/navigator-for-pg.ts'
const HANDLER_CHILD = 'runtime/child/handler-child.ts'
const ZOD_OPENAPI = 'http/openapi/zod-openapi.ts'
/** Needs no package. Enough for the memory store and the Neo4j store. */
const VOCABULARY = /^(?:errors|job|policy|profile)\/(?!next-run)/
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

const common = {
  cwd: ROOT,
  platform: /** @type {const} */ ('node'),
  // Warns of slow plugins on a busy machine.
  checks: { bundlerTimings: false },
}
/** Maps without sources, as tsc's: they name file and line in a stack, at a quarter of the size. */
const maps = { sourcemap: true, sourcemapExcludeSources: true }
/** A minifier would undo the escapes of `keepPlaces`. */
const output = { ...maps, minify: false }

const modules = await listModules([APPLICATION])
// Each attempt may start a process, which must not load a database driver.
const childModules = await listModules([HANDLER_CHILD])
// A command starts without the worker.
const deploymentModules = await listModules(COMMANDS)

/** @type {BuildOptions[]} */
const bundles = [
  {
    ...common,
    input: Object.fromEntries(modules.map((name) => [name.slice(0, -'.ts'.length), join(SRC, name)])),
    plugins: [keepPlaces(), removeCompilerMaps()],
    output: {
      ...output,
      dir: DIST,
      chunkFileNames: '[name].js',
      codeSplitting: {
        groups: [
          { name: 'vocabulary', test: (id) => VOCABULARY.test(nameOf(id)), priority: 2 },
          { name: 'children', test: (id) => childModules.includes(nameOf(id)), priority: 1 },
          { name: 'deployment', test: (id) => deploymentModules.includes(nameOf(id)) },
          { name: 'application' },
        ],
      },
    },
  },
  {
    ...common,
    input: join(SRC, HEARTBEAT_THREAD),
    plugins: [keepPlaces(posix.dirname(HEARTBEAT_THREAD))],
    output: { ...output, file: join(DIST, builtName(HEARTBEAT_THREAD)) },
  },
  {
    ...common,
    input: join(SRC, ZOD_OPENAPI),
    external: ['zod', /^hono(?:\/|$)/],
    plugins: [addLicences(posix.basename(builtName(ZOD_OPENAPI), '.js'))],
    output: { file: join(DIST, builtName(ZOD_OPENAPI)), ...maps },
  },
]

export default bundles

/**
 * The modules that entries load statically.
 * @param {string[]} entries
 */
async function listModules(entries) {
  const { output } = await build({
    ...common,
    input: entries.map((entry) => join(SRC, entry)),
    plugins: [keepPlaces()],
    treeshake: false,
    write: false,
  })
  const ids = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  return ids.filter((id) => id.startsWith(SRC)).map(nameOf)
}

/** @param {string} id */
function nameOf(id) {
  return relative(SRC, id).replaceAll('\\', '/')
}

/** @param {string} name */
function builtName(name) {
  return name.replace(/\.ts$/, '.js')
}

/**
 * @param {string} folder of the bundle, below dist/
 * @returns {Plugin}
 */
function keepPlaces(folder = '') {
  const placeOf = (/** @type {string} */ name) => {
    const place = posix.relative(folder, builtName(name))
    return place.startsWith('.') ? place : `./${place}`
  }
  return {
    name: 'keep-places',
    // Packages, dynamic imports and what has to run before a package stay where they are.
    resolveId(specifier, importer, { kind }) {
      if (importer === undefined) return null
      if (!specifier.startsWith('.')) return { id: specifier, external: 'absolute' }
      const name = posix.join(dirname(nameOf(importer)), specifier)
      if (kind !== 'dynamic-import' && name !== BEFORE_PG) return null
      return { id: placeOf(name), external: 'absolute' }
    },
    // A bundled module resolves its files from its original place.
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null
      const address = `new URL('${placeOf(nameOf(id))}', import.meta.url).href`
      return { code: code.replaceAll('import.meta.url', address), map: null }
    },
    // V8 stores a source with any character beyond Latin-1 at two bytes per character. `charset: 'ascii'` skips comments.
    renderChunk: (code) => ({ code: code.replaceAll(/[^\0-\x7F]/g, escapeUnit), map: null }),
  }
}

/** @param {string} unit */
function escapeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * Deletes tsc's orphaned source maps.
 * @returns {Plugin}
 */
function removeCompilerMaps() {
  return {
    name: 'remove-compiler-maps',
    writeBundle(_, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk' && file.isEntry) rmSync(join(DIST, `${file.fileName}.map`), { force: true })
    },
  }
}

/**
 * @param {string} name
 * @returns {Plugin}
 */
function addLicences(name) {
  return {
    name: 'add-licences',
    generateBundle() {
      const ids = [...this.getModuleIds()].map((id) => id.replaceAll('\\', '/'))
      const folders = new Set(ids.flatMap((id) => PACKAGE_FOLDER.exec(id) ?? []))
      const source = [...folders].sort().map(describeLicence).join('\n\n---\n\n')
      this.emitFile({ type: 'asset', fileName: `${name}.LICENSE.txt`, source })
    },
  }
}

/** @param {string} folder */
function describeLicence(folder) {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const { name, version } = /** @type {{ name: string, version: string }} */ (JSON.parse(manifest))
  return `${name} ${version}\n\n${readFileSync(licenceOf(folder, name), 'utf8').trim()}\n`
}

/**
 * Hono's middleware packages ship no licence file; theirs is Hono's.
 * @param {string} folder
 * @param {string} name
 */
function licenceOf(folder, name) {
  const own = join(folder, 'LICENSE')
  if (existsSync(own)) return own
  if (name.startsWith('@hono/')) return join(ROOT, 'node_modules/hono/LICENSE')
  throw new Error(`${name} has no licence to put beside its bundle`)
}
