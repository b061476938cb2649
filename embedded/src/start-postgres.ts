import { setTimeout as delay } from 'node:timers/promises'
import { type Binaries, prepareBinaries } from './binaries/binaries.ts'
import { openDataDir } from './data/data-dir.ts'
import { POLL_MS, STALE_WAIT_MS, untilUnlocked } from './data/lock-holder.ts'
import { type DataDirPlace, placeDataDir } from './data/place-data-dir.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { freePort } from './server/free-port.ts'
import { createPostgresServer, type PostgresServer, removeData } from './server/postgres-server.ts'
import { canEnter, isRoot, nobody } from './server/run-as.ts'
import type { RunAs } from './server/run-program.ts'
import { type LaunchFailure, launchServer, type ServerProcess } from './server/server-process.ts'

export type StartPostgresOptions = {
  /** Default: `.unstuck/postgres-<major version>` in the current folder. */
  dataDir?: string | undefined
  /** Default true. When false the data is removed at stop, and the default data directory is a new temporary one. */
  persistent?: boolean | undefined
  /** Default: a free one. */
  port?: number | undefined
  /** Server settings, for example `{ max_connections: '200' }`. */
  settings?: Record<string, string> | undefined
  /** A folder with `bin`, `lib` and `share` of another PostgreSQL (14 or newer). */
  binaries?: string | undefined
  /** Gives up starting; has no effect on a started server. */
  signal?: AbortSignal | undefined
  /** Every line of the server's log, from before it is ready until it has stopped. */
  onLog?: ((line: string) => void) | undefined
}

const MAX_PORT_CHOICES = 20

const OWN_SETTINGS = new Set([
  'data_directory',
  'listen_addresses',
  'log_destination',
  'logging_collector',
  'port',
  'unix_socket_directories',
])

/** Starts a PostgreSQL server that stops with this process, however this process ends. */
export async function startPostgres(options: StartPostgresOptions = {}): Promise<PostgresServer> {
  const { signal } = options
  assertOptions(options)
  signal?.throwIfAborted()
  const binaries = await prepareBinaries(options.binaries, await serverUser())
  const place = await placeDataDir(options, binaries.major)
  try {
    const password = await openDataDir(place, binaries, signal)
    const { port, server } = await launch(options, binaries, place)
    return createPostgresServer({ binaries, place, password, port, server })
  } catch (error) {
    await removeData(place)
    signal?.throwIfAborted()
    throw error
  }
}

async function launch(
  options: StartPostgresOptions,
  binaries: Binaries,
  place: DataDirPlace,
): Promise<{ port: number; server: ServerProcess }> {
  const { settings = {}, signal, onLog } = options
  const fixedPort = options.port === 0 ? undefined : options.port
  const since = performance.now()
  for (let portChoices = 1; ; ) {
    const disregardPid = await untilUnlocked(place.path, signal)
    const port = fixedPort ?? (await freePort())
    const outcome = await launchServer({ binaries, place, port, settings, disregardPid, signal, onLog })
    if ('pid' in outcome) return { port, server: outcome }
    if (outcome.reason === 'port-taken' && fixedPort === undefined && portChoices < MAX_PORT_CHOICES) {
      portChoices += 1
      continue
    }
    // Both end by themselves: the lock with its holder, the memory with the last backend of a killed server.
    const isPassing = outcome.reason === 'locked' || outcome.reason === 'memory-in-use'
    if (!isPassing || performance.now() - since > STALE_WAIT_MS) throw launchError(outcome, place, port)
    await delay(POLL_MS, undefined, signal === undefined ? {} : { signal })
  }
}

function launchError(
  { reason, log }: LaunchFailure,
  place: DataDirPlace,
  port: number,
): EmbeddedPostgresError {
  if (reason === 'port-taken') {
    const message = `Port ${port} of 127.0.0.1 is taken by another program. Stop that program, or leave port out to get a free one.`
    return new EmbeddedPostgresError('PORT_TAKEN', message)
  }
  const cause =
    reason === 'memory-in-use'
      ? `Processes of a killed server are still at work on ${place.path}. Try again when they have ended.`
      : `PostgreSQL did not start on ${place.path}.`
  return new EmbeddedPostgresError('START_FAILED', `${cause} It said:\n${log}`)
}

async function serverUser(): Promise<RunAs | undefined> {
  if (!isRoot()) return undefined
  const user = await nobody()
  if (await canEnter('/', user)) return user
  const message = `PostgreSQL refuses to run as root, and this process may not become user nobody (${user.uid}). Run as another user.`
  throw new EmbeddedPostgresError('NO_ACCESS', message)
}

function assertOptions({ port, settings = {} }: StartPostgresOptions): void {
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new EmbeddedPostgresError('BAD_OPTION', `port must be a whole number from 0 to 65535, not ${port}.`)
  }
  for (const [name, value] of Object.entries(settings)) {
    const key = name.toLowerCase().replaceAll('-', '_')
    if (!/^[a-z_][\w.]*$/.test(key)) {
      throw new EmbeddedPostgresError('BAD_OPTION', `"${name}" is not the name of a setting.`)
    }
    const hidesReadiness = key === 'log_min_messages' && /^\s*(fatal|panic)\s*$/i.test(value)
    if (OWN_SETTINGS.has(key) || hidesReadiness) {
      throw new EmbeddedPostgresError('BAD_OPTION', `The setting ${name}=${value} would break the launcher.`)
    }
  }
}
