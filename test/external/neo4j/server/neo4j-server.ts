// A real Neo4j as a plain Java process on loopback, with a home folder of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import neo4j from 'neo4j-driver'

const PASSWORD = 'unstuck-tests'
const START_LIMIT_MS = 240_000
// Modules that the server's own start script opens.
const opens = ['java.nio', 'java.io', 'sun.nio.ch', 'java.lang'].map(
  (name) => `--add-opens=java.base/${name}=ALL-UNNAMED`,
)

export interface Neo4jServer {
  url: string
  pid: number
  stop(): Promise<void>
}

export interface ServerOptions {
  /** The folder that Maven filled. */
  jars: string
  hasApoc?: boolean
  /** Default: 512, which is enough for tests. */
  heapMb?: number
  /** Default: 64. */
  pageCacheMb?: number
  /** Whether Java optimizes what runs often. Tests end before that pays off: without it they take a third less CPU time. */
  isOptimized?: boolean
}

export async function startNeo4j(options: ServerOptions): Promise<Neo4jServer> {
  const { jars, hasApoc = true, heapMb = 512, pageCacheMb = 64, isOptimized = false } = options
  const home = await mkdtemp(join(tmpdir(), 'unstuck-neo4j-'))
  const port = await freePort()
  await mkdir(join(home, 'conf'))
  await mkdir(join(home, 'plugins'))
  await writeFile(join(home, 'conf', 'neo4j.conf'), settings(port, pageCacheMb))
  const plugins = (await readdir(jars)).filter((name) => name.startsWith('apoc-'))
  if (hasApoc) for (const name of plugins) await copyFile(join(jars, name), join(home, 'plugins', name))
  const address = `bolt://127.0.0.1:${port}`
  let isStopping = false
  const thrifty = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
  const flags = ['-Xms256m', `-Xmx${heapMb}m`, ...(isOptimized ? [] : thrifty)]
  const start = () => launch(home, jars, flags)
  let server = start()
  // It comes back by itself, on the same data and address, whoever ended it.
  const supervise = () =>
    server.once('exit', () => {
      if (isStopping) return
      server = start()
      supervise()
    })
  try {
    await untilReady(server, address, home)
  } catch (error) {
    server.kill('SIGKILL')
    throw error
  }
  supervise()
  return {
    url: `bolt://neo4j:${PASSWORD}@127.0.0.1:${port}`,
    pid: server.pid ?? 0,
    async stop() {
      isStopping = true
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      await rm(home, { recursive: true, force: true })
    },
  }
}

function settings(port: number, pageCacheMb: number): string {
  return [
    'server.default_listen_address=127.0.0.1',
    `server.bolt.listen_address=127.0.0.1:${port}`,
    `server.bolt.advertised_address=127.0.0.1:${port}`,
    'server.http.enabled=false',
    'dbms.usage_report.enabled=false',
    'dbms.security.procedures.allowlist=apoc.periodic.*,apoc.create.*',
    `server.memory.pagecache.size=${pageCacheMb}m`,
    'db.tx_log.preallocate=false',
    '',
  ].join('\n')
}

function launch(home: string, jars: string, flags: string[]): ChildProcess {
  const main = [
    'org.neo4j.server.CommunityEntryPoint',
    `--home-dir=${home}`,
    `--config-dir=${join(home, 'conf')}`,
  ]
  return spawn('java', [...flags, ...opens, '-Dfile.encoding=UTF-8', '-cp', join(jars, '*'), ...main], {
    stdio: 'ignore',
  })
}

/** The first password has to be changed before anything else is allowed. */
async function untilReady(server: ChildProcess, address: string, home: string): Promise<void> {
  const until = performance.now() + START_LIMIT_MS
  for (;;) {
    if (server.exitCode !== null || performance.now() > until)
      throw new Error(`Neo4j did not start:\n${await readFile(join(home, 'logs', 'neo4j.log'), 'utf8')}`)
    if (await isReady(address)) return
    await wait(500)
  }
}

async function isReady(address: string): Promise<boolean> {
  for (const password of ['neo4j', PASSWORD]) {
    const driver = neo4j.driver(address, neo4j.auth.basic('neo4j', password))
    try {
      if (password === PASSWORD) {
        await driver.executeQuery('RETURN 1')
        return true
      }
      await driver.executeQuery(
        'ALTER CURRENT USER SET PASSWORD FROM $old TO $new',
        { old: password, new: PASSWORD },
        { database: 'system' },
      )
    } catch {
      // Not up yet, or the password was changed before.
    } finally {
      await driver.close()
    }
  }
  return false
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}
