// @ts-check
// Runs worker and reaper under Bun, which is installed from npm on first use. On platforms other than Linux x64 the suite is
// reported as skipped.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = fileURLToPath(new URL('../../test/external/bun', import.meta.url))

if (process.platform === 'linux' && process.arch === 'x64') {
  if (!existsSync(`${home}/node_modules/@oven/bun-linux-x64`)) run('npm', ['ci', '--ignore-scripts'], home)
  const args = ['vitest', 'run', '--config', 'test/external/bun/vitest.config.ts', ...process.argv.slice(2)]
  process.exitCode = run('npx', args, root) ?? 1
} else {
  console.log('skipped: test/external/bun/bun.test.ts: Bun is tested on Linux x64 only')
  console.log('\n0 passed, 0 failed, 1 skipped')
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
function run(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status
}
