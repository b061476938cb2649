// @ts-check
// The PostgreSQL versions that tests run on: 14, 16 and 17 from npm, 15 if Debian's package is installed, 18 embedded.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const versions = fileURLToPath(new URL('../../test/external/pg-versions', import.meta.url))

/** @type {{ name: string, binaries: string | null }[]} */
const servers = [
  { name: '14', binaries: `${versions}/node_modules/pg14/native` },
  { name: '15', binaries: '/usr/lib/postgresql/15' },
  { name: '16', binaries: `${versions}/node_modules/pg16/native` },
  { name: '17', binaries: `${versions}/node_modules/pg17/native` },
  { name: '18', binaries: null },
]

export function installVersions() {
  const isLinux = process.platform === 'linux' && process.arch === 'x64'
  if (!isLinux || existsSync(`${versions}/node_modules/pg14`)) return
  spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: versions, stdio: 'inherit' })
}

/**
 * Splits the requested versions (default: all) into installed ones, with the environment that selects each, and missing ones.
 * @param {string[]} wanted
 */
export function serversOf(wanted) {
  const { DATABASE_URL: _, ...inherited } = process.env
  const chosen = servers.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  const isPresent = (/** @type {string | null} */ binaries) =>
    binaries === null || existsSync(`${binaries}/bin/postgres`)
  return {
    present: chosen
      .filter(({ binaries }) => isPresent(binaries))
      .map(({ name, binaries }) => ({
        name,
        env: binaries === null ? inherited : { ...inherited, UNSTUCK_TEST_BINARIES: binaries },
      })),
    missing: chosen.filter(({ binaries }) => !isPresent(binaries)).map(({ name }) => name),
  }
}
