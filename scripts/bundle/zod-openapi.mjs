// @ts-check
// Puts @hono/zod-openapi, and what it runs of its own dependencies, into dist/http/zod-openapi.js, with their licences beside it
// (ADR 0015). zod and hono stay outside: there must be one of each.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const BUNDLE = 'dist/http/zod-openapi.js'
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

const { output } = await build({
  cwd: ROOT,
  input: 'src/http/zod-openapi.ts',
  external: ['zod', /^hono(?:\/|$)/],
  platform: 'node',
  output: { file: BUNDLE, sourcemap: true },
})
const modules = output[0].moduleIds.map((id) => id.replaceAll('\\', '/'))
const folders = new Set(modules.flatMap((id) => PACKAGE_FOLDER.exec(id) ?? []))
const licences = [...folders].sort().map(describeLicence)
writeFileSync(join(ROOT, 'dist/http/zod-openapi.LICENSE.txt'), licences.join('\n\n---\n\n'))

/** @param {string} folder */
function describeLicence(folder) {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const { name, version } = /** @type {{ name: string, version: string }} */ (JSON.parse(manifest))
  return `${name} ${version}\n\n${readFileSync(licenceOf(folder, name), 'utf8').trim()}\n`
}

/**
 * The packages of Hono's middleware come without a copy of their licence. It is Hono's.
 * @param {string} folder
 * @param {string} name
 */
function licenceOf(folder, name) {
  const own = join(folder, 'LICENSE')
  if (existsSync(own)) return own
  if (name.startsWith('@hono/')) return join(ROOT, 'node_modules/hono/LICENSE')
  throw new Error(`${name} has no licence to put beside ${BUNDLE}`)
}
