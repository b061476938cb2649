// @ts-check
// Copies both packages as they are published into a folder: only their files, a README whose links work on npm, and a manifest
// without what only the repository needs. `npm publish` runs there, so it changes nothing here. Usage: stage.mjs [folder]
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { absoluteLinks } from './readme-links.mjs'

/**
 * @typedef {{ name: string, version: string, main: string, types: string, repository: { url: string },
 *   exports: { '.': { types: { require: string } } } }} Manifest
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOR_THE_REPOSITORY = ['scripts', 'devDependencies', 'workspaces', 'overrides', 'allowScripts']
const target = process.argv[2] ?? join(ROOT, '.unstuck/release')

for (const folder of ['.', 'embedded']) stage(folder)

/** @param {string} folder */
function stage(folder) {
  const source = join(ROOT, folder)
  const manifest = /** @type {Manifest} */ (JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')))
  const place = join(target, manifest.name.replace('@unstuck/', ''))
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  for (const file of listFiles(source)) cpSync(join(source, file), join(place, file))
  const needed = [manifest.main, manifest.types, manifest.exports['.'].types.require]
  for (const file of needed.filter((each) => !existsSync(join(place, each))))
    throw new Error(`${manifest.name}: ${file} is missing; npm run build`)
  cpSync(join(ROOT, 'LICENSE'), join(place, 'LICENSE'))
  const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '')
  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  const links = { repository, tag: `v${manifest.version}`, folder }
  writeFileSync(join(place, 'README.md'), absoluteLinks(readme, links))
  const published = Object.fromEntries(
    Object.entries(manifest).filter(([name]) => !FOR_THE_REPOSITORY.includes(name)),
  )
  writeFileSync(join(place, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  console.log(place)
}

/**
 * @param {string} source
 * @returns {string[]}
 */
function listFiles(source) {
  const args = ['pack', '--dry-run', '--ignore-scripts', '--json']
  const text = execFileSync('npm', args, { cwd: source, encoding: 'utf8' })
  const [packed] = /** @type {[{ files: { path: string }[] }]} */ (JSON.parse(text))
  return packed.files.map(({ path }) => path)
}
