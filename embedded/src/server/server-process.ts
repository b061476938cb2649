import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Binaries, executable } from '../binaries/binaries.ts'
import { readLockHolder } from '../data/lock-holder.ts'
import type { DataDirPlace } from '../data/place-data-dir.ts'
import { spawnWatched } from './watchdog.ts'

export type ServerProcess = {
  pid: number
  /** From then on the process id may belong to another program. */
  hasEnded: () => boolean
  /** Settles when every process of the server is gone. */
  ended: Promise<void>
}

export type LaunchFailure = { reason: 'failed' | 'locked' | 'memory-in-use' | 'port-taken'; log: string }

export type LaunchRequest = {
  binaries: Binaries
  place: DataDirPlace
  port: number
  settings: Record<string, string>
  disregardPid: number | undefined
  signal: AbortSignal | undefined
  onLog: ((line: string) => void) | undefined
}

const KEPT_LINES = 50

/** How long left-over backends of a killed server may hold its log before we stop listening. */
const DRAIN_LIMIT_MS = 5_000

export async function launchServer(request: LaunchRequest): Promise<ServerProcess | LaunchFailure> {
  const { binaries, place, signal, onLog } = request
  const { child, release } = spawnWatched(
    [executable(binaries.folder, 'postgres'), ...serverArguments(request)],
    {
      cwd: binaries.folder,
      runAs: place.runAs,
      removeIfOrphaned: place.removeAtStop,
      disregardPid: request.disregardPid,
    },
  )
  let hasEnded = false
  child.once('exit', () => {
    hasEnded = true
  })
  const ended = allGone(child, release)
  const log: string[] = []
  const ready = new Promise<'ready'>((resolve) => {
    if (child.stderr === null) return
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      if (log.length > KEPT_LINES) log.shift()
      onLog?.(line)
      if (line.includes('database system is ready to accept')) resolve('ready')
    })
  })
  signal?.addEventListener('abort', release, { once: true })
  try {
    if (signal?.aborted === true) release()
    const first = await Promise.race([ready, ended])
    signal?.throwIfAborted()
    if (first !== 'ready') return { reason: classify(log.join('\n')), log: log.join('\n') }
    const pid = (await readLockHolder(place.path))?.pid
    if (pid === undefined) throw new Error(`The server on ${place.path} is ready, but has no lock file.`)
    return { pid, ended, hasEnded: () => hasEnded }
  } catch (error) {
    release()
    await ended
    throw error
  } finally {
    signal?.removeEventListener('abort', release)
  }
}

function serverArguments({ place, port, settings }: LaunchRequest): string[] {
  const all = {
    ...settings,
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    // Readiness is read from the log, which a collector would take away.
    logging_collector: 'off',
    log_destination: 'stderr',
  }
  return ['-D', place.path, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** The log is inherited by every process of the server, so its end is the end of the last of them. */
function allGone(child: ChildProcess, release: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => {
      release()
      const limit = setTimeout(() => child.stderr?.destroy(), DRAIN_LIMIT_MS)
      child.once('close', () => {
        clearTimeout(limit)
        resolve()
      })
    })
  })
}

function classify(log: string): LaunchFailure['reason'] {
  if (/could not bind.*address already in use/is.test(log)) return 'port-taken'
  if (log.includes('lock file "postmaster.pid" already exists')) return 'locked'
  if (log.includes('pre-existing shared memory block')) return 'memory-in-use'
  return 'failed'
}
