import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../../job/job.ts'
import type { EnqueuedJob, JobStore } from '../../job-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  complete,
  enqueueOne,
  expectAbout,
  fail,
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
import type { StoreHarness } from '../harness.ts'

async function enqueue(store: JobStore, job: Partial<NewJob>): Promise<EnqueuedJob> {
  const [answer] = await store.enqueueJobs([{ type: TYPE, ...job }])
  if (answer === undefined) throw new Error('enqueueing one job answered nothing')
  return answer
}

/** Dedupe keys with a window, and those that replace the waiting job. */
export function describeDedupeRules<Tx>(opened: () => StoreHarness<Tx>): void {
  describe('dedupe rules', () => {
    describeWindows(opened)
    describeReplacements(opened)
  })
}

function describeWindows<Tx>(opened: () => StoreHarness<Tx>): void {
  const dedupe = { key: 'daily', forMs: HOUR }

  it('FAIL-8 a key with a window stays taken after its job has ended', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store, { dedupe })
    await complete(store, claimed)
    await elapse(HOUR - MINUTE)
    expect(await enqueue(store, { dedupe })).toEqual({ jobId: claimed.jobId, outcome: 'duplicate' })
    await elapse(2 * MINUTE)
    expect((await enqueue(store, { dedupe })).outcome).toBe('created')
  })

  it('FAIL-8 the window counts from the job that took it, not from refused ones', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    await complete(store, await startOne(store, { dedupe }))
    await elapse(HOUR - MINUTE)
    expect((await enqueue(store, { dedupe })).outcome).toBe('duplicate')
    await elapse(2 * MINUTE)
    expect((await enqueue(store, { dedupe })).outcome).toBe('created')
  })

  it('FAIL-8 after the window an unfinished job still has the key, and takes no new window', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const claimed = await startOne(store, { dedupe }, { leaseMs: 3 * HOUR })
    await elapse(HOUR + MINUTE)
    expect(await enqueue(store, { dedupe })).toEqual({ jobId: claimed.jobId, outcome: 'duplicate' })
    await complete(store, claimed)
    expect((await enqueue(store, { dedupe })).outcome).toBe('created')
  })

  it('FAIL-8 a window is of its type and key, and binds only jobs that ask for one', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    await complete(store, await startOne(store, { dedupe }))
    const others = [
      { dedupe: { ...dedupe, key: 'other' } },
      { type: 'other', dedupe },
      { dedupeKey: 'daily' },
    ]
    for (const other of others) expect((await enqueue(store, other)).outcome).toBe('created')
  })

  it('FAIL-8 of several jobs of one call with a window, the first is written', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const answers = await store.enqueueJobs([1, 2, 3].map((payload) => ({ type: TYPE, payload, dedupe })))
    expect(answers.map(({ outcome }) => outcome)).toEqual(['created', 'duplicate', 'duplicate'])
    expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1)
    expect((await readJob(store, answers[0]?.jobId ?? '')).payload).toBe(1)
  })

  it('FAIL-8 several jobs of one call with a window are duplicates of the unfinished job that has the key', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { dedupeKey: dedupe.key })
    const answers = await store.enqueueJobs([1, 2].map((payload) => ({ type: TYPE, payload, dedupe })))
    expect(answers).toEqual([
      { jobId, outcome: 'duplicate' },
      { jobId, outcome: 'duplicate' },
    ])
  })

  it('FAIL-8 refuses a window without a length, and a window beside a replacement', async () => {
    const { store } = opened()
    for (const rule of [{ forMs: 0 }, { forMs: -1 }, { forMs: HOUR, replace: true }])
      await expect(enqueue(store, { dedupe: { key: 'k', ...rule } })).rejects.toMatchObject(invalidArgument)
  })
}

