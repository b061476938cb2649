// Real worker processes that end in every way, with leases far too long to notice it by (LEASE-10).
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createInstalledDatabase } from '../support/installed-database.ts'
import type { TestDatabase } from '../support/test-database.ts'
import { openWorkerHarness, type WorkerHarness } from './worker-harness.ts'

let database: TestDatabase
let harness: WorkerHarness

beforeAll(async () => {
  database = await createInstalledDatabase()
  harness = await openWorkerHarness(database.url)
})
beforeEach(async () => {
  await harness.reset()
  await harness.pool.query('delete from unstuck.workers')
  // No lease, heartbeat or sweep can rescue a job within this test.
  await harness.store.writePolicy({ defaultLeaseMs: 600_000, heartbeatMs: 60_000, sweepIntervalMs: 60_000 })
})
afterEach(() => harness.endWorkers())
afterAll(async () => {
  await harness?.close()
  await database?.drop()
})

const causes = async () =>
  (
    await harness.pool.query<{ cause: string }>(
      "select data #>> '{details,cause}' as cause from unstuck.events where type like 'reaper:%'",
    )
  ).rows

it('LEASE-10 the job of a killed worker runs again in seconds, long before its lease ends', async () => {
  const doomed = harness.work({ concurrency: 1 })
  await doomed.until(({ kind }) => kind === 'ready')
  const [jobId = ''] = await harness.enqueue('slow', { ms: 60_000 })
  await doomed.until(({ kind }) => kind === 'started')
  const other = harness.work()
  await other.until(({ kind }) => kind === 'ready')

  const killedAtMs = performance.now()
  doomed.child.kill('SIGKILL')
  await other.until(({ kind, jobId: started }) => kind === 'started' && started === jobId)
  console.log('rescued after', Math.round(performance.now() - killedAtMs))

  expect(await causes()).toEqual([{ cause: 'worker-gone' }])
})
