import { describe, expect, it } from 'vitest'
import {
  claimOne,
  crashOnce,
  expectAbout,
  HOUR,
  invalidArgument,
  MINUTE,
  plainPolicy,
  SECOND,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const policy = { ...plainPolicy, sweepIntervalMs: 10 * SECOND }

export function describeSlo(opened: () => TestBench): void {
  describe('readSlo', () => {
    describeRescues(opened)

    it('SEE-6 shows jobs past their lease now, and for how long', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(policy)
      await startOne(store)
      await elapse(3 * MINUTE)
      const { staleLeases, oldestStuckMs, rescued } = await store.readSlo()
      expect([staleLeases, rescued]).toEqual([1, 0])
      expectAbout(oldestStuckMs, 2 * MINUTE)
    })

    it('OPS-8 a bad window and a bad poll are refused', async () => {
      const { store } = opened()
      for (const request of [{ windowMs: 0 }, { windowMs: -1 }, { pollMs: -1 }])
        await expect(store.readSlo(request)).rejects.toMatchObject(invalidArgument)
    })
  })
}

function describeRescues(opened: () => TestBench): void {
  it('SEE-6 without a rescue only the promise is set', async () => {
    const { store } = opened()
    await store.writePolicy(policy)
    await startOne(store)
    expect(await store.readSlo({ pollMs: 2_000 })).toEqual({
      rescued: 0,
      inTime: 0,
      share: null,
      p50Ms: null,
      p95Ms: null,
      worstMs: null,
      promiseMs: MINUTE + 12 * SECOND,
      oldestStuckMs: null,
      staleLeases: 0,
      byCause: { crash: 0, timeout: 0, 'worker-gone': 0 },
    })
  })

  it('SEE-6 a rescue lasts from the last heartbeat to the next claim, and is in time or not', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy(policy)
    await crashOnce(bench, await startOne(store))
    await claimOne(store)
    const swift = await store.readSlo()
    expect(swift).toMatchObject({ rescued: 1, inTime: 1, share: 1 })
    expectAbout(swift.worstMs, MINUTE + SECOND)
    await crashOnce(bench, await startOne(store, { type: 'late' }))
    await elapse(20 * SECOND)
    await claimOne(store, { queues: ['late'] })
    const slow = await store.readSlo()
    expect(slow).toMatchObject({ rescued: 2, inTime: 1, share: 0.5 })
    expectAbout(slow.p50Ms, MINUTE + SECOND)
    expectAbout(slow.p95Ms, MINUTE + 21 * SECOND)
    expectAbout(slow.worstMs, MINUTE + 21 * SECOND)
  })

  it('SEE-6 REAP-10 rescues are counted by their cause', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...policy, stageDeadlinesMs: { hung: 30 * SECOND } })
    await crashOnce(bench, await startOne(store))
    await startOne(store, { type: 'hung' }, { queues: ['hung'] })
    await elapse(2 * MINUTE)
    await store.sweepJobs()
    await claimOne(store)
    await claimOne(store, { queues: ['hung'] })
    expect((await store.readSlo()).byCause).toEqual({ crash: 1, timeout: 1, 'worker-gone': 0 })
  })

  it('SEE-6 the backoff is not counted, and each job is held to its own lease', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy({ ...policy, reapBackoffStepsMs: [10 * MINUTE] })
    await crashOnce(bench, await startOne(store, {}, { leaseMs: 5 * MINUTE }))
    await elapse(10 * MINUTE + SECOND)
    await claimOne(store)
    const slo = await store.readSlo()
    expect(slo).toMatchObject({ rescued: 1, inTime: 1 })
    expectAbout(slo.worstMs, 5 * MINUTE + 2 * SECOND)
  })

  it('SEE-6 only the window counts', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy(policy)
    await crashOnce(bench, await startOne(store))
    await claimOne(store)
    await elapse(HOUR)
    expect(await store.readSlo({ windowMs: 2 * HOUR })).toMatchObject({ rescued: 1 })
    expect(await store.readSlo({ windowMs: MINUTE })).toMatchObject({ rescued: 0, share: null })
  })
}
