import { describe, expect, it } from 'vitest'
import type { JsonValue, NewJob } from '../../../job/job.ts'
import {
  cancel,
  claimMany,
  claimOne,
  complete,
  DAY,
  detailsOf,
  enqueueMany,
  enqueueOne,
  eventsOf,
  expectAbout,
  HOUR,
  invalidArgument,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
  storeNow,
  TYPE,
} from '../builders.ts'
import { type ConformanceOptions, type StoreHarness, transactionsOf } from '../harness.ts'

export function describeEnqueue<Tx>(opened: () => StoreHarness<Tx>, options: ConformanceOptions): void {
  describe('enqueueJobs', () => {
    describeRows(opened)
    describeStart(opened)
    describeRefusals(opened, options)
    describeDedupe(opened)
    describeEnqueueTransactions(opened)
  })
}

function describeRows<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-7 a new job waits in the queue of its type, with nothing spent', async () => {
    const { store } = opened()
    const job = await readJob(store, await enqueueOne(store, { type: 'asr' }))
    expect(job).toMatchObject({
      type: 'asr',
      queue: 'asr',
      status: 'waiting',
      priority: 0,
      attempt: 0,
      failures: 0,
      crashes: 0,
      timeouts: 0,
      releases: 0,
      interruptions: 0,
      generation: 1,
      runAt: null,
      startedAt: null,
      finishedAt: null,
      workerId: null,
      leaseId: null,
      error: null,
    })
  })

  it('WORK-7 keeps every requested field', async () => {
    const { store } = opened()
    const asked = {
      type: 'asr',
      queue: 'speech',
      payload: { url: 'clip.wav', parts: [1, 2.5, null, true, { deep: 'ü 🎬 \\u0000' }] },
      priority: -7,
      stage: 'burnin',
      expectedDurationMs: 90_000,
      maxAttempts: 8,
      owner: 'tenant-1',
      dedupeKey: 'clip-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    expect(await readJob(store, await enqueueOne(store, asked))).toMatchObject(asked)
  })

  it('WORK-7 a batch is answered in the order asked, and runs in it', async () => {
    const { store } = opened()
    const payloads = Array.from({ length: 50 }, (_, index) => ({ index }))
    const answers = await store.enqueueJobs(payloads.map((payload) => ({ type: TYPE, payload })))
    const claimed = await claimMany(store)
    expect(answers.map(({ outcome }) => outcome)).toEqual(payloads.map(() => 'created'))
    expect(claimed.map(({ jobId }) => jobId)).toEqual(answers.map(({ jobId }) => jobId))
    expect(claimed.map(({ payload }) => payload)).toEqual(payloads)
  })

  it('WORK-7 an empty batch returns nothing and writes nothing', async () => {
    const { store } = opened()
    expect(await store.enqueueJobs([])).toEqual([])
    expect((await store.readHealth()).waiting).toBe(0)
  })

  it('SEE-3 a new job has the event queued only with all events enabled', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, events: 'recovery' })
    expect(await store.listEvents(await enqueueOne(store))).toEqual([])
    await store.writePolicy({ events: 'all' })
    const jobId = await enqueueOne(store)
    expect(await eventsOf(store, jobId, 'queued')).toHaveLength(1)
    expect(await detailsOf(store, jobId, 'queued')).toBeTypeOf('object')
  })
}

function describeStart<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-7 a delayed job is not claimed before its time, and is after it', async () => {
    const { store, elapse } = opened()
    const jobId = await enqueueOne(store, { delayMs: 10 * MINUTE })
    await elapse(9 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(MINUTE + SECOND)
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('WORK-7 a job scheduled for a time is not claimed before it, and is after it', async () => {
    const { store, elapse } = opened()
    const runAt = new Date((await storeNow(store)) + HOUR)
    const jobId = await enqueueOne(store, { runAt })
    expect((await readJob(store, jobId)).runAt).toEqual(runAt)
    await elapse(HOUR - MINUTE)
    expect(await claimMany(store)).toEqual([])
    await elapse(2 * MINUTE)
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('WORK-7 a job scheduled for a time that is past is claimed at once', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { runAt: new Date((await storeNow(store)) - DAY) })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('WORK-7 SEE-2 a job for a time that is past has waited since its enqueue, not since then', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store, { runAt: new Date((await storeNow(store)) - DAY) })
    await elapse(MINUTE)
    expectAbout((await store.readHealth()).oldestDueMs ?? 0, MINUTE)
    expectAbout((await claimOne(store)).waitedMs, MINUTE)
  })
}

