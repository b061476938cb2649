import { describe, expect, it } from 'vitest'
import type { Failure, JobStore } from '../job-store.ts'
import {
  cancel,
  enqueueOne,
  expectAbout,
  fail,
  HOUR,
  invalidArgument,
  plainPolicy,
  readJob,
  startOne,
} from './builders.ts'
import type { TestBench } from './harness.ts'

export function describeDeadGroups(opened: () => TestBench): void {
  describe('groupDeadJobs', () => {
    describeCauses(opened)
    describeGroups(opened)
  })
}

async function die(store: JobStore, failure: Partial<Failure>): Promise<string> {
  const claimed = await startOne(store)
  await fail(store, claimed, { ...failure, isRetryable: false })
  return claimed.jobId
}

function describeCauses(opened: () => TestBench): void {
  it('OPS-9 reasons that differ in numbers, ids, addresses and quoted text have one cause', async () => {
    const { store } = opened()
    const reasons = [
      '502 from gateway at POST https://a.example/v1/x?id=7 for "a.mp4" (job 0190a1b2-0000-7000-8000-000000000001)',
      '503 from gateway at POST http://b.example:8080/y for "b.mp4" (job 0190a1b2-ffff-7000-8000-00000000abcd)',
    ]
    for (const reason of reasons) await die(store, { code: 'GW_5XX', reason })
    const { groups, isComplete } = await store.groupDeadJobs()
    expect(groups).toMatchObject([{ code: 'GW_5XX', jobs: 2, exampleReason: reasons[1] }])
    expect(isComplete).toBe(true)
  })

  it('OPS-9 another code or other words are another cause', async () => {
    const { store } = opened()
    await die(store, { code: 'A', reason: 'broken' })
    await die(store, { code: 'B', reason: 'broken' })
    await die(store, { code: 'A', reason: 'torn' })
    await die(store, {})
    const { groups } = await store.groupDeadJobs()
    expect(new Set(groups.map(({ causeId }) => causeId)).size).toBe(4)
  })

  it('OPS-9 the cause of a group is that of its jobs', async () => {
    const { store } = opened()
    const jobId = await die(store, { code: 'A', reason: "can't open the worker's file 12" })
    const { groups } = await store.groupDeadJobs()
    const { jobs } = await store.listJobs({ status: 'dead' })
    expect(jobs).toMatchObject([{ id: jobId, causeId: groups[0]?.causeId }])
  })
}

function describeGroups(opened: () => TestBench): void {
  it('OPS-9 a group tells how many, since when, and one of them', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    await die(store, { code: 'A', reason: 'r', category: 'PERMANENT' })
    await bench.elapse(HOUR)
    const last = await die(store, { code: 'A', reason: 'r', category: 'PERMANENT' })
    await die(store, { code: 'B', reason: 'r' })
    const { groups } = await store.groupDeadJobs()
    expect(groups.map(({ jobs }) => jobs)).toEqual([2, 1])
    expect(groups[0]).toMatchObject({ category: 'PERMANENT', exampleJobId: last, maxCrashes: 0 })
    const { firstAt, lastAt } = groups[0] ?? { firstAt: new Date(Number.NaN), lastAt: new Date(Number.NaN) }
    expectAbout(lastAt.getTime() - firstAt.getTime(), HOUR)
    expect((await readJob(store, last)).finishedAt).toEqual(lastAt)
  })

  it('OPS-9 a job that killed its workers shows how often', async () => {
    const { store, plantJob } = opened()
    const error = { code: 'timeout', reason: 'lease_expired', category: null, stack: null, attempt: 3 }
    await plantJob({ status: 'dead', crashes: 3, attempt: 3, error })
    expect((await store.groupDeadJobs()).groups).toMatchObject([{ code: 'timeout', maxCrashes: 3 }])
  })

  it('OPS-9 cancelled and other ended jobs are no dead letters', async () => {
    const { store } = opened()
    await cancel(store, await enqueueOne(store))
    expect(await store.groupDeadJobs()).toEqual({ groups: [], isComplete: true })
  })

  it('OPS-9 the limit keeps the largest groups', async () => {
    const { store } = opened()
    for (const code of ['A', 'B', 'B']) await die(store, { code, reason: 'r' })
    expect((await store.groupDeadJobs({ limit: 1 })).groups).toMatchObject([{ code: 'B', jobs: 2 }])
    await expect(store.groupDeadJobs({ limit: 0 })).rejects.toMatchObject(invalidArgument)
  })
}
