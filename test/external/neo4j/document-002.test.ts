// The scenarios of document 002 on nodes, with its names and its policy.
import neo4j from 'neo4j-driver'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import { embeddingProfile } from '../../../src/profile/embedding.ts'
import type { StoreHarness } from '../../../src/store/conformance/harness.ts'
import { createNeo4jStore } from '../../../src/store/neo4j/neo4j-store.ts'
import { openNeo4jStore } from '../../../src/store/neo4j/open-neo4j-store.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'DocumentJob'
const MINUTE = 60_000
const DAY = 86_400_000

describe('document 002', () => {
  let bench: Neo4jBench
  let harness: StoreHarness
  beforeAll(async () => {
    bench = await createNeo4jBench(label, embeddingProfile.tables[0].policy)
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    harness = await bench.open()
  })

  async function readNode(jobId: string): Promise<Record<string, unknown>> {
    const { records } = await bench.driver.executeQuery(
      `MATCH (j:${label} {id: $jobId}) RETURN properties(j) AS node`,
      { jobId },
    )
    return records[0]?.get('node') as Record<string, unknown>
  }

  async function lease(count: number, workerId = 'worker-a'): Promise<ClaimedJob[]> {
    await harness.store.enqueueJobs(Array.from({ length: count }, () => ({ type: 'embed' })))
    return harness.store.claimJobs({ workerId, queues: ['embed'], limit: count })
  }

  it('REAP-1 an expired job goes back to pending at once, without its lock and with its attempts', async () => {
    const [first] = await lease(1)
    if (first === undefined) throw new Error('there was no job to claim')
    await harness.store.failJobs([{ ...first, retryInMs: 0 }])
    const [job] = await harness.store.claimJobs({ workerId: 'worker-a', queues: ['embed'], limit: 1 })
    expect(await readNode(first.jobId)).toMatchObject({ status: 'processing', lock_owner: 'worker-a' })
    await harness.elapse(5 * MINUTE + 1_000)
    const { reaped } = await harness.store.sweepJobs()
    expect(reaped).toMatchObject([{ jobId: job?.jobId, action: 'requeued', retryInMs: 0 }])
    const node = await readNode(first.jobId)
    expect(node).toMatchObject({ status: 'pending', attempts: neo4j.int(1) })
    expect(node).not.toHaveProperty('lock_owner')
    expect(node).not.toHaveProperty('lock_until')
    expect(await harness.store.claimJobs({ workerId: 'worker-b', queues: ['embed'], limit: 1 })).toHaveLength(
      1,
    )
  })

  it('REAP-3 LEASE-7 an active job is not recovered, and heartbeats keep it for longer than one lock', async () => {
    const [job] = await lease(1)
    if (job === undefined) throw new Error('there was no job to claim')
    for (let beat = 0; beat < 3; beat++) {
      await harness.elapse(2 * MINUTE)
      expect((await harness.store.heartbeatJobs([job])).answers).toMatchObject([{ answer: 'kept' }])
    }
    expect((await harness.store.sweepJobs()).reaped).toEqual([])
    expect(await readNode(job.jobId)).toMatchObject({ status: 'processing', lock_owner: 'worker-a' })
  })

  it('LEASE-6 RATE-2 of ten leased jobs the seven that were not begun are released and available at once', async () => {
    const jobs = await lease(10)
    const rest = jobs.slice(3)
    const released = await harness.store.releaseJobs(rest)
    expect(released.filter(({ outcome }) => outcome === 'released')).toHaveLength(7)
    const node = await readNode(rest[0]?.jobId ?? '')
    expect(node).toMatchObject({ status: 'pending' })
    expect(node).not.toHaveProperty('lock_owner')
    const taken = await harness.store.claimJobs({ workerId: 'worker-b', queues: ['embed'], limit: 10 })
    expect(taken.map(({ jobId }) => jobId).toSorted()).toEqual(rest.map(({ jobId }) => jobId).toSorted())
  })

  it('LEASE-6 a release ignores jobs of another worker', async () => {
    const mine = await lease(3, 'worker-a')
    const [, theirs] = await lease(3, 'worker-b')
    if (theirs === undefined) throw new Error('there was no job to claim')
    const leaseId = mine[0]?.leaseId ?? ''
    const asked = [...mine.slice(1), { jobId: theirs.jobId, leaseId }]
    const released = await harness.store.releaseJobs(asked)
    expect(released.filter(({ outcome }) => outcome === 'released')).toHaveLength(2)
    expect(await readNode(theirs.jobId)).toMatchObject({ status: 'processing', lock_owner: 'worker-b' })
  })

  it('LEASE-6 releasing nothing asks nothing of the database', async () => {
    const nowhere = neo4j.driver('bolt://127.0.0.1:1', neo4j.auth.basic('neo4j', 'x'))
    expect(await createNeo4jStore({ driver: nowhere }).releaseJobs([])).toEqual([])
    await nowhere.close()
  })

  it('FAIL-1 a failed job has category, message, stack and attempt on its node', async () => {
    const [job] = await lease(1)
    if (job === undefined) throw new Error('there was no job to claim')
    const failure = { category: 'PERMANENT', reason: 'no such model', stack: 'Error: at embed' } as const
    await harness.store.failJobs([{ ...job, ...failure }])
    expect(await readNode(job.jobId)).toMatchObject({
      status: 'failed',
      error_category: 'PERMANENT',
      error_message: 'no such model',
      error_stack: 'Error: at embed',
      error_attempt: neo4j.int(1),
    })
  })

  it('FAIL-5 the third failure is the last', async () => {
    const [job] = await lease(1)
    if (job === undefined) throw new Error('there was no job to claim')
    const outcomes: string[] = []
    let held: ClaimedJob | undefined = job
    while (held !== undefined) {
      const answers = await harness.store.failJobs([{ ...held, category: 'TRANSIENT', retryInMs: 0 }])
      outcomes.push(...answers.map(({ outcome }) => outcome))
      held = (await harness.store.claimJobs({ workerId: 'worker-a', queues: ['embed'], limit: 1 }))[0]
    }
    expect(outcomes).toEqual(['retried', 'retried', 'dead'])
    expect(await readNode(job.jobId)).toMatchObject({ status: 'failed', attempts: neo4j.int(3) })
  })

  it('OPS-2 the cleanup deletes ended nodes past 14 days with their events, and no others', async () => {
    const [completed, failed, running] = await lease(3)
    if (completed === undefined || failed === undefined) throw new Error('there was no job to claim')
    await harness.store.enqueueJobs([{ type: 'embed' }])
    await harness.store.completeJobs([completed])
    await harness.store.failJobs([{ ...failed, isRetryable: false }])
    await harness.elapse(13 * DAY)
    expect(await harness.store.pruneJobs()).toEqual({ deleted: 0, next: null })
    await harness.elapse(2 * DAY)
    expect(await harness.store.pruneJobs()).toEqual({ deleted: 2, next: null })
    expect(await harness.store.listEvents(failed.jobId)).toEqual([])
    expect(await readNode(running?.jobId ?? '')).toMatchObject({ status: 'processing' })
    expect(await harness.store.readHealth()).toMatchObject({ waiting: 1, running: 1 })
  })

  it.each([6, 31, 7.5])(
    'OPS-2 OPS-8 a retention of %s days is refused before anything else',
    async (retentionDays) => {
      const opening = openNeo4jStore({ url: inject('neo4jUrl'), label, retentionDays })
      await expect(opening).rejects.toMatchObject({
        code: 'INVALID_CONFIG',
        message: expect.stringContaining('EMBED_JOB_RETENTION_DAYS'),
      })
    },
  )

  it('REAP-8 a node that the application made itself is taken in by the next sweep, and keeps what else it has', async () => {
    await bench.driver.executeQuery(
      `CREATE (:${label} {id: 'mine-1', status: 'pending', document: 'a.pdf'}),
              (:${label} {id: 'mine-2', status: 'processing', lock_owner: 'old', lock_until: datetime() - duration('PT1S')})`,
    )
    const { reaped } = await harness.store.sweepJobs()
    expect(reaped).toMatchObject([{ jobId: 'mine-2', action: 'requeued' }])
    const claimed = await harness.store.claimJobs({ workerId: 'worker-a', queues: ['embed'], limit: 5 })
    expect(claimed.map(({ jobId }) => jobId).toSorted()).toEqual(['mine-1', 'mine-2'])
    await harness.store.completeJobs(claimed)
    expect(await readNode('mine-1')).toMatchObject({ status: 'completed', document: 'a.pdf' })
  })

  it('OPS-13 a failed node that the application sets back to pending can be claimed at once', async () => {
    const [job] = await lease(1)
    if (job === undefined) throw new Error('there was no job to claim')
    await harness.store.failJobs([{ ...job, isRetryable: false }])
    await bench.driver.executeQuery(
      `MATCH (j:${label} {id: $id, status: 'failed'}) SET j.status = 'pending', j.attempts = 0`,
      { id: job.jobId },
    )
    const claimed = await harness.store.claimJobs({ workerId: 'worker-b', queues: ['embed'], limit: 1 })
    expect(claimed).toMatchObject([{ jobId: job.jobId }])
  })

  it('OPS-13 nodes whose label the application removes do not hide those that it creates', async () => {
    const jobs = await lease(3)
    await harness.store.sweepJobs()
    await bench.driver.executeQuery(
      `MATCH (j:${label}) WHERE j.id IN $ids REMOVE j:${label} SET j:Archived${label}`,
      { ids: jobs.map(({ jobId }) => jobId) },
    )
    await bench.driver.executeQuery(`CREATE (:${label} {id: 'mine-3', status: 'pending'})`)
    await harness.store.sweepJobs()
    const { records } = await bench.driver.executeQuery(
      `MATCH (j:Archived${label}) WITH collect(j) AS archived, sum(size(labels(j))) AS labels
       UNWIND archived AS j DETACH DELETE j RETURN DISTINCT labels`,
    )
    expect(records[0]?.get('labels')).toEqual(neo4j.int(3))
    const claimed = await harness.store.claimJobs({ workerId: 'worker-b', queues: ['embed'], limit: 5 })
    expect(claimed).toMatchObject([{ jobId: 'mine-3' }])
  })
})
