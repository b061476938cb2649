// @ts-check
// Runs a program in its own process group, so that an interruption ends all its children too.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time for a program to clean up after SIGTERM. */
const GRACE_MS = 30_000

/**
 * Throws when it is interrupted.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, signal: AbortSignal, env?: NodeJS.ProcessEnv }} options
 */
export async function runInGroup(program, args, { cwd, signal, env = process.env }) {
  signal.throwIfAborted()
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ chunk) => {
    stderr += chunk
  })
  const end = () => void endGroup(child.pid)
  signal.addEventListener('abort', end, { once: true })
  const [code] = /** @type {[number | null]} */ (await once(child, 'close'))
  signal.removeEventListener('abort', end)
  if (signal.aborted) await endGroup(child.pid)
  signal.throwIfAborted()
  return { code, stdout, stderr }
}

/** @param {number | undefined} pid of its leader */
async function endGroup(pid) {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
  for (const from = performance.now(); performance.now() - from < GRACE_MS; await sleep(50)) {
    if (!signalGroup(pid, 0)) return
  }
  signalGroup(pid, 'SIGKILL')
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals | 0} signal
 * @returns {boolean} whether there is such a group
 */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
