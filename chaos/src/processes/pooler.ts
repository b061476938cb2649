// PgBouncer in transaction mode between the workers' proxies and the server. Killed and restarted on the same port.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const START_LIMIT_MS = 30_000
/** Fewer than clients, so that they share connections. */
const SERVER_CONNECTIONS = 20
// Debian installs it to a folder outside a user's PATH.
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

/** Null if it is not installed. */
export function poolerVersion(): string | null {
  try {
    return (
      /\d+\.\d+(\.\d+)?/.exec(execFileSync('pgbouncer', ['--version'], { env, encoding: 'utf8' }))?.[0] ??
      null
    )
  } catch {
    return null
  }
}

export class Pooler {
  #file
  #port
  #isClosing = false
  #child: ChildProcess | undefined

  constructor(file: string, port: number) {
    this.#file = file
    this.#port = port
  }

  static async start(folder: string, databaseUrl: string) {
    const own = join(folder, 'pooler')
    mkdirSync(own)
    chmodSync(own, 0o755)
    const port = await freePort()
    const file = join(own, 'pgbouncer.ini')
    writeFileSync(file, settings(new URL(databaseUrl), port))
    const pooler = new Pooler(file, port)
    await pooler.run()
    return pooler
  }

  urlOf(databaseUrl: string) {
    const url = new URL(databaseUrl)
    url.port = String(this.#port)
    return url.href
  }

  async run() {
    if (this.#isClosing) return
    // Refuses to run as root, and writes no files.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const child = spawn('pgbouncer', [this.#file], { env, stdio: ['ignore', 'ignore', 'pipe'], ...user })
    this.#child = child
    const isUp = new Promise((resolve) => {
      createInterface({ input: child.stderr }).on('line', (line) => {
        if (line.includes('process up')) resolve(undefined)
      })
    })
    await Promise.race([
      isUp,
      once(child, 'exit').then(() => Promise.reject(new Error('PgBouncer did not start'))),
      sleep(START_LIMIT_MS, undefined, { ref: false }),
    ])
  }

  async kill() {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  close() {
    this.#isClosing = true
    this.#child?.kill('SIGKILL')
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function settings({ hostname, port, username, password }: URL, listenPort: number) {
  const target = Object.entries({ host: hostname, port, user: username, password })
    .map(([name, value]) => `${name}='${decodeURIComponent(value).replaceAll("'", "''")}'`)
    .join(' ')
  return [
    '[databases]',
    `* = ${target}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    // Every client becomes the user above: the port is local to this run.
    'auth_type = any',
    'max_client_conn = 500',
    `default_pool_size = ${SERVER_CONNECTIONS}`,
    // The default would refuse clients for 15 s after an outage.
    'server_login_retry = 1',
    // Sessions end while their clients live (LEASE-10).
    'server_idle_timeout = 2',
    '',
  ].join('\n')
}
