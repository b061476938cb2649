// @ts-check
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const source = fileURLToPath(new URL('.', import.meta.url))
/** The second is where Go's own archive goes. */
const PLACES = ['go', '/usr/local/go/bin/go']
/** The first build compiles everything, for half a minute; later ones take a second from Go's cache. */
const BUILD_MS = 300_000
const CALL_MS = 60_000

/** @returns {Promise<{ program: string, goVersion: string }>} rejects if Go or a module is missing */
export async function buildRiver() {
  const go = await findGo()
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-bench-river-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'river')
  await call(
    go.path,
    ['build', '-mod=readonly', '-trimpath', '-o', program, '.'],
    BUILD_MS,
    'it cannot be built',
  )
  return { program, goVersion: go.version }
}

/**
 * @param {string} program
 * @param {string[]} args
 */
export async function runRiver(program, args) {
  await call(program, args, CALL_MS, args[0] ?? '')
}

async function findGo() {
  for (const path of PLACES) {
    try {
      const { stdout } = await run(path, ['env', 'GOVERSION'], { cwd: source, timeout: CALL_MS })
      return { path, version: stdout.trim().replace(/^go/, '') }
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    }
  }
  throw new Error('go is not installed')
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {number} timeout
 * @param {string} what
 */
async function call(program, args, timeout, what) {
  const running = run(program, args, { cwd: source, timeout, killSignal: 'SIGKILL' })
  const end = () => running.child.kill('SIGKILL')
  process.once('exit', end)
  try {
    await running
  } catch (error) {
    const { stderr = '', killed = false } = /** @type {{ stderr?: string, killed?: boolean }} */ (error)
    const why = killed ? `not done in ${timeout / 1_000} s` : stderr.trim().split('\n').at(-1)
    throw new Error(`${what}: ${why === undefined || why === '' ? String(error) : why}`, { cause: error })
  } finally {
    process.off('exit', end)
  }
}
