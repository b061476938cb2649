// Data of the HTTP server beside the jobs: tokens, requests, events.
import type { Transaction } from 'neo4j-driver'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { AccessStore } from '../../../src/store/access-store.ts'
import type { StoreHarness } from '../../../src/store/conformance/harness.ts'
import { createNeo4jAccess } from '../../../src/store/neo4j/neo4j-access.ts'
import { createNeo4jBench, type Neo4jBench } from './server/neo4j-harness.ts'

const label = 'AccessJob'
const DAY = 86_400_000
const sha256 = 'ab'.repeat(32)

describe('access on nodes', () => {
  let bench: Neo4jBench
  let harness: StoreHarness
  let access: AccessStore
  beforeAll(async () => {
    bench = await createNeo4jBench(label)
    access = createNeo4jAccess({ driver: bench.driver, label })
  })
  afterAll(() => bench.close())
  beforeEach(async () => {
    harness = await bench.open()
    await harness.store.writePolicy({ events: 'all' })
  })

  /** As a verb that has its time, and has not written yet. */
  async function beginWriting(): Promise<Transaction> {
    const session = bench.driver.session()
    const tx = await session.beginTransaction()
    onTestFinished(async () => {
      if (tx.isOpen()) await tx.rollback()
      await session.close()
    })
    await tx.run('RETURN datetime.statement()')
    return tx
  }

  const enqueue = async () => (await harness.store.enqueueJobs([{ type: 'embed' }]))[0]?.jobId
  const told = async (after: string) => (await access.listNewEvents(after, 100)).map(({ jobId }) => jobId)

  it('SEE-5 an event is streamed only when none can come before it', async () => {
    const first = await enqueue()
    await expect.poll(() => told('0'), { timeout: 30_000 }).toEqual([first])
    const tx = await beginWriting()
    const second = await enqueue()
    expect(await told('0')).toEqual([first])
    await tx.commit()
    await expect.poll(() => told('0'), { timeout: 30_000 }).toEqual([first, second])
  })

  it('SEE-5 goes on after an event, from the newest, and from so many before it', async () => {
    const jobs = [await enqueue(), await enqueue(), await enqueue()]
    await expect.poll(() => told('0'), { timeout: 30_000 }).toEqual(jobs)
    const events = await access.listNewEvents('0', 100)
    expect(await told(events[1]?.id ?? '')).toEqual([jobs[2]])
    const { now, lastEventId } = await access.readClock()
    expect(lastEventId).toBe(events[2]?.id)
    expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000)
    expect(await access.findEventsStart(2)).toBe(events[0]?.id)
    expect(await access.findEventsStart(1_000)).toBe('0')
    const late = await access.listLateEvents([events[0]?.id ?? '', '1'])
    expect(late.map(({ id }) => id)).toEqual([events[0]?.id])
  })

  it('OPS-1 a token is found by its digest until it expires or is revoked', async () => {
    const token = {
      name: 'ci',
      sha256,
      scopes: ['jobs:read'],
      owner: 'user-1',
      expiresInMs: DAY,
      actor: 'ops',
    }
    expect(await access.createToken(token)).toBe(true)
    expect(await access.createToken(token)).toBe(false)
    expect(await access.findToken(sha256)).toMatchObject({ name: 'ci', owner: 'user-1', sha256 })
    expect(await access.findToken('cd'.repeat(32))).toBeNull()
    const [listed] = await access.listTokens()
    expect(listed).toMatchObject({ name: 'ci', createdBy: 'ops', revokedAt: null })
    expect(listed).not.toHaveProperty('sha256')
    await harness.elapse(DAY + 1_000)
    expect(await access.findToken(sha256)).toBeNull()
    expect(await access.createToken({ ...token, name: 'other', sha256: 'ef'.repeat(32) })).toBe(true)
    expect(await access.revokeToken('other', 'ops')).toBe(true)
    expect(await access.revokeToken('other', 'ops')).toBe(false)
    expect(await access.findToken('ef'.repeat(32))).toBe('revoked')
  })

  it('OPS-1 of the same request sent at once one begins, and its answer is that of all later ones', async () => {
    const request = { actor: 'ops', key: 'request-1' }
    const begun = await Promise.all(
      Array.from({ length: 4 }, () => access.beginRequest({ ...request, sha256 })),
    )
    expect(begun.map(({ outcome }) => outcome).toSorted()).toEqual(
      ['begun', 'in-progress', 'in-progress', 'in-progress'].toSorted(),
    )
    expect(await access.beginRequest({ ...request, sha256: 'cd'.repeat(32) })).toEqual({ outcome: 'reused' })
    await access.finishRequest({ ...request, status: 201, answer: '{}' })
    const answered = { outcome: 'answered', status: 201, answer: '{}' }
    expect(await access.beginRequest({ ...request, sha256 })).toEqual(answered)
    await harness.store.pruneJobs()
    expect(await access.beginRequest({ ...request, sha256 })).toEqual(answered)
  })

  it('OPS-1 an abandoned request begins again, and one of yesterday is deleted', async () => {
    const request = { actor: 'ops', key: 'request-2' }
    await access.beginRequest({ ...request, sha256 })
    await access.forgetRequest(request)
    expect(await access.beginRequest({ ...request, sha256 })).toEqual({ outcome: 'begun' })
    await harness.elapse(61_000)
    expect(await access.beginRequest({ ...request, sha256 })).toEqual({ outcome: 'begun' })
    await access.finishRequest({ ...request, status: 200, answer: '{}' })
    await bench.driver.executeQuery(
      `MATCH (r:${label}Record {kind: 'requests'}) SET r.at = r.at - duration({days: 2})`,
    )
    await harness.store.pruneJobs()
    expect(await access.beginRequest({ ...request, sha256 })).toEqual({ outcome: 'begun' })
  })

  it('OPS-8 there is no audit log, and the answer says so', async () => {
    await expect(access.listAuditEntries()).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })
})
