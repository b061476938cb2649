// @ts-check
// Writes the types for CommonJS: beside each entry's .d.ts a .d.cts that re-exports it. Run by `npm run build` after tsc.
// The package is ESM only, and Node 20.19 and newer `require` it. TypeScript knows that under `module: nodenext` and `node20`;
// under `node16` and `node18` it would refuse the import of an ES module from a CommonJS file (TS1479), here as well.
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {string | { types: { require: string }, default: string }} Entry */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

for (const folder of [ROOT, `${ROOT}/embedded`]) {
  const text = readFileSync(`${folder}/package.json`, 'utf8')
  const manifest = /** @type {{ exports: Record<string, Entry> }} */ (JSON.parse(text))
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry === 'string') continue
    writeFileSync(
      `${folder}/${entry.types.require}`,
      `// @ts-ignore TS1479: Node 20.19 and newer require ES modules.\nexport * from './${basename(entry.default)}'\n`,
    )
  }
}
