import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RedisServer {
  url: string
  pid: number
  version: string
  flush(): void
  stop(): Promise<void>
}

/** Null if Redis is not installed. `no` is its default: a crash loses the writes since the last snapshot. */
export async function startRedis(appendFsync: 'no' | 'always'): Promise<RedisServer | null> {
  const found = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  if (found.error !== undefined) return null
  const port = await freePort()
  const home = mkdtempSync(join(tmpdir(), 'unstuck-bench-redis-'))
  const persistence = appendFsync === 'always' ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, ...persistence]
  const server = spawn('redis-server', args, { stdio: 'ignore' })
  const end = () => {
    server.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
  process.once('exit', end)
  const cli = (...words: string[]) =>
    spawnSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).stdout.trim()
  while (cli('ping') !== 'PONG') {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid ?? 0,
    version: /v=(\S+)/.exec(found.stdout)?.[1] ?? '',
    flush: () => void cli('flushall'),
    async stop() {
      server.kill('SIGKILL')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      process.off('exit', end)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
