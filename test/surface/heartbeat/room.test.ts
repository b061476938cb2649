// How much of a lease is left when the network between a worker and the database is bad, with the times that users have:
// a lease of minutes cannot be scaled down, because the limits of a heartbeat call are seconds. The fault begins just before
// a heartbeat, which is the worst moment. Each test prints the least time that was left.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'
import { nativePolicy, presetPolicies } from '../../../src/policy/policy.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { startWorkerProcess } from '../worker-process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createInstalledDatabase()
})
afterAll(() => database.drop())

const policies = { native: nativePolicy, ...presetPolicies }

type Fault = (proxy: TcpProxy) => Promise<void> | void

const slow: Fault = (proxy) => proxy.delay(1_000)
/** Connections that were open or opened meanwhile stay silent. */
const silent = (ms: number): Fault =>
  async function silence(proxy) {
    proxy.blackhole()
    await sleep(ms)
    proxy.delay(0)
  }
/** They are reset when the network is back. */
const cut = (ms: number): Fault =>
  async function cutOff(proxy) {
    proxy.blackhole()
    await sleep(ms)
    proxy.heal()
  }

interface Look {
  fence: number
  status: string
  /** Since the last heartbeat. */
  silentMs: number
  leftMs: number
}

async function look(jobId: string): Promise<Look> {
  const { rows } = await database.pool.query<Look>(
    `select fence::int, status, extract(epoch from clock_timestamp() - heartbeat_at)::float8 * 1000 as "silentMs",
            extract(epoch from lease_expires_at - clock_timestamp())::float8 * 1000 as "leftMs"
       from unstuck.jobs where id = $1`,
    [jobId],
  )
  if (rows[0] === undefined) throw new Error(`there is no job ${jobId}`)
  return rows[0]
}

/** Returns when the next heartbeat is about to come. */
async function untilNextBeat(jobId: string, heartbeatMs: number): Promise<void> {
  for (let before = 0; ; ) {
    const { silentMs } = await look(jobId)
    if (silentMs < before) return sleep(heartbeatMs - 400 - silentMs)
    before = silentMs
    await sleep(50)
  }
}

it.concurrent.each<{ name: string; preset: keyof typeof policies; fault: Fault }>([
  { name: 'each way takes a second', preset: 'native', fault: slow },
  { name: 'a connection falls silent', preset: 'native', fault: silent(2_000) },
  { name: 'all connections fall silent for 30 s', preset: 'native', fault: silent(30_000) },
  { name: 'it is cut off for 30 s', preset: 'native', fault: cut(30_000) },
  { name: 'each way takes a second', preset: 'brisk', fault: slow },
  { name: 'a connection falls silent', preset: 'brisk', fault: silent(2_000) },
  { name: 'it is cut off for 9 s', preset: 'brisk', fault: cut(9_000) },
])(
  'LEASE-4 with the times of $preset a worker keeps its job while $name',
  async ({ name, preset, fault }) => {
    const times = policies[preset]
    const address = new URL(database.url)
    const proxy = new TcpProxy(Number(address.port))
    address.port = String(await proxy.listen())
    const env = preset === 'native' ? {} : { UNSTUCK_PRESET: preset }
    const worker = startWorkerProcess(address.href, { concurrency: 1 }, { env })
    try {
      await database.pool.query(
        `select unstuck.enqueue_jobs('[{"type": "slow", "payload": {"ms": 600000}}]')`,
      )
      // Not the first fence if another worker claimed the job ahead and released it.
      const { jobId = '', fence: ours } = await worker.until(({ kind }) => kind === 'started')
      await untilNextBeat(jobId, times.heartbeatMs)
      const isOver = fault(proxy)
      let leastMs = Number.POSITIVE_INFINITY
      const endsAtMs = performance.now() + 1.2 * times.defaultLeaseMs
      while (performance.now() < endsAtMs) {
        const { fence, status, leftMs } = await look(jobId)
        expect({ fence, status }).toEqual({ fence: ours, status: 'running' })
        leastMs = Math.min(leastMs, leftMs)
        await sleep(100)
      }
      await isOver
      console.log(`${preset}, ${name}: ${(leastMs / 1_000).toFixed(1)} s left`)
      expect(leastMs).toBeGreaterThan(0)
    } finally {
      worker.child.kill('SIGKILL')
      proxy.close()
    }
  },
  240_000,
)
