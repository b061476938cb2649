// The network to the database drops every packet: nothing is refused, nothing is answered.
import { afterAll, beforeAll, describe, it } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

const GRACE_MS = 500
/** 15 s beyond the grace, and as much again for a busy machine. Without a limit it is over a minute. */
const PATIENCE_MS = GRACE_MS + 30_000

let database: TestDatabase
const proxies: TcpProxy[] = []

beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  await database.drop()
})

async function open(): Promise<{ app: Unstuck; proxy: TcpProxy }> {
  const url = new URL(database.url)
  const proxy = new TcpProxy(Number(url.port))
  proxies.push(proxy)
  url.port = String(await proxy.listen())
  return { app: unstuck({ databaseUrl: url.href, graceMs: GRACE_MS, pollMs: [50, 100] }), proxy }
}

describe.concurrent('a database that has fallen silent', () => {
  it('WORK-4 an idle worker stops within its limit, although its claim is never answered', async ({
    expect,
  }) => {
    const { app, proxy } = await open()
    await app.handle('idle', async () => {}).start()
    proxy.blackhole()
    // Longer than the pause between two claims.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const startedAtMs = performance.now()
    await app.stop()
    expect(performance.now() - startedAtMs).toBeLessThan(PATIENCE_MS)
  }, 120_000)

  it('WORK-4 a worker stops within its limit, although no result of its jobs can be written', async ({
    expect,
  }) => {
    const { app, proxy } = await open()
    const started = new Promise<void>((resolve) => {
      let running = 0
      app.on('job:started', () => {
        if (++running === 2) resolve()
      })
    })
    // One ends with the grace period and one before.
    const done = new AbortController()
    app.handle('busy', async ({ payload }, { signal }) => {
      const end = payload === 'long' ? signal : done.signal
      await new Promise((resolve) => end.addEventListener('abort', resolve))
    })
    await app.start()
    await app.enqueueMany([
      { type: 'busy', payload: 'long' },
      { type: 'busy', payload: 'short' },
    ])
    await started
    proxy.blackhole()
    done.abort()
    const startedAtMs = performance.now()
    await app.stop()
    expect(performance.now() - startedAtMs).toBeLessThan(PATIENCE_MS)
  }, 120_000)
})
