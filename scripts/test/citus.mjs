// @ts-check
// Runs the suites on a Citus cluster; `--quick` runs a smoke. UNSTUCK_CITUS names a folder with start.sh and stop.sh, which start
// and stop one. Without it they are reported as skipped, with an exit code of their own.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SKIPPED } from './neo4j-jars.mjs'
import { smokeEnvironment, vitestArguments } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = [
  'test/external/citus/direct.test.ts',
  'test/external/citus/install.test.ts',
  'test/external/citus/move.test.ts',
  'test/external/citus/presence.test.ts',
  'test/external/citus/shards.test.ts',
  'test/external/citus/store.test.ts',
]
const scripts = process.env['UNSTUCK_CITUS'] ?? ''

if (existsSync(join(scripts, 'start.sh')) && scripts !== '') {
  const args = vitestArguments('test/external/citus/vitest.config.ts', [
    'test/external/citus/move.test.ts',
    'test/external/citus/store.test.ts',
  ])
  const env = { ...process.env, ...smokeEnvironment }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} else {
  for (const suite of suites) console.log(`skipped: ${suite}: UNSTUCK_CITUS names no folder with start.sh`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
  process.exitCode = SKIPPED
}
