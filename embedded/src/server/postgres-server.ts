import { rm } from 'node:fs/promises'
import { type Binaries, executable } from '../binaries/binaries.ts'
import { passwordFile } from '../data/data-dir.ts'
import { readLockHolder } from '../data/lock-holder.ts'
import type { DataDirPlace } from '../data/place-data-dir.ts'
import { errnoOf } from '../embedded-postgres-error.ts'
import { runProgram } from './run-program.ts'
import type { ServerProcess } from './server-process.ts'

export type StopOptions = {
  /** `fast` (default) ends sessions and writes everything out; `immediate` leaves the work to crash recovery. */
  mode?: 'fast' | 'immediate' | undefined
  /** After this time a fast stop becomes an immediate one. Default 30 seconds. */
  timeoutMs?: number | undefined
}

export type PostgresServer = {
  /** Connects as the superuser `postgres` to the database `postgres`; holds the password. */
  readonly url: string
  readonly port: number
  readonly pid: number
  /** As root this may be another folder than the wanted one: see the README. */
  readonly dataDir: string
  readonly version: string
  /** Settles when the server has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Can be called again, and after the server has ended. */
  readonly stop: (options?: StopOptions) => Promise<void>
  /** A crash: SIGKILL to the server. The data stays; stop() then removes it if it is temporary. */
  readonly kill: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

const STOP_TIMEOUT_MS = 30_000

export function createPostgresServer(parts: {
  binaries: Binaries
  place: DataDirPlace
  password: string
  port: number
  server: ServerProcess
}): PostgresServer {
  const { binaries, place, password, port, server } = parts

  async function stop(options: StopOptions = {}): Promise<void> {
    const { mode = 'fast', timeoutMs = STOP_TIMEOUT_MS } = options
    await requestStop(mode)
    const escalation = setTimeout(() => void requestStop('immediate'), timeoutMs)
    await server.ended
    clearTimeout(escalation)
    await removeData(place)
  }

  async function requestStop(mode: 'fast' | 'immediate'): Promise<void> {
    if (process.platform === 'win32') {
      const args = ['stop', '-D', place.path, '-m', mode, '-W']
      await runProgram(executable(binaries.folder, 'pg_ctl'), args, {
        cwd: binaries.folder,
        runAs: undefined,
      })
    } else {
      signalServer(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    }
  }

  function signalServer(signal: NodeJS.Signals): void {
    if (server.hasEnded()) return
    try {
      process.kill(server.pid, signal)
    } catch (error) {
      // It ended just now, and the shell above it, which tells us, is about to.
      if (errnoOf(error) !== 'ESRCH') throw error
    }
  }

  async function kill(): Promise<void> {
    signalServer('SIGKILL')
    await server.ended
  }

  return {
    url: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: server.pid,
    dataDir: place.path,
    version: binaries.version,
    ended: server.ended,
    stop,
    kill,
    [Symbol.asyncDispose]: () => stop(),
  }
}

/** Does nothing to data that is kept, nor to data on which another server was started in the meantime. */
export async function removeData(place: DataDirPlace): Promise<void> {
  if (place.removeAtStop === undefined) return
  const holder = await readLockHolder(place.path)
  if (holder !== undefined && holder.state !== 'stale') return
  await rm(passwordFile(place.path), { force: true })
  await rm(place.removeAtStop, { recursive: true, force: true })
}
