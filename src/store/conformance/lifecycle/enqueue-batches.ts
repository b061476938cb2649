// Many jobs in one call, which a store may write differently from a few.
import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../../job/job.ts'
import {
  claimMany,
  enqueueOne,
  eventsOf,
  invalidArgument,
  MINUTE,
  plainPolicy,
  readJob,
  TYPE,
} from '../builders.ts'
import type { StoreHarness } from '../harness.ts'

const MANY = 120

function many(job: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: MANY }, (_, index) => ({ type: TYPE, payload: { index }, ...job }))
}

/** But for a dedupe key, which only one job can have. */
const everyField = {
  queue: 'speech',
  priority: -7,
  stage: 'burnin',
  expectedDurationMs: 90_000,
  maxAttempts: 8,
  owner: 'tenant-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
}

export function describeEnqueueBatches<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('enqueueJobs with many jobs', () => {
    describeAlike(opened)
    describeUnlike(opened)
  })
}

function describeAlike<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-7 many jobs are answered in the order asked, and run in it with their own payloads', async () => {
    const { store } = opened()
    const answers = await store.enqueueJobs(many())
    const claimed = await claimMany(store, { limit: MANY })
    expect(answers.map(({ outcome }) => outcome)).toEqual(many().map(() => 'created'))
    expect(claimed.map(({ jobId }) => jobId)).toEqual(answers.map(({ jobId }) => jobId))
    expect(claimed.map(({ payload }) => payload)).toEqual(many().map(({ payload }) => payload))
  })

  it('WORK-7 keeps every requested field of each of many jobs', async () => {
    const { store } = opened()
    const answers = await store.enqueueJobs(many(everyField))
    const last = await readJob(store, answers.at(-1)?.jobId ?? '')
    expect(last).toMatchObject({ ...everyField, status: 'waiting', dedupeKey: null, runAt: null })
    expect(last.payload).toEqual({ index: MANY - 1 })
    expect((await store.readHealth()).waiting).toBe(MANY)
  })

  it('WORK-7 many jobs without a payload have an empty one, and the maximum of the policy', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, maxAttempts: 4 })
    const answers = await store.enqueueJobs(many().map(({ type }) => ({ type })))
    const job = await readJob(store, answers[7]?.jobId ?? '')
    expect(job).toMatchObject({ payload: {}, maxAttempts: 4, priority: 0 })
  })

  it('WORK-7 many delayed jobs are not claimed before their time, and are after it', async () => {
    const { store, elapse } = opened()
    await store.enqueueJobs(many({ delayMs: 10 * MINUTE }))
    expect(await claimMany(store, { limit: MANY })).toEqual([])
    await elapse(11 * MINUTE)
    expect(await claimMany(store, { limit: MANY })).toHaveLength(MANY)
  })

  it('WORK-7 of many jobs with one dedupe key the first is created and the others answer it', async () => {
    const { store } = opened()
    const [first, ...others] = await store.enqueueJobs(many({ dedupeKey: 'clip-1' }))
    expect(first?.outcome).toBe('created')
    expect(new Set(others.map(({ jobId, outcome }) => `${jobId} ${outcome}`))).toEqual(
      new Set([`${first?.jobId} duplicate`]),
    )
    expect((await readJob(store, first?.jobId ?? '')).payload).toEqual({ index: 0 })
  })

  it('SEE-3 each of many new jobs has the event queued with all events enabled', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'all' })
    const answers = await store.enqueueJobs(many())
    for (const index of [0, MANY - 1])
      expect(await eventsOf(store, answers[index]?.jobId ?? '', 'queued')).toHaveLength(1)
  })
}

function describeUnlike<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-7 one of many jobs may differ from the others', async () => {
    const { store } = opened()
    const jobs = many({ priority: 3 })
    jobs[MANY - 1] = { type: TYPE, priority: 1, payload: 'last', owner: 'tenant-1' }
    const answers = await store.enqueueJobs(jobs)
    const [claimed] = await claimMany(store, { limit: 1 })
    expect(claimed).toMatchObject({
      jobId: answers.at(-1)?.jobId,
      payload: 'last',
      owner: 'tenant-1',
      priority: 1,
    })
    expect(await readJob(store, answers[0]?.jobId ?? '')).toMatchObject({ priority: 3, owner: null })
  })

  it('WORK-7 every field may be in some of many jobs and missing in the others', async () => {
    const { store } = opened()
    const full = { ...everyField, dedupeKey: 'clip-1' }
    const runAt = new Date(Date.now() + MINUTE)
    const jobs = many()
    jobs[0] = { type: TYPE, payload: null, ...full }
    jobs[1] = { type: 'clip', payload: 'text', runAt }
    jobs[2] = { type: 'clip' }
    jobs[3] = { type: TYPE, delayMs: MINUTE, payload: { index: 3 } }
    const answers = await store.enqueueJobs(jobs)
    const job = (index: number) => readJob(store, answers[index]?.jobId ?? '')
    expect(await job(0)).toMatchObject({ ...full, type: TYPE, payload: null, runAt: null })
    expect(await job(1)).toMatchObject({ type: 'clip', queue: 'clip', payload: 'text', runAt, priority: 0 })
    expect(await job(2)).toMatchObject({ type: 'clip', payload: {}, runAt: null, owner: null, stage: null })
    expect((await job(3)).runAt?.getTime()).toBeGreaterThan(Date.now() + MINUTE / 2)
    expect(await job(4)).toMatchObject({
      type: TYPE,
      queue: TYPE,
      payload: { index: 4 },
      runAt: null,
      owner: null,
      dedupeKey: null,
      traceparent: null,
      expectedDurationMs: null,
    })
  })

  it('WORK-7 one of many jobs may have a dedupe key that another job has', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { dedupeKey: 'clip-1' })
    const jobs = many()
    jobs[50] = { type: TYPE, dedupeKey: 'clip-1' }
    const answers = await store.enqueueJobs(jobs)
    expect(answers[50]).toEqual({ jobId, outcome: 'duplicate' })
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(MANY - 1)
  })

  it.each([
    ['the first', 0],
    ['one in the middle', 60],
    ['the last', MANY - 1],
  ])('WORK-7 refuses many jobs for %s of them, and writes none', async (_, index) => {
    const { store } = opened()
    const jobs = many()
    jobs[index] = { type: TYPE, priority: 1.5 }
    await expect(store.enqueueJobs(jobs)).rejects.toMatchObject(invalidArgument)
    await expect(store.enqueueJobs(many({ priority: 1.5 }))).rejects.toMatchObject(invalidArgument)
    expect((await store.readHealth()).waiting).toBe(0)
  })
}
