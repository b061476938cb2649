// A short run of real workers: one is killed, one is stopped for longer than its lease, and the server
// is killed and comes back.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { JobStore } from '../../../src/store/job-store.ts'
import { installNeo4j } from '../../../src/store/neo4j/install.ts'
import { type Neo4jJobStore, openDriver, openNeo4jStore } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { clear } from './server/neo4j-harness.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const LIMIT_MS = 240_000

// Somebody else's server is not ended.
describe.skipIf(inject('neo4jPid') === null)('chaos on nodes', () => {
  let store: Neo4jJobStore
  const workers: ChildProcess[] = []

  beforeAll(async () => {
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await installNeo4j({ driver })
    await driver.close()
    store = await openNeo4jStore({ url: inject('neo4jUrl') })
    await store.writePolicy({
      defaultLeaseMs: 4_000,
      heartbeatMs: 1_000,
      sweepIntervalMs: 1_000,
      reapBackoffStepsMs: [0],
      maxCrashes: 20,
      events: 'all',
    })
  }, LIMIT_MS)

  afterAll(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await store?.close()
    const { driver } = openDriver(inject('neo4jUrl'))
    await clear(driver, 'EmbeddingJob')
    await driver.close()
  })

  function startWorker(): ChildProcess {
    const args = [
      'bin/unstuck.js',
      'worker',
      'test/external/neo4j/fixtures/chaos-handlers.mjs',
      '--concurrency',
      '4',
    ]
    const worker = spawn(process.execPath, [...args, '--store', inject('neo4jUrl')], {
      cwd: root,
      env: { ...process.env, EMBED_JOB_RETENTION_DAYS: '14' },
      stdio: 'ignore',
    })
    workers.push(worker)
    return worker
  }

  it(
    'C1 REAP-1 whatever happens to workers and server, every job is completed once and none stays processing',
    async () => {
      const jobs = await store.enqueueJobs(Array.from({ length: 40 }, () => ({ type: 'embed' })))
      const [killed, stopped] = [startWorker(), startWorker()]
      startWorker()
      await untilRunning(store, killed)
      killed.kill('SIGKILL')
      await once(killed, 'exit')
      await untilRunning(store, stopped)
      stopped.kill('SIGSTOP')
      await until(async () => (await store.listReclaims()).reclaims.length > 0)
      stopped.kill('SIGCONT')
      process.kill(inject('neo4jPid') ?? 0, 'SIGKILL')
      await until(async () => {
        const { waiting, running } = await store.readHealth()
        return waiting + running === 0
      })
      for (const { jobId } of jobs) {
        const events = await store.listEvents(jobId)
        expect(events.filter(({ type }) => type === 'complete')).toHaveLength(1)
        expect((await store.getJob(jobId))?.status).toBe('succeeded')
      }
    },
    2 * LIMIT_MS,
  )
})

async function untilRunning(store: JobStore, { pid }: ChildProcess): Promise<void> {
  await until(async () =>
    (await store.listWorkers()).some((worker) => worker.pid === pid && worker.leases > 0),
  )
}

/** A server that is away answers nothing, so an error is no answer. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + LIMIT_MS
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > untilMs) throw new Error('it did not come to that')
    await wait(250)
  }
}
