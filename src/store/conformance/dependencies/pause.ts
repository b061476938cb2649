import { describe, expect, it } from 'vitest'
import type { JobStore } from '../../job-store.ts'
import type { QueueStatus } from '../../ports/dependency-store.ts'
import {
  claimMany,
  claimOne,
  complete,
  enqueueMany,
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

async function readQueue(store: JobStore, name: string): Promise<QueueStatus | undefined> {
  return (await store.listQueues()).queues.find(({ queue }) => queue === name)
}

export function describePause(opened: () => TestBench): void {
  describe('queues', () => {
    describePauses(opened)
    describeListing(opened)
  })
}

function describePauses(opened: () => TestBench): void {
  it('BREAK-2 RATE-5 nothing is claimed from a paused queue, and nothing changes in it', async () => {
    const { store } = opened()
    const jobId = await enqueueOne(store, { maxAttempts: 1 })
    expect(await store.pauseQueue(TYPE, { actor: 'ana', reason: 'deploy' })).toBe(true)
    await expectUnchanged(store, jobId, async () => {
      expect(await claimMany(store)).toEqual([])
      expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    })
    expect(await store.resumeQueue(TYPE)).toBe(true)
    expect((await claimOne(store)).jobId).toBe(jobId)
  })

  it('BREAK-2 a pause with a duration ends by itself', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store)
    await store.pauseQueue(TYPE, { durationMs: MINUTE })
    await elapse(30 * SECOND)
    expect(await claimMany(store)).toEqual([])
    await elapse(31 * SECOND)
    expect(await claimMany(store)).toHaveLength(1)
    expect(await store.resumeQueue(TYPE)).toBe(false)
  })

  it('BREAK-2 a second pause replaces the first, and reports it', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store)
    await store.pauseQueue(TYPE, { actor: 'ana', durationMs: MINUTE })
    expect(await store.pauseQueue(TYPE, { actor: 'ben' })).toBe(false)
    await elapse(2 * MINUTE)
    expect(await claimMany(store)).toEqual([])
    expect(await readQueue(store, TYPE)).toMatchObject({ isPaused: true, pausedBy: 'ben', pausedForMs: null })
  })

  it('BREAK-2 other queues are claimed as usual, and running jobs continue', async () => {
    const { store } = opened()
    const running = await startOne(store)
    await enqueueOne(store)
    await store.pauseQueue(TYPE)
    const other = await enqueueOne(store, { type: 'mail' })
    const claimed = await claimMany(store, { queues: [TYPE, 'mail'] })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([other])
    expect(await complete(store, running)).toBe('completed')
  })

  it('BREAK-2 the queue of a job decides, not its type', async () => {
    const { store } = opened()
    await store.pauseQueue('night')
    const held = await enqueueOne(store, { queue: 'night' })
    const free = await enqueueOne(store)
    const claimed = await claimMany(store, { queues: [TYPE, 'night'] })
    expect(claimed.map(({ jobId }) => jobId)).toEqual([free])
    expect(await store.claimJob(held, { workerId: 'worker-1' })).toBe('not-claimable')
  })

  it('OPS-8 a bad queue and a bad duration are refused', async () => {
    const { store } = opened()
    await expect(store.pauseQueue('')).rejects.toMatchObject(invalidArgument)
    await expect(store.pauseQueue(TYPE, { durationMs: 0 })).rejects.toMatchObject(invalidArgument)
    await expect(store.pauseQueue(TYPE, { durationMs: 1.5 })).rejects.toMatchObject(invalidArgument)
    await expect(store.resumeQueue('')).rejects.toMatchObject(invalidArgument)
    expect(await store.listQueues()).toEqual({ queues: [], isComplete: true })
  })
}