const cycle: { [key: string]: JsonValue } = {}
cycle['self'] = cycle

const refused: { name: string; job: Partial<NewJob> }[] = [
  { name: 'an empty type', job: { type: '' } },
  { name: 'a type of 201 characters', job: { type: 'x'.repeat(201) } },
  { name: 'a type with NUL', job: { type: 'a\0b' } },
  ...(['queue', 'stage', 'owner', 'traceparent'] as const).flatMap((field) => [
    { name: `an empty ${field}`, job: { [field]: '' } },
    { name: `a ${field} of 201 characters`, job: { [field]: 'x'.repeat(201) } },
  ]),
  { name: 'an empty dedupe key', job: { dedupeKey: '' } },
  { name: 'a dedupe key of 1001 characters', job: { dedupeKey: 'x'.repeat(1001) } },
  { name: 'a dedupe key of 1803 bytes', job: { dedupeKey: '語'.repeat(601) } },
  { name: 'a priority under the range', job: { priority: -32_769 } },
  { name: 'a priority over the range', job: { priority: 32_768 } },
  { name: 'a priority that is no whole number', job: { priority: 0.5 } },
  { name: 'a priority that is no number', job: { priority: Number.NaN } },
  { name: 'a negative delay', job: { delayMs: -1 } },
  { name: 'a delay over ten years', job: { delayMs: 3651 * DAY } },
  { name: 'an endless delay', job: { delayMs: Number.POSITIVE_INFINITY } },
  { name: 'a delay that is no number', job: { delayMs: Number.NaN } },
  { name: 'a delay beside a time', job: { delayMs: 1, runAt: new Date(0) } },
  { name: 'a time that is none', job: { runAt: new Date(Number.NaN) } },
  { name: 'an expectation over the range', job: { expectedDurationMs: 2 ** 31 } },
  { name: 'a negative expectation', job: { expectedDurationMs: -1 } },
  { name: 'an expectation that is no whole number', job: { expectedDurationMs: 0.5 } },
  { name: 'a maximum of 0', job: { maxAttempts: 0 } },
  { name: 'a maximum of 1001', job: { maxAttempts: 1001 } },
  { name: 'a maximum that is no whole number', job: { maxAttempts: 1.5 } },
  { name: 'a payload with NUL in a text', job: { payload: { text: 'a\0b' } } },
  { name: 'a payload with NUL in a name', job: { payload: { 'a\0b': 1 } } },
  { name: 'a payload with half a surrogate pair', job: { payload: ['\ud800'] } },
  { name: 'a payload with a number that JSON has not', job: { payload: [Number.NaN] } },
  { name: 'a payload that contains itself', job: { payload: cycle } },
  { name: 'a payload with a bigint', job: { payload: { big: 1n } } },
  { name: 'a payload that is a function', job: { payload: () => 1 } },
  { name: 'a payload with a Map', job: { payload: { map: new Map([[1, 2]]) } } },
  { name: 'a payload with undefined in an array', job: { payload: { list: [undefined] } } },
]

const accepted: { name: string; job: Partial<NewJob> }[] = [
  { name: 'a type of 200 characters', job: { type: 'x'.repeat(200) } },
  { name: 'a queue of 200 characters of two code units', job: { queue: '🎬'.repeat(200) } },
  { name: 'a dedupe key of 1000 characters', job: { dedupeKey: 'x'.repeat(1000) } },
  { name: 'the lowest priority', job: { priority: -32_768 } },
  { name: 'the highest priority', job: { priority: 32_767 } },
  { name: 'no delay', job: { delayMs: 0 } },
  { name: 'an expectation of 0', job: { expectedDurationMs: 0 } },
  { name: 'a maximum of 1', job: { maxAttempts: 1 } },
  { name: 'a maximum of 1000', job: { maxAttempts: 1000 } },
  { name: 'a payload of one text', job: { payload: 'text' } },
]

function describeRefusals<Tx>(
  opened: () => StoreHarness<Tx>,
  { leavesOutShared = false }: ConformanceOptions,
): void {
  // One is enough to show that the table's function checks it.
  it.each(leavesOutShared ? refused.slice(0, 1) : refused)('WORK-7 refuses $name', async ({ job }) => {
    const { store } = opened()
    await expect(store.enqueueJobs([{ type: TYPE, ...job }])).rejects.toMatchObject(invalidArgument)
  })

  it.each(accepted)('WORK-7 accepts $name', async ({ job }) => {
    const { store } = opened()
    expect(await readJob(store, await enqueueOne(store, job))).toMatchObject({ status: 'waiting' })
  })

  it('WORK-7 writes all jobs of a batch or none', async () => {
    const { store } = opened()
    const jobs = [{ type: TYPE }, { type: TYPE }, { type: '' }]
    await expect(store.enqueueJobs(jobs)).rejects.toMatchObject(invalidArgument)
    expect((await store.readHealth()).waiting).toBe(0)
  })
}

