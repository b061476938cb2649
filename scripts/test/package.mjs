// @ts-check
// Packs unstuck as npm would, from a clean build, and installs it into empty projects.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
for (const folder of ['dist', 'embedded/dist']) rmSync(`${root}/${folder}`, { recursive: true, force: true })
const built = run('npm', ['run', '--silent', 'build'])
const args = ['vitest', 'run', '--config', 'test/external/package/vitest.config.ts', ...process.argv.slice(2)]
process.exitCode = built === 0 ? (run('npx', args) ?? 1) : 1

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status
}
