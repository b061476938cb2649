import { describe, expect, it } from 'vitest'
import {
  claimMany,
  claimOne,
  complete,
  enqueueOne,
  expectAbout,
  expectUnchanged,
  HOUR,
  invalidArgument,
  MINUTE,
  SECOND,
  startOne,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { hold, limited, NAME, openBreaker, outcomes, readBreaker, stateOf } from './breaker-builders.ts'
import { describeLimits, describeOperators } from './breaker-holds.ts'
import { describeHealthProbes, describeReopening } from './breaker-recovery.ts'

export function describeBreaker(opened: () => TestBench): void {
  describe('breakers', () => {
    describeWindow(opened)
    describeOpen(opened)
    describeHealthProbes(opened)
    describeReopening(opened)
    describeLimits(opened)
    describeOperators(opened)
    describeSharing(opened)
  })
}

function describeWindow(opened: () => TestBench): void {
  it('BREAK-1 half of the last 20 calls failing opens the breaker', async () => {
    const { store } = opened()
    await store.writeBreaker(NAME, hold)
    expect((await store.recordCalls(NAME, outcomes(0, 11))).state).toBe('closed')
    expect((await store.recordCalls(NAME, outcomes(9))).state).toBe('closed')
    const breaker = await store.recordCalls(NAME, outcomes(1))
    expect(breaker).toMatchObject({ state: 'open', calls: 20, failures: 10, reason: 'calls-failed' })
    expect(breaker.changedBy).toBeNull()
    expectAbout(breaker.nextProbeInMs, MINUTE)
  })

  it('BREAK-1 the last calls are listed in order, with times if the window has an age', async () => {
    const { store } = opened()
    const kinds = async () => (await readBreaker(store)).lastCalls.map(({ isFailure }) => isFailure)
    await store.recordCalls(NAME, [{ isFailure: true }, { isFailure: false }])
    expect((await readBreaker(store)).lastCalls).toEqual([
      { isFailure: true, at: null },
      { isFailure: false, at: null },
    ])
    await store.writeBreaker(NAME, { windowCalls: 30, windowMs: MINUTE })
    await store.recordCalls(NAME, outcomes(1, 19))
    expect(await kinds()).toEqual([...Array.from({ length: 19 }, () => false), true])
    expect((await readBreaker(store)).lastCalls.every(({ at }) => at instanceof Date)).toBe(true)
  })

  it('BREAK-1 the window slides: calls before its last ones no longer count', async () => {
    const { store } = opened()
    await store.recordCalls(NAME, outcomes(4, 6))
    await store.recordCalls(NAME, outcomes(0, 20))
    expect(await readBreaker(store)).toMatchObject({ state: 'closed', calls: 20, failures: 0 })
    expect((await store.recordCalls(NAME, outcomes(9))).state).toBe('closed')
    expect((await store.recordCalls(NAME, outcomes(1))).state).not.toBe('closed')
  })

  it('BREAK-1 a batch of calls is judged as a whole, by the window after it', async () => {
    const { store } = opened()
    const calls = [...outcomes(19), ...outcomes(0, 20)]
    expect(await store.recordCalls(NAME, calls)).toMatchObject({ state: 'closed', calls: 20, failures: 0 })
    expect((await store.recordCalls(NAME, [])).state).toBe('closed')
  })

  it('BREAK-1 fewer than ten calls never open it, unless configured', async () => {
    const { store } = opened()
    expect((await store.recordCalls(NAME, outcomes(9))).state).toBe('closed')
    expect((await store.recordCalls(NAME, outcomes(1))).state).not.toBe('closed')
    await store.writeBreaker('early', { minCalls: 2 })
    expect((await store.recordCalls('early', outcomes(2))).state).not.toBe('closed')
    await store.writeBreaker('narrow', { windowCalls: 3 })
    expect((await store.recordCalls('narrow', outcomes(3))).state).not.toBe('closed')
  })

  it('BREAK-1 window and threshold are settings', async () => {
    const { store } = opened()
    await store.writeBreaker(NAME, { windowCalls: 100, minCalls: 100, failThreshold: 0.07 })
    expect((await store.recordCalls(NAME, outcomes(6, 94))).state).toBe('closed')
    expect(await store.recordCalls(NAME, outcomes(1))).toMatchObject({ failures: 7, calls: 100 })
    expect(await stateOf(store)).not.toBe('closed')
  })

  it('BREAK-1 a smaller window keeps the newest calls', async () => {
    const { store } = opened()
    await store.recordCalls(NAME, [...outcomes(4, 6), ...outcomes(0, 4)])
    expect(await store.writeBreaker(NAME, { windowCalls: 5 })).toMatchObject({ calls: 5, failures: 1 })
  })

  it('BREAK-1 calls older than the time window no longer count', async () => {
    const { store, elapse } = opened()
    await store.writeBreaker(NAME, { ...hold, windowMs: MINUTE })
    await store.recordCalls(NAME, outcomes(4, 5))
    await elapse(40 * SECOND)
    expect(await store.recordCalls(NAME, outcomes(0, 3))).toMatchObject({ calls: 12, failures: 4 })
    await elapse(30 * SECOND)
    expect(await readBreaker(store)).toMatchObject({ state: 'closed', calls: 3, failures: 0 })
    expect(await store.recordCalls(NAME, outcomes(6))).toMatchObject({
      state: 'closed',
      calls: 9,
      failures: 6,
    })
    expect(await store.recordCalls(NAME, outcomes(1))).toMatchObject({
      state: 'open',
      calls: 10,
      failures: 7,
    })
  })

  it('BREAK-1 without a time window the last calls count, however old they are', async () => {
    const { store, elapse } = opened()
    await store.writeBreaker(NAME, hold)
    await store.recordCalls(NAME, outcomes(5, 4))
    await elapse(HOUR)
    expect(await store.recordCalls(NAME, outcomes(1))).toMatchObject({
      state: 'open',
      calls: 10,
      failures: 6,
    })
  })

  it('BREAK-1 a time window can be set and removed at any time; calls of unknown age count as new', async () => {
    const { store, elapse } = opened()
    await store.recordCalls(NAME, outcomes(2, 2))
    await elapse(HOUR)
    const set = await store.writeBreaker(NAME, { windowMs: MINUTE })
    expect(set).toMatchObject({ calls: 4, settings: { windowMs: MINUTE } })
    await elapse(30 * SECOND)
    expect(await store.recordCalls(NAME, outcomes(0, 2))).toMatchObject({ calls: 6 })
    expect(await store.writeBreaker(NAME, { windowCalls: 3 })).toMatchObject({ calls: 3, failures: 1 })
    await elapse(31 * SECOND)
    const taken = await store.writeBreaker(NAME, { windowMs: null })
    expect(taken).toMatchObject({ calls: 2, failures: 0, settings: { windowMs: null } })
    await elapse(HOUR)
    expect(await readBreaker(store)).toMatchObject({ calls: 2 })
  })

  it('OPS-8 bad settings, names and calls are refused and change nothing', async () => {
    const { store } = opened()
    const bad = [
      { windowCalls: 0 },
      { windowCalls: 1.5 },
      { failThreshold: 0 },
      { failThreshold: 1.1 },
      { cooldownMs: -1 },
      { probeSlots: 0 },
      { mode: 'sometimes' },
      { closeAfter: null },
      { windowMs: 0 },
      { windowMs: 1.5 },
      { window: 20 },
    ]
    for (const change of bad)
      await expect(store.writeBreaker(NAME, change as never)).rejects.toMatchObject(invalidArgument)
    await expect(store.recordCalls('', [])).rejects.toMatchObject(invalidArgument)
    await expect(store.recordCalls(NAME, [{}])).rejects.toMatchObject(invalidArgument)
    for (const limitedMs of [-1, 400 * 24 * HOUR])
      await expect(store.recordCalls(NAME, limited(limitedMs))).rejects.toMatchObject(invalidArgument)
    await expect(store.holdBreaker(NAME, { durationMs: 0 })).rejects.toMatchObject(invalidArgument)
    await expect(store.deleteBreaker('')).rejects.toMatchObject(invalidArgument)
    await expect(store.mapDependency('', NAME)).rejects.toMatchObject(invalidArgument)
    expect(await store.listBreakers()).toEqual([])
  })
}

function describeOpen(opened: () => TestBench): void {
  it('BREAK-2 RATE-5 an open breaker lets no job be claimed, and changes none', async () => {
    const { store } = opened()
    await openBreaker(store, hold)
    const jobId = await enqueueOne(store, { maxAttempts: 1 })
    await expectUnchanged(store, jobId, async () => {
      for (let nth = 0; nth < 5; nth += 1) expect(await claimMany(store)).toEqual([])
      expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    })
    expect(await store.readHealth()).toMatchObject({ waiting: 1, due: 1 })
  })

  it('BREAK-2 jobs that run when it opens continue and complete', async () => {
    const { store } = opened()
    const claimed = await startOne(store)
    await openBreaker(store, hold)
    expect(await complete(store, claimed)).toBe('completed')
  })

  it('BREAK-2 other queues are claimed as usual', async () => {
    const { store } = opened()
    await openBreaker(store, hold)
    await enqueueOne(store)
    const other = await enqueueOne(store, { type: 'mail' })
    const claimed = await claimMany(store, { queues: [TYPE, 'mail'] })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([other])
  })

  it('BREAK-2 a queue unbound from its dependency is claimed again', async () => {
    const { store } = opened()
    await openBreaker(store, hold)
    const jobId = await enqueueOne(store)
    expect(await store.mapDependency(TYPE, NAME)).toBe(false)
    expect(await store.mapDependency(TYPE, null)).toBe(true)
    expect(await store.mapDependency(TYPE, null)).toBe(false)
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('BREAK-2 late calls of earlier jobs change nothing', async () => {
    const { store } = opened()
    await openBreaker(store, hold)
    const before = await readBreaker(store)
    await store.recordCalls(NAME, outcomes(5, 50))
    expect(await readBreaker(store)).toMatchObject({
      state: 'open',
      calls: before.calls,
      since: before.since,
    })
  })
}

function describeSharing(opened: () => TestBench): void {
  it('BREAK-4 a breaker without queues can be deleted, with its settings', async () => {
    const { store } = opened()
    expect(await store.deleteBreaker(NAME)).toBe('not-found')
    await openBreaker(store, hold)
    expect(await store.deleteBreaker(NAME)).toBe('in-use')
    expect(await stateOf(store)).toBe('open')
    await store.mapDependency(TYPE, null)
    expect(await store.deleteBreaker(NAME)).toBe('deleted')
    expect(await store.listBreakers()).toEqual([])
    const { settings } = await store.recordCalls(NAME, [])
    expect(settings).toMatchObject({ mode: 'half-open', cooldownMs: 30 * SECOND })
  })

  it('BREAK-4 lists every breaker with its settings and queues', async () => {
    const { store, elapse } = opened()
    await store.mapDependency('mail', NAME)
    await store.mapDependency(TYPE, NAME)
    await store.recordCalls('archive', outcomes(1, 2))
    await openBreaker(store, hold)
    await elapse(10 * SECOND)
    const [archive, gateway, ...others] = await store.listBreakers()
    expect(others).toEqual([])
    expect(archive).toMatchObject({ name: 'archive', state: 'closed', calls: 3, failures: 1, queues: [] })
    expect(gateway).toMatchObject({ name: NAME, state: 'open', settings: { mode: 'hold', windowCalls: 20 } })
    expect(gateway?.queues.map(({ queue }) => queue)).toEqual([TYPE, 'mail'].toSorted())
    expectAbout(gateway?.nextProbeInMs, 50 * SECOND)
  })

  it('BREAK-4 an unconfigured breaker has the documented settings', async () => {
    const { store } = opened()
    await store.mapDependency(TYPE, NAME)
    expect(await readBreaker(store)).toMatchObject({
      state: 'closed',
      changedBy: null,
      settings: {
        mode: 'half-open',
        windowCalls: 20,
        windowMs: null,
        minCalls: 10,
        failThreshold: 0.5,
        cooldownMs: 30 * SECOND,
        closeAfter: 3,
        probeIntervalMs: SECOND,
        probeSlots: 1,
        probeTimeoutMs: MINUTE,
      },
    })
  })
}