function describeReplacements<Tx>(opened: () => StoreHarness<Tx>): void {
  const dedupe = { key: 'index:7', replace: true }

  it('FAIL-8 a waiting job with the key gets the fields of the new one, under its own id', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { dedupe, payload: { page: 1 }, priority: 5, owner: 'ana' })
    const replaced = await enqueue(store, {
      dedupe,
      payload: { page: 2 },
      priority: 1,
      retry: { attempts: 9 },
    })
    expect(replaced).toEqual({ jobId, outcome: 'replaced' })
    const fields = { payload: { page: 2 }, priority: 1, owner: null, maxAttempts: 9, generation: 2 }
    expect(await readJob(store, jobId)).toMatchObject({ ...fields, status: 'waiting', dedupeKey: 'index:7' })
    expect(await claimMany(store)).toMatchObject([{ jobId, payload: { page: 2 } }])
  })

  it('FAIL-8 with a delay it debounces: the last call moves the time', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { dedupe, delayMs: MINUTE })
    await elapse(40 * SECOND)
    await enqueueOne(store, { dedupe, delayMs: MINUTE, payload: 'last' })
    expectAbout((await readJob(store, jobId)).runAt?.getTime(), (await storeNow(store)) + MINUTE)
    await elapse(40 * SECOND)
    expect(await claimMany(store)).toEqual([])
    await elapse(30 * SECOND)
    expect(await claimMany(store)).toMatchObject([{ jobId, payload: 'last' }])
  })

  it('FAIL-8 a running job gives the key to a new job, and keeps its lease', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const running = await startOne(store, { dedupe, payload: 'old' })
    const created = await enqueue(store, { dedupe, payload: 'new' })
    expect(created.outcome).toBe('created')
    expect(created.jobId).not.toBe(running.jobId)
    expect(await complete(store, running)).toBe('completed')
    expect(await claimOne(store)).toMatchObject({ jobId: created.jobId, payload: 'new' })
  })

  it('FAIL-8 a job in backoff starts again with what replaced it', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, failureBackoffStepsMs: [HOUR] })
    const claimed = await startOne(store, { dedupe })
    await fail(store, claimed, { code: 'GW_5XX' })
    expect(await enqueue(store, { dedupe })).toEqual({ jobId: claimed.jobId, outcome: 'replaced' })
    const expected = { failures: 0, attempt: 0, error: null, runAt: null, generation: 2 }
    expect(await readJob(store, claimed.jobId)).toMatchObject(expected)
    expect(await claimOne(store)).toMatchObject({ jobId: claimed.jobId, generation: 2 })
  })

  it('FAIL-8 of several replacements of one call the last counts', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobs = ['a', 'b', 'c'].map((payload) => ({ type: TYPE, payload, dedupe }))
    const first = await store.enqueueJobs(jobs)
    expect(first.map(({ outcome }) => outcome)).toEqual(['replaced', 'replaced', 'created'])
    expect(new Set(first.map(({ jobId }) => jobId)).size).toBe(1)
    expect((await readJob(store, first[0]?.jobId ?? '')).payload).toBe('c')
    const second = await store.enqueueJobs(jobs)
    expect(second.map(({ outcome }) => outcome)).toEqual(['replaced', 'replaced', 'replaced'])
  })

  it('FAIL-8 a replacement changes a plain job of the same call that came before it', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const answers = await store.enqueueJobs([
      { type: TYPE, payload: 'plain', dedupeKey: dedupe.key },
      { type: TYPE, payload: 'replacing', dedupe },
    ])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['created', 'replaced'])
    expect((await readJob(store, answers[0]?.jobId ?? '')).payload).toBe('replacing')
  })

  it('FAIL-8 a running job gives its key to the first job of a call that has a replacing one', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const running = await startOne(store, { dedupe, payload: 'old' })
    const answers = await store.enqueueJobs([
      { type: TYPE, payload: 'plain', dedupeKey: dedupe.key },
      { type: TYPE, payload: 'replacing', dedupe },
    ])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['created', 'replaced'])
    expect(answers[0]?.jobId).toBe(answers[1]?.jobId)
    expect((await readJob(store, answers[0]?.jobId ?? '')).payload).toBe('replacing')
    expect(await complete(store, running)).toBe('completed')
  })

  it('FAIL-8 a plain job beside a replacing one of the same key is a duplicate', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const jobId = await enqueueOne(store, { dedupe, payload: 'kept' })
    expect(await enqueue(store, { dedupeKey: dedupe.key, payload: 'lost' })).toEqual({
      jobId,
      outcome: 'duplicate',
    })
    expect((await readJob(store, jobId)).payload).toBe('kept')
  })
}
