import { describe, expect, it } from 'vitest'
import type { JobFilter, JobSummary } from '../../ports/reading-store.ts'
import {
  cancel,
  complete,
  enqueueMany,
  enqueueOne,
  expectAbout,
  fail,
  HOUR,
  invalidArgument,
  MINUTE,
  plainPolicy,
  SECOND,
  startDead,
  startOne,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

export function describeListJobs(opened: () => TestBench, options: ConformanceOptions): void {
  describe('listJobs', () => {
    describePages(opened)
    describeFilters(opened)
    describeSummary(opened)
  })
  describe('findJobIds', () => {
    describePrefixes(opened, options)
  })
}

const idsOf = (jobs: JobSummary[]) => jobs.map(({ id }) => id)

async function list({ store }: TestBench, filter: JobFilter): Promise<string[]> {
  const { jobs } = await store.listJobs(filter)
  return idsOf(jobs)
}

function describePages(opened: () => TestBench): void {
  it('OPS-9 the newest come first, page by page, each once', async () => {
    const { store } = opened()
    const jobIds = await enqueueMany(store, 5)
    const seen: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < 3; page += 1) {
      const { jobs, next } = await store.listJobs(
        {},
        { limit: 2, ...(cursor === undefined ? {} : { cursor }) },
      )
      seen.push(...idsOf(jobs))
      if (page === 2) expect(next).toBeNull()
      else expect(next).not.toBeNull()
      cursor = next ?? ''
    }
    expect(seen).toEqual(jobIds.toReversed())
  })

  it('OPS-9 pages of one status hold that status only', async () => {
    const { store } = opened()
    const dead = [await startDead(store), await startDead(store), await startDead(store)].toReversed()
    await enqueueOne(store)
    const first = await store.listJobs({ status: 'dead' }, { limit: 2 })
    expect(idsOf(first.jobs)).toEqual(dead.slice(0, 2))
    const second = await store.listJobs({ status: 'dead' }, { limit: 2, cursor: first.next ?? '' })
    expect(idsOf(second.jobs)).toEqual(dead.slice(2))
    expect(second.next).toBeNull()
  })

  it('OPS-9 an empty table is an empty page', async () => {
    expect(await opened().store.listJobs()).toEqual({ jobs: [], next: null, searchedTo: null })
  })

  it('OPS-9 a bad limit or filter is refused', async () => {
    const { store } = opened()
    for (const limit of [0, 1001])
      await expect(store.listJobs({}, { limit })).rejects.toMatchObject(invalidArgument)
    const bad = [{ status: 'stuck' }, { kind: 'asr' }, { type: 7 }, { olderThanMs: -1 }, { isOverdue: 'yes' }]
    for (const filter of bad)
      await expect(store.listJobs(filter as JobFilter)).rejects.toMatchObject(invalidArgument)
  })
}

