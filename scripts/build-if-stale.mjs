// @ts-check
// Builds unless dist is newer than everything it is made of: neither a restarted service nor the demo waits for a compiler.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = [
  'src',
  'embedded/src',
  'dashboard/src',
  'dashboard/index.html',
  'dashboard/package.json',
  'dashboard/tsconfig.json',
  'dashboard/vite.config.ts',
  'scripts/bundle',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

/** @type {(path: string) => number} */
function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 0
  if (!stats.isDirectory()) return stats.mtimeMs
  // The time of a folder is that of the last file that was added or removed.
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

const builtAt = statSync(join(root, 'dist', 'index.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
if (Math.max(...sources.map((path) => newest(join(root, path)))) > builtAt) {
  const why = builtAt === 0 ? 'nothing is built yet' : 'its sources have changed'
  console.error(`Building unstuck and its dashboard (${why}) …`)
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
