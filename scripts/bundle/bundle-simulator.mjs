// @ts-check
// Bundles the simulator and everything it runs into one file, from the sources: a second, and no stale build.
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** @typedef {{ file: string, from: string, to: string }} Edit */
/** @typedef {Edit & { name: string }} Mutant a rule that is broken on purpose */

/**
 * @param {string} [name] of the bundle
 * @param {Edit[]} [edits] that the sources get on the way
 * @returns {Promise<string>} the address of the bundle
 */
export async function bundleSimulator(name = 'main', edits = []) {
  const file = `${ROOT}sim/dist/${name}.js`
  const missing = new Set(edits)
  await build({
    cwd: ROOT,
    platform: 'node',
    input: `${ROOT}sim/src/main.ts`,
    checks: { bundlerTimings: false },
    output: { file, sourcemap: edits.length === 0, sourcemapExcludeSources: true },
    plugins: [
      {
        name: 'edit',
        transform(code, id) {
          let edited = code
          for (const edit of edits) {
            if (!id.endsWith(edit.file) || !edited.includes(edit.from)) continue
            edited = edited.replace(edit.from, edit.to)
            missing.delete(edit)
          }
          return edited === code ? null : edited
        },
      },
    ],
  })
  if (missing.size > 0)
    throw new Error(`nothing to edit: ${[...missing].map(({ file: each }) => each).join(', ')}`)
  return pathToFileURL(file).href
}
