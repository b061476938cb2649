// @ts-check
// Runs test/external/pg-boss on the real pg-boss, which needs a newer Node than ours: both are installed from npm on first use,
// on Linux x64. On other platforms the tests are reported as skipped.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const home = fileURLToPath(new URL('../../test/external/pg-boss', import.meta.url))
const node = `${home}/node_modules/node22/bin/node`

if (process.platform === 'linux' && process.arch === 'x64') {
  const isReady = existsSync(node) || run('npm', ['ci', '--ignore-scripts']) === 0
  process.exitCode = isReady ? (run(node, ['run.mjs']) ?? 1) : 1
} else {
  console.log(`skipped: test/external/pg-boss needs Linux x64, this is ${process.platform} ${process.arch}`)
  console.log('0 passed, 0 failed, 1 skipped')
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  return spawnSync(command, args, { cwd: home, stdio: 'inherit' }).status
}
