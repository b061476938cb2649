// PgBouncer in front of a PostgreSQL, as a process of this test run.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../../embedded/src/server/free-port.ts'
import { isRoot, nobody } from '../../../embedded/src/server/run-as.ts'

export interface PgBouncerOptions {
  mode?: 'transaction' | 'session'
  /** Default: few, so that clients really share them. PgBouncer's own default is 20. */
  poolSize?: number
  /** Closes server connections that are unused for this long. */
  idleS?: number
}

export interface PgBouncer {
  port: number
  /** Contains its Unix socket. */
  folder: string
  stop(): Promise<void>
}

const START_WAIT_MS = 30_000

export async function startPgBouncer(
  databaseUrl: string,
  options: PgBouncerOptions = {},
): Promise<PgBouncer> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-pgbouncer-'))
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, settings(new URL(databaseUrl), port, folder, options))
  // Its user makes the socket there.
  chmodSync(folder, 0o777)
  // It refuses to run as root, and has nothing to write.
  const child = spawn('pgbouncer', [file], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot() ? await nobody() : {}),
  })
  const ended = once(child, 'exit')
  const log: string[] = []
  const isUp = new Promise<true>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      if (line.includes('process up')) resolve(true)
    })
  })
  const late = new Promise<false>((resolve) => setTimeout(resolve, START_WAIT_MS, false).unref())
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  }
  if (!(await Promise.race([isUp, late, ended.then(() => false)]))) {
    await stop()
    throw new Error(`PgBouncer did not start:\n${log.join('\n')}`)
  }
  return { port, folder, stop }
}

function settings(
  { hostname, port, username, password }: URL,
  listenPort: number,
  folder: string,
  { mode = 'transaction', poolSize = 5, idleS = 600 }: PgBouncerOptions,
): string {
  const server = { host: hostname, port, user: username, password }
  const target = Object.entries(server)
    .map(([name, value]) => `${name}='${decodeURIComponent(value).replaceAll("'", "''")}'`)
    .join(' ')
  return [
    '[databases]',
    `* = ${target}`,
    '[pgbouncer]',
    `pool_mode = ${mode}`,
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    `unix_socket_dir = ${folder}`,
    `server_idle_timeout = ${idleS}`,
    // Whoever asks is let in as the user above: nothing else reaches this port.
    'auth_type = any',
    'max_client_conn = 500',
    `default_pool_size = ${poolSize}`,
    ...(knowsPreparedStatements() ? ['max_prepared_statements = 0'] : []),
    '',
  ].join('\n')
}

/** From 1.21 on; older ones refuse the setting. Where they are known, the test must not depend on it. */
function knowsPreparedStatements(): boolean {
  const [, major = '0', minor = '0'] =
    /(\d+)\.(\d+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' })) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}
