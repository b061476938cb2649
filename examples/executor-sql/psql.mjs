// Runs SQL files through psql, as a person or a deploy script would.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const options = ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1']

/** @param {string} name */
export const hasProgram = (name) => spawnSync(name, ['--version']).status === 0

/**
 * Returns its output. Throws the error of PostgreSQL.
 * @param {string} file
 * @param {{ variables?: Record<string, string | number>, isBare?: boolean }} [how]
 */
export function runFile(file, { variables = {}, isBare = false } = {}) {
  const sets = Object.entries(variables).map(([name, value]) => `--set=${name}=${value}`)
  const args = [
    ...options,
    ...(isBare ? ['--tuples-only', '--no-align'] : []),
    ...sets,
    '--file',
    pathOf(file),
  ]
  const { status, stdout, stderr } = spawnSync('psql', args, { encoding: 'utf8', env: environment() })
  if (status !== 0) throw new Error(stderr.trim())
  return stdout.trim()
}

/**
 * Runs until it is stopped.
 * @param {string} file
 * @returns {() => void}
 */
export function keepRunning(file) {
  const child = spawn('psql', [...options, '--file', pathOf(file)], {
    env: environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return () => child.kill()
}

/** @param {string} file */
const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url))

/** The password goes through the environment: arguments can be read by everybody on the machine. */
function environment() {
  const { hostname, port, username, password, pathname } = new URL(process.env['DATABASE_URL'] ?? '')
  return {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  }
}