function describeDedupe<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-7 a dedupe key that a waiting job has answers that job', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { dedupeKey: 'clip-1' })
    expect(await store.enqueueJobs([{ type: TYPE, dedupeKey: 'clip-1' }])).toEqual([
      { jobId, outcome: 'duplicate' },
    ])
    expect((await store.readHealth()).waiting).toBe(1)
  })

  it('WORK-7 a dedupe key that a running job has answers that job', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store, { dedupeKey: 'clip-1' })
    expect(await store.enqueueJobs([{ type: TYPE, dedupeKey: 'clip-1' }])).toEqual([
      { jobId, outcome: 'duplicate' },
    ])
  })

  it('WORK-7 a dedupe key is free again once its job has ended', async () => {
    const { store } = opened()
    const claimed = await startOne(store, { dedupeKey: 'clip-1' })
    await complete(store, claimed)
    const [second] = await store.enqueueJobs([{ type: TYPE, dedupeKey: 'clip-1' }])
    expect(second?.outcome).toBe('created')
    expect(second?.jobId).not.toBe(claimed.jobId)
  })

  it('WORK-7 a dedupe key is free again once its job was cancelled', async () => {
    const { store } = opened()
    await cancel(store, await enqueueOne(store, { dedupeKey: 'clip-1' }))
    const [second] = await store.enqueueJobs([{ type: TYPE, dedupeKey: 'clip-1' }])
    expect(second?.outcome).toBe('created')
  })

  it('WORK-7 jobs of different types may have one dedupe key', async () => {
    const { store } = opened()
    const answers = await store.enqueueJobs([
      { type: 'asr', dedupeKey: 'clip-1' },
      { type: 'burnin', dedupeKey: 'clip-1' },
    ])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['created', 'created'])
  })

  it('WORK-7 of two equal dedupe keys in one batch the first is created and the second answers it', async () => {
    const { store } = opened()
    const [first, other, second] = await store.enqueueJobs([
      { type: TYPE, dedupeKey: 'clip-1', payload: 'first' },
      { type: TYPE, dedupeKey: 'clip-2' },
      { type: TYPE, dedupeKey: 'clip-1', payload: 'second' },
    ])
    expect([first?.outcome, other?.outcome, second?.outcome]).toEqual(['created', 'created', 'duplicate'])
    expect(second?.jobId).toBe(first?.jobId)
    expect((await readJob(store, first?.jobId ?? '')).payload).toBe('first')
  })

  it('WORK-7 of many equal dedupe keys enqueued at once one is created', async () => {
    const { store } = opened()
    const calls = Array.from({ length: 8 }, () => store.enqueueJobs([{ type: TYPE, dedupeKey: 'clip-1' }]))
    const answers = (await Promise.all(calls)).flat()
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1)
  })

  it('WORK-7 jobs without a dedupe key are never duplicates', async () => {
    const { store } = opened()
    expect(new Set(await enqueueMany(store, 3)).size).toBe(3)
  })
}

function describeEnqueueTransactions<Tx>(opened: () => StoreHarness<Tx>): void {
  it('WORK-5 a job enqueued in a transaction that rolls back never exists', async ({ skip }) => {
    const harness = opened()
    const inTransaction = transactionsOf(harness, skip)
    const attempt = inTransaction(async (tx) => {
      await harness.store.enqueueJobs([{ type: TYPE }], { tx })
      throw new Error('the caller changed its mind')
    })
    await expect(attempt).rejects.toThrow('the caller changed its mind')
    expect((await harness.store.readHealth()).waiting).toBe(0)
  })

  it('WORK-5 a job enqueued in a transaction is visible to others once it commits', async ({ skip }) => {
    const harness = opened()
    const { store } = harness
    const inTransaction = transactionsOf(harness, skip)
    const seenInside = await inTransaction(async (tx) => {
      await store.enqueueJobs([{ type: TYPE }], { tx })
      return claimMany(store)
    })
    expect(seenInside).toEqual([])
    expect(await claimMany(store)).toHaveLength(1)
  })
}
