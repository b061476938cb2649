import { describe, expect, it } from 'vitest'
import type { PolicyOverride } from '../../../policy/policy.ts'
import type { QueueStatus } from '../../ports/dependency-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  complete,
  enqueueMany,
  enqueueOne,
  expectAbout,
  HOUR,
  invalidArgument,
  MINUTE,
  MISSING_ID,
  plainPolicy,
  startDead,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

export function describeHealthAndPolicy(opened: () => TestBench, options: ConformanceOptions): void {
  describe('readHealth', () => {
    describeHealth(opened)
  })
  describe('readPolicy and writePolicy', () => {
    describePolicy(opened, options)
  })
  describe('getJob and listEvents', () => {
    it('SEE-5 a job that does not exist is null and has no events', async () => {
      const { store } = opened()
      expect(await store.getJob(MISSING_ID)).toBeNull()
      expect(await store.listEvents(MISSING_ID)).toEqual([])
    })
  })
}

function describeHealth(opened: () => TestBench): void {
  it('C11 an empty table is healthy', async () => {
    const { store } = opened()
    expect(await store.readHealth()).toEqual({
      waiting: 0,
      due: 0,
      running: 0,
      overdue: 0,
      oldestOverdueMs: null,
      oldestDueMs: null,
      unjudged: 0,
      reaperAgeMs: null,
      holdReason: null,
      releasedOften: 0,
      hidden: null,
      atLeast: [],
      queues: [],
    })
    expect(await store.readHidden()).toBe(null)
  })

  it('SEE-2 counts waiting and due jobs, and the age of the oldest', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store, { delayMs: 5 * MINUTE })
    await enqueueOne(store, { delayMs: 2 * HOUR })
    await elapse(HOUR)
    await enqueueOne(store)
    const health = await store.readHealth()
    expect(health).toMatchObject({ waiting: 3, due: 2, running: 0, overdue: 0 })
    expectAbout(health.oldestDueMs, 55 * MINUTE)
  })

  it('SEE-6 counts running jobs and those past their lease, and the lateness of the oldest', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(plainPolicy)
    await startOne(store)
    await elapse(10 * MINUTE)
    await startOne(store)
    await elapse(2 * MINUTE)
    await startOne(store)
    const health = await store.readHealth()
    expect(health).toMatchObject({ running: 3, overdue: 2, unjudged: 0 })
    expectAbout(health.oldestOverdueMs, 11 * MINUTE)
  })

  it('SEE-6 after a sweep nothing is past its lease', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await startOne(store)
    await elapse(10 * MINUTE)
    await sweep(store)
    expect(await store.readHealth()).toMatchObject({
      waiting: 1,
      running: 0,
      overdue: 0,
      oldestOverdueMs: null,
    })
  })

  it('SEE-2 ended jobs are not counted', async () => {
    const { store } = opened()
    await complete(store, await startOne(store))
    await startDead(store)
    expect(await store.readHealth()).toMatchObject({ waiting: 0, due: 0, running: 0, overdue: 0 })
  })

  it('OPS-16 counts stop at the limit and say so, and the oldest due job is found beyond it', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store, { priority: 9 })
    await elapse(HOUR)
    await enqueueMany(store, 6)
    await enqueueOne(store, { delayMs: HOUR })
    const health = await store.readHealth({ countLimit: 5 })
    expect(health).toMatchObject({ waiting: 5, due: 5, atLeast: ['waiting', 'due', 'releasedOften'] })
    expectAbout(health.oldestDueMs, HOUR)
    expect(await store.readHealth({ countLimit: 9 })).toMatchObject({ waiting: 8, due: 7, atLeast: [] })
  })

  it('OPS-16 its queues are those of listQueues, and its counts their sums', async () => {
    const { store } = opened()
    await enqueueMany(store, 6)
    await enqueueMany(store, 3, { type: 'mail' })
    await claimOne(store)
    await store.pauseQueue('quiet')
    for (const countLimit of [4, 100]) {
      const { queues, ...health } = await store.readHealth({ countLimit })
      const listed = (await store.listQueues({ countLimit })).queues
      // Time passes between the two.
      const untimed = (all: QueueStatus[]) => all.map(({ oldestDueMs: _ms, ...queue }) => queue)
      expect(untimed(queues)).toEqual(untimed(listed))
      const sum = (field: 'waiting' | 'due' | 'running') =>
        queues.reduce((total, queue) => total + queue[field], 0)
      expect(health).toMatchObject({ waiting: sum('waiting'), due: sum('due'), running: sum('running') })
      expect(queues.map(({ queue }) => queue)).toEqual([TYPE, 'mail', 'quiet'])
    }
  })

  it('OPS-16 running jobs are counted up to the limit too', async () => {
    const { store } = opened()
    await enqueueMany(store, 3)
    await claimMany(store)
    const atLeast = ['running', 'overdue', 'oldestOverdueMs', 'unjudged']
    expect(await store.readHealth({ countLimit: 3 })).toMatchObject({ running: 3, atLeast })
    expect(await store.readHealth({ countLimit: 4 })).toMatchObject({ running: 3, atLeast: [] })
  })

  it('OPS-8 a bad limit of counts is refused', async () => {
    const { store } = opened()
    for (const countLimit of [0, 1.5, 1_000_001]) {
      await expect(store.readHealth({ countLimit })).rejects.toMatchObject(invalidArgument)
      await expect(store.listQueues({ countLimit })).rejects.toMatchObject(invalidArgument)
    }
  })
}

