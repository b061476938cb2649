import { readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { EmbeddedPostgresError, errnoOf } from '../embedded-postgres-error.ts'

export type LockHolder = { pid: number; port: string | undefined; state: 'running' | 'stale' | 'stopping' }

/** A server whose parent was killed a moment ago needs this long to be told to stop. */
const RUNNING_GRACE_MS = 1_000
export const STALE_WAIT_MS = 20_000
export const POLL_MS = 50

/** Who holds postmaster.pid. `stale` is a process id that no longer is a server on this data directory. */
export async function readLockHolder(dataDir: string): Promise<LockHolder | undefined> {
  const lines = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10))
  if (!Number.isInteger(pid) || pid === 0) return undefined
  if (!(await isServerOn(pid, dataDir))) return { pid, port: lines[3], state: 'stale' }
  return { pid, port: lines[3], state: lines[7]?.trim() === 'stopping' ? 'stopping' : 'running' }
}

/**
 * Waits until no server runs on the data directory. Answers with the stale process id in its lock file, which
 * PostgreSQL would take for a live server when that process is a zombie or the id was given to another program.
 */
export async function untilUnlocked(
  dataDir: string,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const since = performance.now()
  for (;;) {
    const holder = await readLockHolder(dataDir)
    if (holder === undefined || holder.state === 'stale') return holder?.pid
    const limitMs = holder.state === 'stopping' ? STALE_WAIT_MS : RUNNING_GRACE_MS
    if (performance.now() - since > limitMs) throw alreadyRunning(dataDir, holder)
    await delay(POLL_MS, undefined, signal === undefined ? {} : { signal })
  }
}

function alreadyRunning(dataDir: string, { pid, port }: LockHolder): EmbeddedPostgresError {
  const message =
    `PostgreSQL is already running on ${dataDir} (pid ${pid}, port ${port ?? 'unknown'}). ` +
    `Use that one, stop it (kill -INT ${pid}), or set another dataDir.`
  return new EmbeddedPostgresError('ALREADY_RUNNING', message)
}

async function isServerOn(pid: number, dataDir: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM means another user's process, and a server runs as the owner of its data.
    return errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM'
  }
  if (process.platform !== 'linux') return true
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [, name, state] = /\((.*)\) (\S)/s.exec(stat) ?? []
  if (name !== 'postgres' || state === 'Z' || state === 'X') return false
  // The server's current folder is its data directory. Unreadable counts as ours: better to refuse than to share.
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  return folder === undefined || folder === (await realpath(dataDir))
}
