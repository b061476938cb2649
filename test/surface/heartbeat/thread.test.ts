// Faults that could stop the heartbeat thread: a main thread that stops in the middle of a hand-over or before one, a
// connection that is silent.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts'

const LEASE_MS = 3_000
/** Each way: an answer takes longer than a third of a lease, and a new connection longer than a lease. */
const SLOW_MS = 600

describe('the heartbeat thread', () => {
  let database: TestDatabase
  let harness: WorkerHarness
  let workers: WorkerProcess[] = []

  beforeAll(async () => {
    database = await createInstalledDatabase()
    harness = await openWorkerHarness(database.url)
  })
  afterAll(async () => {
    await harness?.close()
    await database?.drop()
  })
  beforeEach(async () => {
    await harness.reset()
    const policy = await harness.store.readPolicy()
    await harness.store.writePolicy({ ...policy, defaultLeaseMs: LEASE_MS, heartbeatMs: LEASE_MS / 4 })
  })
  afterEach(async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    workers = []
    await harness.endWorkers()
  })

  function start(...args: Parameters<typeof startWorkerProcess>): WorkerProcess {
    const worker = startWorkerProcess(...args)
    workers.push(worker)
    return worker
  }

  it('LEASE-9 a loop that is blocked while its job goes over to a transaction does not lose the lease', async () => {
    const { enqueue, work, store } = harness
    const worker = start(database.url, { blockMs: 3 * LEASE_MS }, { app: 'blocked-app' })
    await worker.until(({ kind }) => kind === 'ready')
    // It sweeps, as the blocked one cannot.
    await work().until(({ kind }) => kind === 'ready')
    const [jobId = ''] = await enqueue('blocked-tx')
    await worker.until(({ kind }) => kind === 'ended')
    expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded', fence: 1, crashes: 0 })
  }, 120_000)

  it('LEASE-9 a job whose claim was answered into a blocked loop is beaten for as soon as it is read', async () => {
    const { enqueue, work, store } = harness
    const times = { defaultLeaseMs: 6_000, heartbeatMs: 2_900 }
    await store.writePolicy({ ...(await store.readPolicy()), ...times })
    const worker = start(database.url, { heartbeatMs: times.heartbeatMs }, { app: 'blocked-app' })
    await worker.until(({ kind }) => kind === 'ready')
    await work().until(({ kind }) => kind === 'ready')
    const [jobId = ''] = await enqueue('late', { ms: 4_000 })
    await worker.until(({ kind }) => kind === 'ended')
    expect(await store.getJob(jobId)).toMatchObject({ status: 'succeeded', fence: 1, crashes: 0 })
  }, 120_000)

  it.each<[string, (proxy: TcpProxy) => void]>([
    ['that hangs on a silent connection is sent again on another one', (proxy) => proxy.halfOpen()],
    ['over a slow network is waited for', (proxy) => proxy.delay(SLOW_MS)],
  ])(
    'LEASE-4 a beat %s, and the lease is kept',
    async (_, harm) => {
      const { enqueue, work, store, untilJob } = harness
      const address = new URL(database.url)
      const proxy = new TcpProxy(Number(address.port))
      address.port = String(await proxy.listen())
      try {
        const worker = start(address.href)
        await worker.until(({ kind }) => kind === 'ready')
        const [jobId = ''] = await enqueue('slow', { ms: 60_000 })
        await worker.until(({ kind }) => kind === 'started')
        await untilJob(jobId, ({ heartbeatAt, startedAt }) => Number(heartbeatAt) > Number(startedAt))
        await work().until(({ kind }) => kind === 'ready')
        harm(proxy)
        const from = Date.now()
        await untilJob(jobId, (job) => job.fence > 1 || Number(job.heartbeatAt) > from + 2 * LEASE_MS)
        expect(await store.getJob(jobId)).toMatchObject({ status: 'running', fence: 1, crashes: 0 })
      } finally {
        proxy.close()
      }
    },
    60_000,
  )
})