function describeFilters(opened: () => TestBench): void {
  it('OPS-9 each status is found, whatever word the table has for it', async () => {
    const bench = opened()
    const { store } = bench
    const succeeded = await startOne(store)
    await complete(store, succeeded)
    const dead = await startDead(store)
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    const running = await startOne(store)
    const waiting = await enqueueOne(store)
    expect(await list(bench, { status: 'succeeded' })).toEqual([succeeded.jobId])
    expect(await list(bench, { status: 'dead' })).toEqual([dead])
    expect(await list(bench, { status: 'cancelled' })).toEqual([cancelled])
    expect(await list(bench, { status: 'running' })).toEqual([running.jobId])
    expect(await list(bench, { status: 'waiting' })).toEqual([waiting])
  })

  it('OPS-9 type, queue, owner, stage and worker filter the list, and all have to match', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const mail = await enqueueOne(store, { type: 'mail', owner: 'tenant-1' })
    const fast = await enqueueOne(store, { type: 'mail', queue: 'fast', stage: 'send' })
    const held = await startOne(store, { type: 'asr' }, { workerId: 'worker-7' })
    expect(await list(bench, { type: 'mail' })).toEqual([fast, mail])
    expect(await list(bench, { queue: 'mail' })).toEqual([mail])
    expect(await list(bench, { queue: 'fast' })).toEqual([fast])
    expect(await list(bench, { owner: 'tenant-1' })).toEqual([mail])
    expect(await list(bench, { stage: 'send' })).toEqual([fast])
    expect(await list(bench, { stage: 'mail' })).toEqual([mail])
    expect(await list(bench, { workerId: 'worker-7' })).toEqual([held.jobId])
    expect(await list(bench, { type: 'mail', owner: 'tenant-2' })).toEqual([])
  })

  it('OPS-9 jobs past their lease are found on the clock of the store', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const silent = await startOne(store, {}, { leaseMs: MINUTE })
    await bench.elapse(MINUTE + SECOND)
    const fresh = await startOne(store)
    expect(await list(bench, { isOverdue: true })).toEqual([silent.jobId])
    expect(await list(bench, { status: 'running', isOverdue: false })).toEqual([fresh.jobId])
  })

  it('OPS-9 age is counted from the creation', async () => {
    const bench = opened()
    const old = await enqueueOne(bench.store)
    await bench.elapse(HOUR)
    const young = await enqueueOne(bench.store)
    expect(await list(bench, { olderThanMs: 30 * MINUTE })).toEqual([old])
    expect(await list(bench, { youngerThanMs: 30 * MINUTE })).toEqual([young])
  })

  it('OPS-9 an error code matches dead and waiting jobs, a cause only dead ones', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const dead = await startOne(store)
    await fail(store, dead, { code: 'GW_5XX', reason: 'bad', isRetryable: false })
    const retried = await startOne(store)
    await fail(store, retried, { code: 'GW_5XX', reason: 'bad' })
    expect(await list(bench, { errorCode: 'GW_5XX' })).toEqual([retried.jobId, dead.jobId])
    const { groups } = await store.groupDeadJobs()
    expect(await list(bench, { causeId: groups[0]?.causeId ?? '' })).toEqual([dead.jobId])
    expect(await list(bench, { causeId: '00000000' })).toEqual([])
  })
}

function describeSummary(opened: () => TestBench): void {
  it('OPS-9 a summary has no stack, and payload and result only on request', async () => {
    const { store } = opened()
    const claimed = await startOne(store, { payload: { secret: 1 } })
    await fail(store, claimed, { code: 'X', reason: 'y', stack: 'at z', isRetryable: false })
    const [plain] = (await store.listJobs()).jobs
    expect(plain).toMatchObject({ status: 'dead', causeId: expect.stringMatching(/^[0-9a-f]{8}$/) })
    expect(plain?.error).toEqual({ code: 'X', reason: 'y', category: 'TRANSIENT', attempt: 1 })
    expect(plain).not.toHaveProperty('payload')
    expect(plain).not.toHaveProperty('result')
    const [whole] = (await store.listJobs({}, { withPayload: true })).jobs
    expect(whole).toMatchObject({ payload: { secret: 1 }, result: null })
  })

  it('OPS-9 the rest of a lease is computed by the clock of the store', async () => {
    const bench = opened()
    await startOne(bench.store, {}, { leaseMs: MINUTE })
    await bench.elapse(2 * MINUTE)
    const [job] = (await bench.store.listJobs()).jobs
    expectAbout(job?.leaseLeftMs, -MINUTE)
    expect(job?.causeId).toBeNull()
  })
}

function describePrefixes(opened: () => TestBench, options: ConformanceOptions): void {
  it('OPS-9 a prefix of an id matches, even in capitals and without dashes', async () => {
    const { store, plantJob } = opened()
    const id = 'abcd1234-0000-4000-8000-000000000001'
    await plantJob({ id })
    await plantJob({ id: 'abcd9999-0000-4000-8000-000000000002' })
    const otherSpellings = options.hasTextIds === true ? [] : ['ABCD1234', 'abcd123400004']
    for (const prefix of ['abcd1', 'abcd1234-00', id, ...otherSpellings])
      expect(await store.findJobIds(prefix)).toEqual([id])
    expect(await store.findJobIds('abcd')).toHaveLength(2)
    expect(await store.findJobIds('abcd', 1)).toHaveLength(1)
    expect(await store.findJobIds('abce')).toEqual([])
    expect(await store.findJobIds('not an id')).toEqual([])
  })

  it('OPS-9 an empty prefix is refused', async () => {
    await expect(opened().store.findJobIds('')).rejects.toMatchObject(invalidArgument)
  })
}