const badPolicies = [
  { maxAttempts: 0 },
  { maxCrashes: 1001 },
  { maxTimeouts: 1.5 },
  { maxAttempts: '3' },
  { maxAttempts: null },
  { attemptCountedAt: 'sometimes' },
  { failureBudget: 'crashes' },
  { defaultLeaseMs: 0 },
  { defaultLeaseMs: 31_536_000_001 },
  { defaultDeadlineMs: -1 },
  { heartbeatMs: 0 },
  { stageLeasesMs: { a: 0 } },
  { stageLeasesMs: null },
  { stageLeasesMs: [] },
  { stageFactors: { a: 1001 } },
  { stageDeadlinesMs: { a: 0.5 } },
  { maxRuntimeMs: -1 },
  { typeRuntimesMs: { a: -1 } },
  { defaultStage: '' },
  { defaultStage: 'a'.repeat(201) },
  { reapBackoffStepsMs: [1, -1] },
  { failureBackoffStepsMs: [null] },
  { failureBackoffStepsMs: 5 },
  { failureBackoffMaxMs: Number.NaN },
  { requeueRatePerS: -1 },
  { legacyAgeRule: 'true' },
  { retentionDays: 0 },
  { events: 'none' },
  { maxAttempt: 3 },
  { keepCompleted: 'no' },
  { typeKeepCompleted: { encode: 1 } },
  { attemptCountedAt: 'failure', reapBudget: 'attempts' },
]

function describePolicy(opened: () => TestBench, { leavesOutShared = false }: ConformanceOptions): void {
  it('OPS-8 a change of the policy is stored, answered and in force with the next call', async () => {
    const { store } = opened()
    const before = await store.readPolicy()
    const answered = await store.writePolicy({ defaultLeaseMs: 77_000, defaultDeadlineMs: 0 })
    expect(answered).toEqual({ ...before, defaultLeaseMs: 77_000, defaultDeadlineMs: 0 })
    expect(await store.readPolicy()).toEqual(answered)
    expect((await startOne(store)).leaseMs).toBe(77_000)
  })

  it('OPS-8 maps of stages are merged key by key, everything else is replaced', async () => {
    const { store } = opened()
    await store.writePolicy({ stageLeasesMs: { a: 1_000, b: 2_000 }, reapBackoffStepsMs: [1_000, 2_000] })
    const policy = await store.writePolicy({ stageLeasesMs: { b: 3_000 }, reapBackoffStepsMs: [5_000] })
    expect(policy.stageLeasesMs).toMatchObject({ a: 1_000, b: 3_000 })
    expect(policy.reapBackoffStepsMs).toEqual([5_000])
  })

  it('OPS-8 the policy of one call decides that call and is not stored', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, stageLeasesMs: { a: 30 * MINUTE } })
    const before = await store.readPolicy()
    const policy = { defaultLeaseMs: 5 * MINUTE, stageLeasesMs: { b: 7 * MINUTE } }
    expect((await startOne(store, { stage: 'a' }, { policy })).leaseMs).toBe(30 * MINUTE)
    expect((await startOne(store, { stage: 'b' }, { policy })).leaseMs).toBe(7 * MINUTE)
    expect((await startOne(store, { stage: 'c' }, { policy })).leaseMs).toBe(5 * MINUTE)
    expect((await startOne(store, { stage: 'c' })).leaseMs).toBe(MINUTE)
    expect(await store.readPolicy()).toEqual(before)
  })

  // One is enough to show that the table's functions check it.
  it.each(leavesOutShared ? badPolicies.slice(0, 1) : badPolicies)(
    'OPS-8 %o is refused, stored or for one call, and changes nothing',
    async (change) => {
      const { store } = opened()
      const before = await store.readPolicy()
      await expect(store.writePolicy(change as never)).rejects.toMatchObject(invalidArgument)
      await expect(startOne(store, {}, { policy: change as never })).rejects.toMatchObject(invalidArgument)
      expect(await store.readPolicy()).toEqual(before)
    },
  )

  it('OPS-8 both ends of every range are accepted', async () => {
    const { store } = opened()
    const change: PolicyOverride = {
      maxAttempts: 1000,
      maxCrashes: 1,
      defaultLeaseMs: 31_536_000_000,
      defaultDeadlineMs: 0,
      stageFactors: { a: 0.5 },
      defaultStage: 'a'.repeat(200),
      reapBackoffStepsMs: [],
      requeueRatePerS: 0.5,
      retentionDays: 3650,
    }
    expect(await store.writePolicy(change)).toMatchObject(change)
  })
}
