// Modes of a table, and the findings of sweeps in mode observe.
import { afterEach, describe, expect, it } from 'vitest'
import type { JobStore } from '../../job-store.ts'
import {
  beat,
  budgets,
  cancel,
  claimOne,
  complete,
  expectUnchanged,
  fail,
  MINUTE,
  plainPolicy,
  release,
  startMany,
  startOne,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const nothing = {
  wouldRequeue: 0,
  wouldDeadLetter: 0,
  wouldCancel: 0,
  cameBack: 0,
  stillStuck: 0,
  reaped: 0,
  gone: 0,
}
const reaper = { reaperId: 'reaper-1' }

/** Runs `start` in mode reap, then switches to observe. */
async function observe<T>(store: JobStore, start: () => Promise<T>): Promise<T> {
  await store.setMode('reap')
  await store.writePolicy({ ...plainPolicy, ...budgets.failures })
  const started = await start()
  await store.setMode('observe')
  return started
}

export function describeModes(opened: () => TestBench): void {
  describe('modes', () => {
    afterEach(() => opened().store.setMode('reap'))
    describeSetMode(opened)
    describeObserve(opened)
    describeOutcomes(opened)
  })
}

export function describeEnforce(opened: () => TestBench): void {
  describe('mode enforce', () => {
    afterEach(() => opened().store.setMode('reap'))
    describeForeignWriters(opened)
    describeEnforced(opened)
  })
}

function describeSetMode(opened: () => TestBench): void {
  it('OPS-7 the mode is reap, and stays what it was set to', async () => {
    const { store } = opened()
    expect(await store.readMode()).toMatchObject({ mode: 'reap', onForeignSettle: 'record' })
    const set = await store.setMode('observe')
    expect(set).toMatchObject({ mode: 'observe', since: expect.any(Date) })
    expect(await store.readMode()).toEqual(set)
  })

  it('OPS-7 setting the current mode again changes neither its start nor the observations', async () => {
    const { store, elapse } = opened()
    await observe(store, () => startOne(store))
    const { since } = await store.readMode()
    await elapse(2 * MINUTE)
    await sweep(store, { reaper })
    expect((await store.setMode('observe')).since).toEqual(since)
    expect(await store.readObservations()).toMatchObject({ ...nothing, wouldRequeue: 1, stillStuck: 1 })
  })

  it.each(['', 'off', 'ENFORCE'])('OPS-8 %j is no mode', async (mode) => {
    const { store } = opened()
    const set = store.setMode(mode as 'reap')
    await expect(set).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: /^mode: got/ })
  })
}

function describeForeignWriters(opened: () => TestBench): void {
  it('OPS-7 foreign outcomes are recorded unless set to be refused, and leaving the mode resets that', async () => {
    const { store } = opened()
    expect(await store.setMode('enforce', { onForeignSettle: 'refuse' })).toMatchObject({
      onForeignSettle: 'refuse',
    })
    expect(await store.setMode('enforce')).toMatchObject({ onForeignSettle: 'refuse' })
    expect(await store.setMode('reap')).toMatchObject({ onForeignSettle: 'record' })
    expect(await store.setMode('enforce')).toMatchObject({ onForeignSettle: 'record' })
  })

  it('OPS-8 the setting for foreign writers is refused in other modes', async () => {
    const { store } = opened()
    for (const mode of ['observe', 'reap'] as const)
      await expect(store.setMode(mode, { onForeignSettle: 'refuse' })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    const set = store.setMode('enforce', { onForeignSettle: 'ignore' as 'record' })
    await expect(set).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: /^on_foreign_settle: got/ })
    expect(await store.readMode()).toMatchObject({ mode: 'reap', onForeignSettle: 'record' })
  })
}

function describeObserve(opened: () => TestBench): void {
  it('OPS-7 in observe a reaper’s sweep touches no job, and reports each expired lease once', async () => {
    const { store, elapse } = opened()
    const { jobId } = await observe(store, () => startOne(store))
    await elapse(2 * MINUTE)
    await expectUnchanged(store, jobId, async () => {
      expect((await sweep(store, { reaper })).reaped).toMatchObject([
        { jobId, action: 'reported', reason: 'would_be_requeued' },
      ])
      expect((await sweep(store, { reaper })).reaped).toEqual([])
    })
    expect(await store.listEvents(jobId)).toEqual([])
    expect(await store.readObservations()).toEqual({
      ...nothing,
      since: expect.any(Date),
      wouldRequeue: 1,
      stillStuck: 1,
    })
  })

  it('OPS-7 in observe a sweep runs in steps, and records the reaper’s heartbeat', async () => {
    const { store, elapse } = opened()
    await observe(store, () => startMany(store, 5))
    await elapse(2 * MINUTE)
    expect((await store.readHealth()).reaperAgeMs).toBeNull()
    expect((await sweep(store, { reaper, limit: 2 })).reaped).toHaveLength(5)
    expect(await store.readHealth()).toMatchObject({ overdue: 5, reaperAgeMs: expect.any(Number) })
    expect(await store.readObservations()).toMatchObject({ wouldRequeue: 5, stillStuck: 5 })
  })

  it('OPS-7 in observe the verdict is that of the policy: requeue, dead letter, cancel', async () => {
    const { store, elapse } = opened()
    await observe(store, async () => {
      const asked = await startOne(store)
      await cancel(store, asked.jobId)
      await startOne(store)
    })
    await elapse(2 * MINUTE)
    await sweep(store, { reaper, policy: { maxCrashes: 1 } })
    expect(await store.readObservations()).toMatchObject({
      ...nothing,
      wouldCancel: 1,
      wouldDeadLetter: 1,
      stillStuck: 2,
    })
  })

  it('OPS-7 in observe a valid lease is not recorded', async () => {
    const { store } = opened()
    await observe(store, () => startOne(store))
    expect((await sweep(store, { reaper })).reaped).toEqual([])
    expect(await store.readObservations()).toMatchObject(nothing)
  })
}

