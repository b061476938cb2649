// Leases that go over to a transaction, one after another, while a call of the heartbeat thread hangs on a silent connection.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'
import { nativeProfile } from '../../../src/profile/native.ts'
import { startThreadHeartbeat } from '../../../src/runtime/heartbeat/thread-heartbeat.ts'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from '../worker-harness.ts'

/** Shorter than the 10 s that a call on a silent connection is waited for. */
const LEASE_MS = 6_000
const ignored = () => {}

describe('the hand-over of leases', () => {
  let database: TestDatabase
  let harness: WorkerHarness

  beforeAll(async () => {
    database = await createInstalledDatabase()
    harness = await openWorkerHarness(database.url)
    await harness.reset()
    const policy = await harness.store.readPolicy()
    await harness.store.writePolicy({ ...policy, defaultLeaseMs: LEASE_MS, heartbeatMs: 500 })
  })
  afterAll(async () => {
    await harness?.close()
    await database?.drop()
  })

  /** Over a proxy, with two jobs of a lease of 6 s that it holds. */
  async function startHolding() {
    const address = new URL(database.url)
    const proxy = new TcpProxy(Number(address.port))
    address.port = String(await proxy.listen())
    const [table] = nativeProfile('unstuck').tables
    const heartbeat = startThreadHeartbeat({
      threadUrl: new URL('../../../dist/compose/heartbeat-thread.js', import.meta.url),
      workerData: { databaseUrl: address.href, schema: 'unstuck', table, policy: {}, intervalMs: 500 },
      events: { onBeat: ignored, onFailed: ignored, onRecovered: ignored, onLag: ignored },
    })
    await heartbeat.ready
    await harness.enqueue('never handled', {}, 2)
    const claimed = await harness.store.claimJobs({ workerId: 'w', queues: ['never handled'], limit: 2 })
    const [first, second] = claimed as [(typeof claimed)[0], (typeof claimed)[0]]
    for (const lease of claimed) heartbeat.hold(lease, { onAnswer: ignored })
    await harness.untilJob(
      first.jobId,
      ({ heartbeatAt, startedAt }) => Number(heartbeatAt) > Number(startedAt),
    )
    const stop = async () => {
      await heartbeat.stop()
      proxy.close()
    }
    return { heartbeat, proxy, first, second, stop }
  }

  it('LEASE-4 a lease is extended at once while the hand-over of another waits for a silent connection', async () => {
    const { store, untilJob } = harness
    const { heartbeat, proxy, first, second, stop } = await startHolding()
    try {
      // Reaps whatever is not renewed.
      await harness.work().until(({ kind }) => kind === 'ready')
      proxy.halfOpen()
      const silentFromMs = Date.now()
      const leavingFirst = heartbeat.handOver(first, 60_000)
      await untilJob(second.jobId, ({ heartbeatAt }) => Number(heartbeatAt) > silentFromMs)
      const lastBeats = await Promise.all([heartbeat.handOver(second, 60_000), leavingFirst])

      expect(lastBeats.map(({ answer }) => answer)).toEqual(['kept', 'kept'])
      expect(await store.getJob(second.jobId)).toMatchObject({ status: 'running', fence: 1, crashes: 0 })
    } finally {
      await stop()
    }
  }, 60_000)

  it('LEASE-4 a lease is extended for its own transaction, and not for as long as that of another stage or job', async () => {
    const { store } = harness
    const policy = await store.readPolicy()
    await store.writePolicy({ ...policy, stageLeasesMs: { build: 3_600_000 } })
    const { heartbeat, first, second, stop } = await startHolding()
    try {
      await Promise.all([heartbeat.handOver(first, 60_000), heartbeat.handOver(second, 600_000)])
      const jobs = await Promise.all([first, second].map(({ jobId }) => store.getJob(jobId)))
      const extendedMs = jobs.map((job) => Number(job?.leaseExpiresAt) - Number(job?.heartbeatAt))
      expect(extendedMs).toEqual([60_000, 600_000])
    } finally {
      await stop()
      await store.writePolicy(policy)
    }
  }, 60_000)
})
