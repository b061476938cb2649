// Two connections; a test goes on when Neo4j reports the lock wait.
import { setTimeout as wait } from 'node:timers/promises'
import neo4j, { type Session, type Transaction } from 'neo4j-driver'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { embeddingProfile } from '../../../src/profile/embedding.ts'
import type { StoreHarness } from '../../../src/store/conformance/harness.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { EVENT_IDS_PER_MS } from '../../../src/store/neo4j/state/state-part.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'RaceJob'
const request = { workerId: 'worker-1', queues: ['embed'], limit: 1 }

describe('races on nodes', () => {
  let bench: Neo4jBench
  let harness: StoreHarness
  let session: Session
  beforeAll(async () => {
    bench = await createNeo4jBench(label, embeddingProfile.tables[0].policy)
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    harness = await bench.open()
    session = bench.driver.session()
  })
  afterEach(() => session.close())

  async function lockJob(jobId: string): Promise<Transaction> {
    const tx = await session.beginTransaction()
    await tx.run(`MATCH (j:${label} {id: $jobId}) SET j.touched = true`, { jobId })
    return tx
  }

  async function untilBlocked(): Promise<void> {
    for (let look = 0; look < 300; look++) {
      const { records } = await bench.driver.executeQuery(
        "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status",
      )
      if (records.length > 0) return
      await wait(100)
    }
    throw new Error('nobody waits for a lock')
  }

  async function startOne(): Promise<{ jobId: string; leaseId: string }> {
    await harness.store.enqueueJobs([{ type: 'embed' }])
    const [claimed] = await harness.store.claimJobs(request)
    if (claimed === undefined) throw new Error('there was no job to claim')
    return claimed
  }

  it('LEASE-1 of sixteen claimers no two get one job, and all jobs are got', async () => {
    const jobs = await harness.store.enqueueJobs(Array.from({ length: 96 }, () => ({ type: 'embed' })))
    const claimAll = async (nth: number) => {
      const store = createNeo4jStore({ driver: bench.driver, label })
      const mine: string[] = []
      for (;;) {
        const claimed = await store.claimJobs({ ...request, workerId: `worker-${nth}`, limit: 2 })
        if (claimed.length === 0) return mine
        mine.push(...claimed.map(({ jobId }) => jobId))
      }
    }
    const all = (await Promise.all(Array.from({ length: 16 }, (_, nth) => claimAll(nth)))).flat()
    expect(all).toHaveLength(jobs.length)
    expect(new Set(all).size).toBe(jobs.length)
  })

  it('LEASE-1 a claim that waited for a job looks at it again, and leaves what was cancelled meanwhile', async () => {
    const [job] = await harness.store.enqueueJobs([{ type: 'embed' }])
    const tx = await lockJob(job?.jobId ?? '')
    const claiming = harness.store.claimJobs(request)
    await untilBlocked()
    await tx.run(`MATCH (j:${label} {id: $id}) SET j.status = 'failed', j.error_code = 'cancelled'`, {
      id: job?.jobId,
    })
    await tx.commit()
    expect(await claiming).toEqual([])
    expect(await harness.store.getJob(job?.jobId ?? '')).toMatchObject({ status: 'cancelled', leaseId: null })
  })

  it('REAP-3 a sweep that waited for a job leaves it alone where a heartbeat came first', async () => {
    const claimed = await startOne()
    await harness.elapse(600_000)
    const tx = await lockJob(claimed.jobId)
    const sweeping = harness.store.sweepJobs()
    await untilBlocked()
    await tx.run(
      `MATCH (j:${label} {id: $id})
       SET j.lock_until = datetime() + duration('PT5M'), j.heartbeat_at = datetime()`,
      { id: claimed.jobId },
    )
    await tx.commit()
    expect((await sweeping).reaped).toEqual([])
    expect(await harness.store.completeJobs([claimed])).toMatchObject([{ outcome: 'completed' }])
    expect(await harness.store.listSweeps()).toMatchObject({
      sweeps: [{ found: 1, requeued: 0, skipped: 1 }],
    })
  })

  it('LEASE-5 a completion that waited for a reap of its job has lost its lease', async () => {
    const claimed = await startOne()
    await harness.elapse(600_000)
    const tx = await lockJob(claimed.jobId)
    const completing = harness.store.completeJobs([claimed])
    await untilBlocked()
    await tx.run(
      `MATCH (j:${label} {id: $id})
       SET j.status = 'pending', j.lock_owner = null, j.lock_until = null, j.lease_id = null`,
      { id: claimed.jobId },
    )
    await tx.commit()
    expect(await completing).toMatchObject([{ outcome: 'lease-lost' }])
    expect((await harness.store.getJob(claimed.jobId))?.status).toBe('waiting')
  })

  it('REAP-4 concurrent sweeps requeue each job once', async () => {
    await harness.store.enqueueJobs(Array.from({ length: 20 }, () => ({ type: 'embed' })))
    await harness.store.claimJobs({ ...request, limit: 20 })
    await harness.elapse(600_000)
    const steps = await Promise.all(Array.from({ length: 4 }, () => harness.store.sweepJobs()))
    const reaped = steps.flatMap((step) => step.reaped.map(({ jobId }) => jobId))
    expect(reaped).toHaveLength(20)
    expect(new Set(reaped).size).toBe(20)
    const [job] = (await harness.store.listJobs()).jobs
    expect(job).toMatchObject({ status: 'waiting', crashes: 1 })
  })

  /** Another event has the id that a sweep takes first, whichever of the next milliseconds that is. */
  async function takeNextEventIds(jobId: string): Promise<void> {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => void vi.restoreAllMocks())
    await bench.driver.executeQuery(
      `UNWIND range(0, 40000) AS ms
       CREATE (:${label}Event {id: (datetime.statement().epochMillis + ms) * ${EVENT_IDS_PER_MS} + $nth,
         job_id: $jobId, type: 'complete', at: datetime.statement()})`,
      { jobId, nth: neo4j.int(EVENT_IDS_PER_MS / 2 + 1) },
    )
  }

  it('REAP-4 a sweep does not take the event of another for its own, though it has the same id', async () => {
    const claimed = await startOne()
    await harness.elapse(600_000)
    await takeNextEventIds(claimed.jobId)
    const tx = await lockJob(claimed.jobId)
    const sweeping = harness.store.sweepJobs()
    await untilBlocked()
    await tx.run(`MATCH (j:${label} {id: $id}) SET j.status = 'pending', j.lease_id = null`, {
      id: claimed.jobId,
    })
    await tx.commit()
    expect((await sweeping).reaped).toEqual([])
  })

  it('REAP-4 a sweep whose event has the id of another writes it under a later one', async () => {
    const claimed = await startOne()
    await harness.elapse(600_000)
    await takeNextEventIds('another')
    expect((await harness.store.sweepJobs()).reaped).toMatchObject([
      { jobId: claimed.jobId, action: 'requeued' },
    ])
    expect((await harness.store.listReclaims()).reclaims).toMatchObject([{ jobId: claimed.jobId }])
  })

  it('WORK-7 of enqueues of one dedupe key at the same time one makes the job', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        harness.store.enqueueJobs([{ type: 'embed', dedupeKey: 'document-1' }]),
      ),
    )
    const created = answers.flat().filter(({ outcome }) => outcome === 'created')
    expect(created).toHaveLength(1)
    expect(new Set(answers.flat().map(({ jobId }) => jobId)).size).toBe(1)
  })

  it('RATE-1 workers that take tokens at the same time get no more than there are', async () => {
    const limits = [{ key: 'provider', ratePerS: 0.001, burst: 5 }]
    const grants = await Promise.all(Array.from({ length: 12 }, () => harness.store.takeTokens(limits)))
    expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(5)
  })

  it('OPS-2 retention leaves a job alone that was retried while it waited', async () => {
    const claimed = await startOne()
    await harness.store.failJobs([{ ...claimed, isRetryable: false }])
    await harness.elapse(15 * 86_400_000)
    const tx = await lockJob(claimed.jobId)
    const pruning = harness.store.pruneJobs()
    await untilBlocked()
    await tx.run(`MATCH (j:${label} {id: $id}) SET j.status = 'pending', j.ended_at = null`, {
      id: claimed.jobId,
    })
    await tx.commit()
    expect(await pruning).toEqual({ deleted: 0, next: null })
    expect((await harness.store.getJob(claimed.jobId))?.status).toBe('waiting')
  })
})
