// @ts-check
// Runs test/external/clients: transactions of pg, postgres.js, Drizzle, Kysely, Knex, TypeORM and Prisma, which are installed from
// npm on first use. A client that cannot be installed is skipped by name. `--quick` runs pg, postgres.js and Kysely.
import { spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isSmoke, smokeEnvironment, vitestArguments } from './smoke.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = `${root}test/external/clients`

install(home)
// Blocks of the guide import unstuck by its name.
if (existsSync(`${home}/node_modules`) && !existsSync(`${home}/node_modules/unstuck`))
  symlinkSync(root, `${home}/node_modules/unstuck`, 'dir')
if (!isSmoke) generatePrisma(`${home}/prisma`)

const args = vitestArguments('test/external/clients/vitest.config.ts', [])
const env = { ...process.env, ...smokeEnvironment }
process.exitCode = spawnSync('npx', args, { cwd: root, stdio: 'inherit', env }).status ?? 1

/** @param {string} cwd */
function install(cwd) {
  if (!existsSync(`${cwd}/node_modules`))
    spawnSync('npm', ['ci', '--ignore-scripts'], { cwd, stdio: 'inherit' })
}

/** @param {string} cwd */
function generatePrisma(cwd) {
  install(cwd)
  if (
    !existsSync(`${cwd}/node_modules/prisma`) ||
    existsSync(`${cwd}/node_modules/.prisma/client/schema.prisma`)
  )
    return
  // Only migrations use the schema engine, which Prisma would download.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  spawnSync('npx', ['prisma', 'generate'], { cwd, stdio: 'inherit', env })
}
