// A cancel reaches a running handler by a hint: heartbeats of this worker are ten minutes apart.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Unstuck, unstuck } from '../../../dist/index.js'
import { createInstalledDatabase } from '../../support/installed-database.ts'
import type { TestDatabase } from '../../support/test-database.ts'

let database: TestDatabase
let app: Unstuck

beforeAll(async () => {
  database = await createInstalledDatabase()
  app = unstuck({ databaseUrl: database.url, logger: false })
  await app.store.writePolicy({ heartbeatMs: 600_000, defaultLeaseMs: 3_600_000, stageLeasesMs: {} })
})
afterAll(async () => {
  await app.stop()
  await database.drop()
})

it('WORK-6 a cancel reaches a running handler without waiting for its next heartbeat', async () => {
  const started: string[] = []
  const aborts: unknown[] = []
  app.handle('render', async ({ jobId }, { signal }) => {
    started.push(jobId)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    aborts.push(signal.reason)
    throw signal.reason
  })
  const listening = new Promise((resolve) => app.on('listen:started', resolve))
  await app.start()
  await listening
  const { jobId } = await app.enqueue({ type: 'render' })
  await expect.poll(() => started).toEqual([jobId])

  await app.store.cancelJobs([jobId])

  await expect.poll(() => aborts).toMatchObject([{ abortCause: 'cancelled' }])
  await expect.poll(async () => (await app.store.getJob(jobId))?.status).toBe('cancelled')
})
