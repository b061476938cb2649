import { expect, it } from 'vitest'
import {
  claimMany,
  claimOne,
  enqueueMany,
  enqueueOne,
  expectAbout,
  expectUnchanged,
  HOUR,
  MINUTE,
  SECOND,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'
import {
  hold,
  limited,
  NAME,
  openBreaker,
  openHalf,
  outcomes,
  readBreaker,
  stateOf,
} from './breaker-builders.ts'

export function describeLimits(opened: () => TestBench): void {
  it('RATE-6 a pause requested by a service applies to all workers until it ends', async () => {
    const { store, elapse } = opened()
    await store.mapDependency(TYPE, NAME)
    const jobId = await enqueueOne(store)
    const held = await store.recordCalls(NAME, limited(MINUTE))
    expect(held).toMatchObject({ state: 'held', reason: 'limited', changedBy: null, calls: 1, failures: 0 })
    expectAbout(held.heldForMs, MINUTE)
    await elapse(30 * SECOND)
    await expectUnchanged(store, jobId, async () => expect(await claimMany(store)).toEqual([]))
    await elapse(31 * SECOND)
    expect(await stateOf(store)).toBe('closed')
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('RATE-6 the longest of several pauses applies, and none shortens another', async () => {
    const { store } = opened()
    await store.recordCalls(NAME, [...limited(MINUTE), ...limited(10 * MINUTE), ...limited(0)])
    const { since } = await readBreaker(store)
    const again = await store.recordCalls(NAME, limited(SECOND))
    expectAbout(again.heldForMs, 10 * MINUTE)
    expect(again.since).toEqual(since)
    expectAbout((await store.recordCalls(NAME, limited(HOUR))).heldForMs, HOUR)
  })

  it('RATE-6 an operator’s hold is never shortened, and keeps its reason', async () => {
    const { store } = opened()
    await store.holdBreaker(NAME, { actor: 'ana', reason: 'maintenance', durationMs: MINUTE })
    const longer = await store.recordCalls(NAME, limited(HOUR))
    expect(longer).toMatchObject({ state: 'held', changedBy: 'ana', reason: 'maintenance' })
    expectAbout(longer.heldForMs, HOUR)
    await store.holdBreaker(NAME, { actor: 'ana', reason: 'maintenance' })
    expect(await store.recordCalls(NAME, limited(SECOND))).toMatchObject({ state: 'held', heldForMs: null })
  })

  it('RATE-6 a failed call that asks for a pause counts as a failure too', async () => {
    const { store, elapse } = opened()
    await store.writeBreaker(NAME, { ...hold, windowCalls: 2 })
    const held = await store.recordCalls(NAME, [...limited(MINUTE, true), ...limited(MINUTE, true)])
    expect(held).toMatchObject({ state: 'held', calls: 2, failures: 2, reason: 'calls-failed' })
    await elapse(MINUTE + SECOND)
    expect(await stateOf(store)).toBe('open')
  })

  it('RATE-6 a probe of a half-open breaker frees its slot, and counts neither as success nor as failure', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await openHalf(bench, { closeAfter: 1 })
    await enqueueMany(store, 2)
    const { jobId } = await claimOne(store)
    const call = { isFailure: false, jobId, limitedMs: MINUTE }
    expect(await store.recordCalls(NAME, [call])).toMatchObject({ state: 'held', successes: 0, probing: 0 })
    await elapse(MINUTE + SECOND)
    expect(await stateOf(store)).toBe('half-open')
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('RATE-6 an operator may end the pause', async () => {
    const { store } = opened()
    await store.mapDependency(TYPE, NAME)
    await enqueueOne(store)
    await store.recordCalls(NAME, limited(HOUR))
    expect((await store.resumeBreaker(NAME, { actor: 'ana' })).state).toBe('closed')
    expect(await claimMany(store)).toHaveLength(1)
  })
}

export function describeOperators(opened: () => TestBench): void {
  it('BREAK-2 an operator may hold a dependency, and resume it', async () => {
    const { store } = opened()
    await store.mapDependency(TYPE, NAME)
    const jobId = await enqueueOne(store)
    const held = await store.holdBreaker(NAME, { actor: 'ana', reason: 'maintenance' })
    expect(held).toMatchObject({ state: 'held', changedBy: 'ana', reason: 'maintenance', heldForMs: null })
    expect(await claimMany(store)).toEqual([])
    const resumed = await store.resumeBreaker(NAME, { actor: 'ben', reason: 'done' })
    expect(resumed).toMatchObject({ state: 'closed', changedBy: 'ben', reason: 'done' })
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('BREAK-2 a hold with a duration ends by itself', async () => {
    const { store, elapse } = opened()
    await store.mapDependency(TYPE, NAME)
    await enqueueOne(store)
    expectAbout((await store.holdBreaker(NAME, { durationMs: MINUTE })).heldForMs, MINUTE)
    await elapse(30 * SECOND)
    expect(await claimMany(store)).toEqual([])
    await elapse(31 * SECOND)
    expect(await stateOf(store)).toBe('closed')
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('BREAK-2 calls still count during a hold, and the operator’s reason stays', async () => {
    const { store, elapse } = opened()
    await store.writeBreaker(NAME, hold)
    await store.holdBreaker(NAME, { actor: 'ana', reason: 'maintenance', durationMs: 30 * SECOND })
    await store.recordCalls(NAME, outcomes(20))
    expect(await readBreaker(store)).toMatchObject({ state: 'held', changedBy: 'ana', reason: 'maintenance' })
    await elapse(31 * SECOND)
    expect(await stateOf(store)).toBe('open')
  })

  it('BREAK-3 resuming closes a breaker that failing calls opened, with an empty window', async () => {
    const { store } = opened()
    await openBreaker(store, hold)
    await enqueueOne(store)
    const resumed = await store.resumeBreaker(NAME, { actor: 'ana' })
    expect(resumed).toMatchObject({ state: 'closed', calls: 0, failures: 0, changedBy: 'ana' })
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('BREAK-3 resuming a closed breaker changes nothing', async () => {
    const { store } = opened()
    const before = await store.recordCalls(NAME, outcomes(2, 2))
    expect(await store.resumeBreaker(NAME, { actor: 'ana' })).toEqual(before)
  })
}
