import { expect, it } from 'vitest'
import {
  budgets,
  claimMany,
  claimOne,
  enqueueMany,
  enqueueOne,
  expectAbout,
  MINUTE,
  plainPolicy,
  SECOND,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'
import { hold, NAME, openBreaker, openHalf, outcomes, readBreaker } from './breaker-builders.ts'

export function describeHealthProbes(opened: () => TestBench): void {
  it('BREAK-3 three good probes after the cooldown close it, and jobs are claimed again', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await openBreaker(store, hold)
    const jobId = await enqueueOne(store)
    await elapse(MINUTE + SECOND)
    for (const successes of [1, 2]) {
      expect(await store.recordProbe(NAME, true)).toMatchObject({ state: 'open', successes })
      expect(await claimMany(store)).toEqual([])
      await elapse(2 * SECOND)
    }
    const breaker = await store.recordProbe(NAME, true)
    expect(breaker).toMatchObject({
      state: 'closed',
      calls: 0,
      reason: 'probes-succeeded',
      nextProbeInMs: null,
    })
    expect(await claimOne(store)).toMatchObject({ jobId, attempt: 1 })
  })

  it('BREAK-3 good probes count once per interval, however many workers probe', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, { ...hold, probeIntervalMs: 10 * SECOND })
    await elapse(MINUTE + SECOND)
    for (let nth = 0; nth < 5; nth += 1) await store.recordProbe(NAME, true)
    const breaker = await readBreaker(store)
    expect(breaker).toMatchObject({ state: 'open', successes: 1 })
    expectAbout(breaker.nextProbeInMs, 10 * SECOND)
  })

  it('BREAK-3 a probe during the cooldown changes nothing', async () => {
    const { store } = opened()
    await openBreaker(store, { ...hold, closeAfter: 1 })
    expect(await store.recordProbe(NAME, true)).toMatchObject({ state: 'open', successes: 0 })
  })

  it('BREAK-3 a failed probe restarts the cooldown and the count of successes', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, hold)
    await elapse(MINUTE + SECOND)
    await store.recordProbe(NAME, true)
    const breaker = await store.recordProbe(NAME, false)
    expect(breaker).toMatchObject({ state: 'open', successes: 0 })
    expectAbout(breaker.nextProbeInMs, MINUTE)
    await elapse(30 * SECOND)
    expect((await store.recordProbe(NAME, true)).successes).toBe(0)
  })

  it('BREAK-3 a failed probe does not change when it opened', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, hold)
    await elapse(2 * MINUTE)
    const { since } = await readBreaker(store)
    expect((await store.recordProbe(NAME, false)).since).toEqual(since)
  })

  it('BREAK-3 a closed breaker ignores probes', async () => {
    const { store } = opened()
    expect(await store.recordProbe(NAME, false)).toMatchObject({ state: 'closed', nextProbeInMs: null })
  })

  it('BREAK-3 mode hold admits no job, however long it lasts', async () => {
    const { store, elapse } = opened()
    await openBreaker(store, hold)
    await enqueueOne(store)
    await elapse(60 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    expect(await readBreaker(store)).toMatchObject({ state: 'open', nextProbeInMs: 0 })
  })
}

export function describeReopening(opened: () => TestBench): void {
  /** Opens by failing calls, waits for the probes, and closes after one. Returns the cooldown. */
  async function flap({ store, elapse }: TestBench): Promise<number> {
    const { nextProbeInMs, reopens } = await store.recordCalls(NAME, outcomes(20))
    await elapse((nextProbeInMs ?? 0) + SECOND)
    expect(await store.recordProbe(NAME, true)).toMatchObject({ state: 'closed', reopens })
    return nextProbeInMs ?? 0
  }

  it('BREAK-3 in mode hold each consecutive reopening doubles the cooldown, up to an hour', async () => {
    const bench = opened()
    await bench.store.writeBreaker(NAME, { ...hold, closeAfter: 1 })
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) expectAbout(await flap(bench), minutes * MINUTE)
    expect((await bench.store.recordCalls(NAME, outcomes(20))).reopens).toBe(8)
  })

  it('BREAK-3 a failed probe restarts the same cooldown, without doubling it', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writeBreaker(NAME, { ...hold, closeAfter: 1 })
    await flap(bench)
    await store.recordCalls(NAME, outcomes(20))
    for (let nth = 0; nth < 2; nth += 1) {
      await elapse(2 * MINUTE + SECOND)
      const probed = await store.recordProbe(NAME, false)
      expect(probed.reopens).toBe(1)
      expectAbout(probed.nextProbeInMs, 2 * MINUTE)
    }
  })

  it('BREAK-3 a breaker that stayed closed for ten cooldowns begins with the first again', async () => {
    const bench = opened()
    await bench.store.writeBreaker(NAME, { ...hold, closeAfter: 1 })
    await flap(bench)
    await flap(bench)
    await bench.elapse(10 * MINUTE + SECOND)
    expectAbout(await flap(bench), MINUTE)
  })

  it('BREAK-3 an operator’s resume resets the count', async () => {
    const bench = opened()
    const { store } = bench
    await store.writeBreaker(NAME, { ...hold, closeAfter: 1 })
    await flap(bench)
    await store.recordCalls(NAME, outcomes(20))
    expect(await store.resumeBreaker(NAME)).toMatchObject({ state: 'closed', reopens: 0 })
    expectAbout((await store.recordCalls(NAME, outcomes(20))).nextProbeInMs, MINUTE)
  })

  it('BREAK-3 in mode half-open the cooldown stays constant', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await openHalf(bench)
    await enqueueMany(store, 3)
    for (const reopens of [1, 2]) {
      const { jobId } = await claimOne(store)
      const breaker = await store.recordCalls(NAME, [{ isFailure: true, jobId }])
      expect(breaker.reopens).toBe(reopens)
      expectAbout(breaker.nextProbeInMs, MINUTE)
      await elapse(MINUTE + SECOND)
    }
  })
}
