import { describe, expect, it } from 'vitest'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { JobFacts } from '../../../policy/explain/job-facts.ts'
import type { JobStore } from '../../job-store.ts'
import {
  budgets,
  crashOnce,
  enqueueOne,
  expectAbout,
  fail,
  HOUR,
  MINUTE,
  MISSING_ID,
  plainPolicy,
  SECOND,
  startDead,
  startOne,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describeJobFacts(opened: () => TestBench): void {
  describe('readJobFacts', () => {
    describeWaiting(opened)
    describeHeldBack(opened)
    describeRunning(opened)
    describeEnded(opened)
  })
}

async function factsOf(store: JobStore, jobId: string): Promise<JobFacts> {
  const facts = await store.readJobFacts(jobId)
  if (facts === null) throw new Error(`there are no facts of job ${jobId}`)
  return facts
}

const codesOf = (facts: JobFacts) => explainJob(facts).reasons.map(({ code }) => code)

function describeWaiting(opened: () => TestBench): void {
  it('OPS-9 nothing holds back a due job', async () => {
    const { store } = opened()
    const facts = await factsOf(store, await enqueueOne(store))
    expect(facts).toMatchObject({
      status: 'waiting',
      type: TYPE,
      queue: TYPE,
      hasBudget: true,
      ahead: 0,
      pause: null,
      breaker: null,
      isLocked: false,
      leaseLeftMs: null,
    })
    expectAbout(facts.runInMs, 0)
    expect(explainJob(facts).verdict).toBe('runnable')
  })

  it('OPS-9 jobs that come first are counted: by priority, then by due time, and only those that are due', async () => {
    const { store } = opened()
    await enqueueOne(store)
    await enqueueOne(store, { delayMs: HOUR, priority: -5 })
    await enqueueOne(store, { queue: 'aside' })
    const jobId = await enqueueOne(store)
    await enqueueOne(store)
    await enqueueOne(store, { priority: -5 })
    expect((await factsOf(store, jobId)).ahead).toBe(2)
  })

  it('OPS-9 a reaped job waits out its backoff, and names its last worker', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [HOUR] })
    const claimed = await startOne(store, {}, { workerId: 'worker-9' })
    await crashOnce(bench, claimed)
    await bench.elapse(MINUTE)
    const facts = await factsOf(store, claimed.jobId)
    expectAbout(facts.runInMs, HOUR - MINUTE)
    expect(facts.lastEvent).toMatchObject({ type: 'reaper:requeued', details: { locked_by: 'worker-9' } })
    expectAbout(facts.lastEvent?.agoMs, MINUTE)
    expect(explainJob(facts).reasons).toMatchObject([
      { code: 'BACKOFF', isBlocking: true, message: expect.stringContaining('worker-9') },
    ])
  })

  it('C10 a job that failed has its counts, and budget left', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const claimed = await startOne(store, { maxAttempts: 3 })
    await fail(store, claimed)
    const facts = await store.readJobFacts(claimed.jobId, { policy: { failureBudget: 'failures' } })
    expect(facts).toMatchObject({ failures: 1, maxAttempts: 3, hasBudget: true })
  })
}

function describeHeldBack(opened: () => TestBench): void {
  it('OPS-9 a pause is named with who, why and how long', async () => {
    const bench = opened()
    const { store } = bench
    const jobId = await enqueueOne(store)
    await store.pauseQueue(TYPE, { actor: 'ana', reason: 'deploy', durationMs: HOUR })
    await bench.elapse(MINUTE)
    const { pause } = await factsOf(store, jobId)
    expect(pause).toMatchObject({ by: 'ana', reason: 'deploy' })
    expectAbout(pause?.sinceMs, MINUTE)
    expectAbout(pause?.leftMs, HOUR - MINUTE)
    await bench.elapse(HOUR)
    expect((await factsOf(store, jobId)).pause).toBeNull()
  })

  it('BREAK-2 an open breaker is named with its next probe, a hold with its reason', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store)
    await store.mapDependency(TYPE, 'gateway')
    expect((await factsOf(store, jobId)).breaker).toMatchObject({ name: 'gateway', state: 'closed' })
    await store.writeBreaker('gateway', { minCalls: 1, windowCalls: 1, cooldownMs: HOUR })
    await store.recordCalls('gateway', [{ isFailure: true }])
    const open = await factsOf(store, jobId)
    expect(open.breaker?.state).toBe('open')
    expectAbout(open.breaker?.nextProbeInMs, HOUR)
    expect(codesOf(open)).toEqual(['BREAKER_OPEN'])
    await store.holdBreaker('gateway', { actor: 'ana', reason: 'vendor asked' })
    const held = await factsOf(store, jobId)
    expect(held.breaker).toMatchObject({ state: 'held', by: 'ana', reason: 'vendor asked', heldForMs: null })
    expect(codesOf(held)).toEqual(['BREAKER_HELD'])
  })
}

function describeRunning(opened: () => TestBench): void {
  it('LEASE-2 a running job shows the rest of its lease and how long its worker has been silent', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const { jobId } = await startOne(store, {}, { workerId: 'worker-9', leaseMs: MINUTE })
    await bench.elapse(20 * SECOND)
    const facts = await factsOf(store, jobId)
    expect(facts).toMatchObject({ status: 'running', workerId: 'worker-9', runInMs: null, ahead: null })
    expectAbout(facts.leaseLeftMs, 40 * SECOND)
    expectAbout(facts.silentMs, 20 * SECOND)
    expect(explainJob(facts).verdict).toBe('running')
  })

  it('C11 an expired lease waits for a reaper, and a missing reaper is reported', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(plainPolicy)
    const { jobId } = await startOne(store, {}, { leaseMs: MINUTE })
    await bench.elapse(2 * MINUTE)
    const facts = await factsOf(store, jobId)
    expectAbout(facts.leaseLeftMs, -MINUTE)
    expect(facts.isLocked).toBe(false)
    expect(codesOf(facts)).toEqual(['LEASE_OVER_AWAITING_REAPER', 'NO_REAPER'])
  })

  it('WORK-6 a pending cancellation is shown', async () => {
    const { store } = opened()
    const { jobId } = await startOne(store)
    await store.cancelJobs([jobId])
    expect(codesOf(await factsOf(store, jobId))).toEqual(['LEASED', 'CANCEL_ASKED'])
  })
}

function describeEnded(opened: () => TestBench): void {
  it('OPS-9 a dead job reports when it ended and why', async () => {
    const bench = opened()
    const { store } = bench
    const claimed = await startOne(store)
    await fail(store, claimed, { code: 'GW_4XX', reason: 'no such file', category: 'PERMANENT' })
    await bench.elapse(HOUR)
    const facts = await factsOf(store, claimed.jobId)
    expect(facts.error).toEqual({ code: 'GW_4XX', reason: 'no such file', category: 'PERMANENT' })
    expectAbout(facts.endedAgoMs, HOUR)
    expect(codesOf(facts)).toEqual(['DEAD_PERMANENT'])
  })

  it('OPS-9 a job that does not exist has no facts, and reading changes nothing', async () => {
    const { store } = opened()
    expect(await store.readJobFacts(MISSING_ID)).toBeNull()
    const jobId = await startDead(store)
    const before = await store.getJob(jobId)
    await store.readJobFacts(jobId)
    expect(await store.getJob(jobId)).toEqual(before)
  })
}
