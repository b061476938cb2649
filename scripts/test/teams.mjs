// @ts-check
// Runs test/external/teams, with databases as teams have them, on the oldest and newest supported PostgreSQL: 14 (from npm,
// Linux x64) and 18 (embedded). `--quick` runs only the newest; other arguments go to Vitest. Queue libraries are installed from
// npm on first use.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installVersions, serversOf } from './pg-servers.mjs'
import { givenArguments, isSmoke } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const versions = isSmoke ? ['18'] : ['14', '18']
if (!isSmoke) installVersions()
const queues = `${root}test/external/teams/queues`
const suite = 'test/external/teams/known-queues.test.ts'
const needsQueues = givenArguments.length === 0 || givenArguments.some((filter) => suite.includes(filter))
if (needsQueues && !existsSync(`${queues}/node_modules`))
  spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: queues, stdio: 'inherit' })

/** @type {string[]} */
const failed = []
const { present, missing } = serversOf(versions)
for (const { name, env } of present) {
  console.log(`\nPostgreSQL ${name}`)
  const args = ['vitest', 'run', '--config', 'test/external/teams/vitest.config.ts', ...givenArguments]
  if (spawnSync('npx', args, { cwd: root, stdio: 'inherit', env }).status !== 0) failed.push(name)
}
for (const name of missing) console.log(`skipped: test/external/teams on PostgreSQL ${name}: not installed`)
if (failed.length > 0) console.log(`failed on PostgreSQL ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0
