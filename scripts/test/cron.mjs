// @ts-check
// Runs the pg_cron suite on Debian's PostgreSQL 15. Without it the suite is reported as skipped.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const suites = ['test/external/cron/cron.test.ts']
const binaries = '/usr/lib/postgresql/15'
const extension = '/usr/share/postgresql/15/extension/pg_cron.control'

const missing = [`${binaries}/bin/postgres`, extension].find((path) => !existsSync(path))
if (missing === undefined) {
  const { DATABASE_URL: _, ...inherited } = process.env
  const args = ['vitest', 'run', '--config', 'test/external/cron/vitest.config.ts', ...process.argv.slice(2)]
  const env = { ...inherited, UNSTUCK_TEST_BINARIES: binaries }
  process.exitCode = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} else {
  for (const suite of suites)
    console.log(`skipped: ${suite}: postgresql-15 or postgresql-15-cron is not installed (${missing})`)
  console.log(`\n0 passed, 0 failed, ${suites.length} skipped`)
}
