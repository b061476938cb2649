// A Citus cluster for this test run: a coordinator and two workers, from the folder that UNSTUCK_CITUS names.
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../../embedded/src/server/free-port.ts'

export interface Cluster {
  url: string
  stop(): Promise<void>
}

const WORKERS = 2
const run = promisify(execFile)

export async function startCluster(scripts: string): Promise<Cluster> {
  const port = await freePorts(WORKERS + 1)
  const folder = mkdtempSync(join(tmpdir(), 'unstuck-citus-'))
  // Its servers run as another user.
  chmodSync(folder, 0o755)
  const stop = async () => {
    await run(join(scripts, 'stop.sh'), ['-d', folder])
    rmSync(folder, { recursive: true })
  }
  try {
    await run(
      join(scripts, 'start.sh'),
      ['-p', String(port), '-w', String(WORKERS), '-d', folder],
      // The tests are about the engine, not the disk.
      { env: { ...process.env, CITUS_EXTRA_CONF: 'fsync = off' } },
    )
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop }
}

/** The first of so many in a row. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = await freePort()
    const others = Array.from({ length: count - 1 }, (_, place) => first + 1 + place)
    if ((await Promise.all(others.map(isFree))).every(Boolean)) return first
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
