import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../../job/job.ts'
import type { DeadJobGroup, Failure, JobStore } from '../../job-store.ts'
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
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeDeadGroups(opened: () => TestBench): void {
  describe('groupDeadJobs', () => {
    describeCauses(opened)
    describeGroups(opened)
    describeOpinions(opened)
  })
}

async function die(store: JobStore, failure: Partial<Failure>, job: Partial<NewJob> = {}): Promise<string> {
  const claimed = await startOne(store, job)
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
  it('OPS-9 a group has a count, a time range and an example', async () => {
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

function describeOpinions(opened: () => TestBench): void {
  const theGroup = async (store: JobStore): Promise<DeadJobGroup> => {
    const [group] = (await store.groupDeadJobs()).groups
    if (group === undefined) throw new Error('there is no group')
    return group
  }

  it('OPS-9 a cause is new until it is marked, and again when the mark is cleared', async () => {
    const { store } = opened()
    await die(store, { code: 'A', reason: 'r' })
    const { causeId, ...fresh } = await theGroup(store)
    expect(fresh).toMatchObject({ state: 'new', changedAt: null, changedBy: null, backSince: null })
    await store.markCause(causeId, { state: 'investigating', actor: 'ana', reason: 'on it' })
    const marked = await theGroup(store)
    expect(marked).toMatchObject({ state: 'investigating', changedBy: 'ana', stateReason: 'on it' })
    expect(marked.changedAt).toBeInstanceOf(Date)
    await store.markCause(causeId, { state: 'new' })
    expect(await theGroup(store)).toMatchObject({ state: 'new', changedBy: null, stateReason: null })
  })

  it('OPS-9 a resolved cause is back when a job dies of it after that', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    await die(store, { code: 'A', reason: 'r' })
    const { causeId } = await theGroup(store)
    await bench.elapse(HOUR)
    await store.markCause(causeId, { state: 'resolved' })
    expect(await theGroup(store)).toMatchObject({ state: 'resolved', backSince: null })
    await bench.elapse(HOUR)
    const back = await die(store, { code: 'A', reason: 'r' })
    const group = await theGroup(store)
    expect(group).toMatchObject({ state: 'resolved', jobs: 2 })
    expect(group.backSince).toEqual((await readJob(store, back)).finishedAt)
    await store.markCause(causeId, { state: 'ignored' })
    expect(await theGroup(store)).toMatchObject({ state: 'ignored', backSince: null })
  })

  it('OPS-9 an unknown state and an empty cause are refused', async () => {
    const { store } = opened()
    await expect(store.markCause('abc', { state: 'gone' as 'new' })).rejects.toMatchObject(invalidArgument)
    await expect(store.markCause('', { state: 'ignored' })).rejects.toMatchObject(invalidArgument)
  })

  it('C21 with an owner, only jobs of that owner are grouped', async () => {
    const { store } = opened()
    const hers = await die(store, { code: 'A', reason: 'r' }, { owner: 'ana' })
    await die(store, { code: 'A', reason: 'r' }, { owner: 'bob' })
    expect((await store.groupDeadJobs({ owner: 'ana' })).groups).toMatchObject([
      { jobs: 1, exampleJobId: hers },
    ])
    expect((await store.groupDeadJobs({ owner: 'eve' })).groups).toEqual([])
  })
}
