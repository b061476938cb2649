// @ts-check
// Node pays for every file it loads, in memory and in time. So what an application loads is put into two files, and in the place
// of each module stands one that re-exports from them; what the heartbeat thread loads is in its entry (ADR 0017).
import { rmSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

/** @import { Plugin } from 'rolldown' */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SRC = join(ROOT, 'src')
const DIST = join(ROOT, 'dist')
/** Without packages, and enough for the stores in memory and of Neo4j. */
const VOCABULARY = /^(?:errors|job|policy|profile)\/(?!next-run)/

const settings = { cwd: ROOT, platform: /** @type {const} */ ('node'), plugins: [keepPlaces()] }
/** A minifier would write escaped characters as they were. */
const outputSettings = { sourcemap: true, minify: false }

const modules = await listModules('index.ts')
/** A process is started for each attempt: it does not wait for the driver of a database. */
const ofChildren = await listModules('runtime/child/handler-child.ts')
const { output } = await build({
  ...settings,
  input: Object.fromEntries(modules.map((name) => [name.slice(0, -'.ts'.length), join(SRC, name)])),
  output: {
    ...outputSettings,
    dir: DIST,
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        { name: 'vocabulary', test: (id) => VOCABULARY.test(nameOf(id)), priority: 2 },
        { name: 'children', test: (id) => ofChildren.includes(nameOf(id)), priority: 1 },
        { name: 'application' },
      ],
    },
  },
})
// The compiler's, of what no longer stands there.
for (const file of output)
  if (file.type === 'chunk' && file.isEntry) rmSync(join(DIST, `${file.fileName}.map`), { force: true })
await build({
  ...settings,
  input: join(SRC, 'compose/heartbeat-thread.ts'),
  output: { ...outputSettings, file: join(DIST, 'compose/heartbeat-thread.js') },
})

/**
 * What is loaded with it at once.
 * @param {string} entry
 */
async function listModules(entry) {
  const { output } = await build({ ...settings, input: join(SRC, entry), treeshake: false, write: false })
  return output[0].moduleIds.filter((id) => id.startsWith(SRC)).map(nameOf)
}

/** @param {string} id */
function nameOf(id) {
  return relative(SRC, id).replaceAll('\\', '/')
}

/** @param {string} name */
function builtName(name) {
  return `./${name.replace(/\.ts$/, '.js')}`
}

/** @returns {Plugin} */
function keepPlaces() {
  return {
    name: 'keep-places',
    // Packages, and what is imported at first use, stay where they are.
    resolveId(specifier, importer, { kind }) {
      if (importer === undefined) return null
      if (!specifier.startsWith('.')) return { id: specifier, external: 'absolute' }
      if (kind !== 'dynamic-import') return null
      return { id: builtName(posix.join(dirname(nameOf(importer)), specifier)), external: 'absolute' }
    },
    // Files are found from the place of the module that asks.
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null
      const address = `new URL('${builtName(nameOf(id))}', import.meta.url).href`
      return { code: code.replaceAll('import.meta.url', address), map: null }
    },
    // One character outside of Latin-1, and V8 keeps the whole text of the file with two bytes each.
    renderChunk: (code) => ({ code: code.replaceAll(/[^\0-\x7F]/g, escapeUnit), map: null }),
  }
}

/** @param {string} unit */
function escapeUnit(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