function describeOutcomes(opened: () => TestBench): void {
  it('OPS-7 a lease that is renewed, or ended by its holder, counts as came back', async () => {
    const { store, elapse } = opened()
    const [renewed, ended] = await observe(store, () => startMany(store, 2))
    if (renewed === undefined || ended === undefined) throw new Error('two jobs were to be claimed')
    await elapse(2 * MINUTE)
    await sweep(store, { reaper })
    expect(await beat(store, renewed)).toBe('kept')
    expect(await complete(store, ended)).toBe('completed')
    const both = { ...nothing, wouldRequeue: 2, cameBack: 2 }
    expect(await store.readObservations()).toMatchObject(both)
    await sweep(store, { reaper })
    // Once it came back, that stays its outcome, even if it falls silent again.
    await elapse(2 * MINUTE)
    expect((await sweep(store, { reaper })).reaped).toEqual([])
    expect(await store.readObservations()).toMatchObject(both)
  })

  it('OPS-7 another lease of the same job is recorded again', async () => {
    const { store, elapse } = opened()
    const first = await observe(store, () => startOne(store))
    await elapse(2 * MINUTE)
    await sweep(store, { reaper })
    await release(store, first)
    await sweep(store, { reaper })
    expect(await store.readObservations()).toMatchObject({ ...nothing, wouldRequeue: 1, cameBack: 1 })
    await observe(store, () => claimOne(store))
    await elapse(2 * MINUTE)
    expect((await sweep(store, { reaper })).reaped).toMatchObject([{ jobId: first.jobId }])
    expect(await store.readObservations()).toMatchObject({ ...nothing, wouldRequeue: 1, stillStuck: 1 })
  })

  it('OPS-7 observations can be read after the mode was left, until it is set again', async () => {
    const { store, elapse } = opened()
    const lost = await observe(store, () => startOne(store))
    await elapse(2 * MINUTE)
    await sweep(store, { reaper })
    await store.setMode('reap')
    expect((await sweep(store, { reaper })).reaped).toMatchObject([{ jobId: lost.jobId, action: 'requeued' }])
    expect(await store.readObservations()).toMatchObject({ ...nothing, wouldRequeue: 1, stillStuck: 1 })
    await store.setMode('observe')
    expect(await store.readObservations()).toMatchObject(nothing)
  })
}

function describeEnforced(opened: () => TestBench): void {
  it.each(['record', 'refuse'] as const)(
    'OPS-7 our own verbs work in enforce/%s as usual, and record nothing foreign',
    async (onForeignSettle) => {
      const { store, elapse } = opened()
      await store.writePolicy({ ...plainPolicy, ...budgets.failures, events: 'all' })
      expect(await store.setMode('enforce', { onForeignSettle })).toMatchObject({
        mode: 'enforce',
        onForeignSettle,
      })
      const lease = await startOne(store)
      expect(await beat(store, lease)).toBe('kept')
      expect(await release(store, lease)).toBe('released')
      const failing = await claimOne(store)
      expect(await fail(store, failing)).toMatchObject({ outcome: 'retried' })
      const lost = await claimOne(store)
      await elapse(2 * MINUTE)
      expect((await sweep(store, { reaper })).reaped).toMatchObject([
        { jobId: lost.jobId, action: 'requeued' },
      ])
      const last = await claimOne(store)
      expect(await store.enterStage(last, 'upload')).toMatchObject({ outcome: 'entered' })
      expect(await fail(store, last, { isRetryable: false })).toMatchObject({ outcome: 'dead' })
      expect(await store.retryJobs([last.jobId])).toMatchObject([{ outcome: 'retried' }])
      expect(await complete(store, await claimOne(store))).toBe('completed')
      const types = (await store.listEvents(last.jobId)).map(({ type }) => type)
      expect(types.filter((type) => type.startsWith('foreign'))).toEqual([])
      expect(types.at(-1)).toBe('complete')
    },
  )
}