function describeListing(opened: () => TestBench): void {
  it('BREAK-4 lists queues with unfinished jobs, a pause or a dependency, and no others', async () => {
    const { store } = opened()
    await enqueueMany(store, 3)
    await enqueueOne(store, { delayMs: MINUTE })
    await claimOne(store)
    await complete(store, await startOne(store, { type: 'done' }))
    await store.mapDependency('bound', 'gateway')
    await store.holdBreaker('gateway')
    await store.pauseQueue('quiet', { actor: 'ana', reason: 'deploy', durationMs: MINUTE })
    const { queues, isComplete } = await store.listQueues()
    const [bound, encode, quiet, ...others] = queues
    expect(isComplete).toBe(true)
    expect(others).toEqual([])
    expect(bound).toMatchObject({
      queue: 'bound',
      isPaused: false,
      waiting: 0,
      dependency: 'gateway',
      breakerState: 'held',
    })
    const { oldestDueMs, ...counted } = encode ?? { oldestDueMs: null }
    expectAbout(oldestDueMs, 0)
    expect(counted).toEqual({
      queue: TYPE,
      waiting: 3,
      due: 2,
      running: 1,
      releasedOften: 0,
      isPaused: false,
      pausedAt: null,
      pausedForMs: null,
      pausedBy: null,
      pauseReason: null,
      dependency: null,
      breakerState: null,
      concurrency: null,
      groupConcurrency: null,
      groupOrder: null,
      atLeast: [],
    })
    expect(quiet).toMatchObject({ queue: 'quiet', isPaused: true, pausedBy: 'ana', pauseReason: 'deploy' })
    expectAbout(quiet?.pausedForMs, MINUTE)
    expect(quiet?.pausedAt).toBeInstanceOf(Date)
  })

  it('SEE-9 a queue says how long its longest due job has been due', async () => {
    const { store, elapse } = opened()
    await enqueueOne(store, { priority: 5 })
    await elapse(MINUTE)
    await enqueueOne(store, { priority: 1 })
    await enqueueOne(store, { type: 'mail', delayMs: HOUR })
    const { queues } = await store.listQueues()
    expectAbout(queues.find(({ queue }) => queue === TYPE)?.oldestDueMs, MINUTE)
    expect(queues.find(({ queue }) => queue === 'mail')?.oldestDueMs).toBeNull()
  })

  it('OPS-16 lists the named queues alone, and none that has nothing', async () => {
    const { store } = opened()
    await enqueueMany(store, 2)
    await enqueueOne(store, { type: 'mail' })
    await store.pauseQueue('quiet')
    const { queues } = await store.listQueues({ queues: [TYPE, 'quiet', 'absent'] })
    expect(queues).toMatchObject([
      { queue: TYPE, waiting: 2, isPaused: false },
      { queue: 'quiet', waiting: 0, isPaused: true },
    ])
  })

  it('OPS-16 large queues share the limit of a count, and say that they have at least that many', async () => {
    const { store } = opened()
    await enqueueMany(store, 7)
    await enqueueMany(store, 9, { type: 'mail' })
    await enqueueOne(store, { type: 'rare' })
    const [encode, mail, rare] = (await store.listQueues({ countLimit: 9 })).queues
    expect([encode, mail, rare]).toMatchObject([
      { queue: TYPE, waiting: 4, due: 4, atLeast: ['waiting', 'due', 'releasedOften', 'oldestDueMs'] },
      { queue: 'mail', waiting: 4, due: 4, atLeast: ['waiting', 'due', 'releasedOften', 'oldestDueMs'] },
      { queue: 'rare', waiting: 1, due: 1, atLeast: [] },
    ])
    expect((await store.listQueues({ countLimit: 18 })).queues).toMatchObject([
      { queue: TYPE, waiting: 7, due: 7, atLeast: [] },
      { queue: 'mail', waiting: 9, due: 9, atLeast: [] },
      { queue: 'rare', waiting: 1, due: 1, atLeast: [] },
    ])
  })

  it('OPS-16 running jobs are counted up to the limit too', async () => {
    const { store } = opened()
    await enqueueMany(store, 3)
    await claimMany(store)
    expect((await store.listQueues({ countLimit: 2 })).queues).toMatchObject([
      { queue: TYPE, running: 2, atLeast: ['running'] },
    ])
    expect((await store.listQueues({ countLimit: 4 })).queues).toMatchObject([
      { queue: TYPE, running: 3, atLeast: [] },
    ])
  })
}
