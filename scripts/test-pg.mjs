// @ts-check
// Runs the store, SQL and race suites on every supported PostgreSQL: 14, 16 and 17 from npm, 15 where Debian's package is
// there, 18 embedded. What is missing is named, and nothing counts as passed that did not run.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const versions = fileURLToPath(new URL('../test/pg-versions', import.meta.url))
const wholeSuites = ['test/store', 'test/sql', 'test/race', 'test/migrate']
// One table through the conformance suite, and what depends on the version: plans, locks, the installed schema. Of the races
// those of the lock order and of the statements that see a row change under them; the others take the same locks.
const quickSuites = [
  'test/store/native.test.ts',
  'test/sql/plans.test.ts',
  'test/sql/vectors.test.ts',
  'test/race/claim.test.ts',
  'test/race/finish-and-reap.test.ts',
  'test/race/beat-and-reap.test.ts',
  'test/race/cancel.test.ts',
  'test/race/enqueue.test.ts',
  'test/race/lock-order.test.ts',
  'test/race/reapers.test.ts',
  'test/migrate/schema.test.ts',
]

const servers = [
  { name: '14', binaries: `${versions}/node_modules/pg14/native` },
  { name: '15', binaries: '/usr/lib/postgresql/15' },
  { name: '16', binaries: `${versions}/node_modules/pg16/native` },
  { name: '17', binaries: `${versions}/node_modules/pg17/native` },
  { name: '18', binaries: null },
]

const isQuick = process.argv.includes('--quick')
const suites = isQuick ? quickSuites : wholeSuites
const wanted = process.argv.slice(2).filter((argument) => argument !== '--quick')
const isLinux = process.platform === 'linux' && process.arch === 'x64'
if (isLinux && !existsSync(`${versions}/node_modules/pg14`))
  run('npm', ['ci', '--ignore-scripts'], { cwd: versions })

/** @type {string[]} */
const failed = []
/** @type {string[]} */
const skipped = []
for (const { name, binaries } of servers) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  if (binaries !== null && !existsSync(`${binaries}/bin/postgres`)) {
    skipped.push(name)
    continue
  }
  console.log(`\nPostgreSQL ${name}`)
  const env = binaries === null ? {} : { UNSTUCK_TEST_BINARIES: binaries }
  if (run('npx', ['vitest', 'run', ...suites], { cwd: root, env }) !== 0) failed.push(name)
}
for (const name of skipped) console.log(`skipped: PostgreSQL ${name} is not on this machine`)
if (failed.length > 0) console.log(`failed on PostgreSQL ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: Record<string, string> }} options
 */
function run(command, args, { cwd, env = {} }) {
  const { DATABASE_URL: _, ...inherited } = process.env
  return spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...inherited, ...env } }).status
}
