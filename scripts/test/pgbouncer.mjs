// @ts-check
// Runs the suites through PgBouncer in transaction mode; `--quick` runs a smoke. Without PgBouncer they are reported as
// skipped.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { smokeEnvironment, vitestArguments } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = [
  'test/external/pgbouncer/attach.test.ts',
  'test/external/pgbouncer/presence.test.ts',
  'test/external/pgbouncer/store.test.ts',
  'test/external/pgbouncer/tx.test.ts',
  'test/external/pgbouncer/worker.test.ts',
]

// Debian installs it to a folder outside a user's PATH.
const env = { ...process.env, ...smokeEnvironment, PATH: `${process.env['PATH']}:/usr/sbin` }

if (spawnSync('pgbouncer', ['--version'], { env }).status === 0) {
  const args = vitestArguments('test/external/pgbouncer/vitest.config.ts', [
    'test/external/pgbouncer/store.test.ts',
    'test/external/pgbouncer/worker.test.ts',
  ])
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} else {
  for (const suite of suites) console.log(`skipped: ${suite}: the program pgbouncer is not installed`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
}
