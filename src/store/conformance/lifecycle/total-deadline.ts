import { describe, expect, it } from 'vitest'
import {
  beat,
  expectAbout,
  HOUR,
  MINUTE,
  msBetween,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const bounded = {
  ...plainPolicy,
  stageLeasesMs: { long: 10 * MINUTE },
  stageDeadlinesMs: { long: HOUR, quick: 2 * MINUTE },
  maxRuntimeMs: 5 * MINUTE,
}

export function describeTotalDeadline(opened: () => TestBench): void {
  describe('the total deadline of an attempt', () => {
    it('LEASE-11 a claim reaches no further than it, whatever the stage and the caller ask for', async () => {
      const { store } = opened()
      await store.writePolicy(bounded)
      const claimed = await startOne(store, { stage: 'long' })
      expect(claimed).toMatchObject({ leaseMs: 5 * MINUTE, deadlineMs: 5 * MINUTE })
      const job = await readJob(store, claimed.jobId)
      expect(msBetween(job.lastAttemptAt, job.deadlineAt)).toBe(5 * MINUTE)
      expect(msBetween(job.lastAttemptAt, job.leaseExpiresAt)).toBe(5 * MINUTE)
    })

    it('LEASE-11 a deadline of the stage that comes earlier still counts', async () => {
      const { store } = opened()
      await store.writePolicy(bounded)
      expect(await startOne(store, { stage: 'quick' })).toMatchObject({ deadlineMs: 2 * MINUTE })
    })

    it('LEASE-11 stages do not move it, however often they change', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(bounded)
      const claimed = await startOne(store)
      await elapse(4 * MINUTE - 50 * SECOND)
      for (const stage of ['long', 'quick', 'long']) {
        const entered = await store.enterStage(claimed, stage)
        expect(entered.outcome).toBe('entered')
        expectAbout(entered.deadlineMs, MINUTE + 50 * SECOND)
        expect(entered.leaseMs).toBeLessThanOrEqual(entered.deadlineMs ?? 0)
      }
      const job = await readJob(store, claimed.jobId)
      expect(msBetween(job.lastAttemptAt, job.deadlineAt)).toBe(5 * MINUTE)
      expect(job.leaseExpiresAt?.getTime()).toBeLessThanOrEqual(job.deadlineAt?.getTime() ?? 0)
    })

    it('LEASE-11 past it neither a heartbeat nor a stage extends the attempt, and the sweep counts a timeout', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(bounded)
      const claimed = await startOne(store)
      for (let minute = 1; minute <= 4; minute++) {
        await elapse(55 * SECOND)
        expect((await store.enterStage(claimed, `stage ${minute}`)).outcome).toBe('entered')
      }
      await elapse(55 * SECOND)
      expect(await beat(store, claimed)).toBe('kept')
      await elapse(30 * SECOND)
      expect(await beat(store, claimed)).toBe('past-deadline')
      expect(await store.enterStage(claimed, 'long')).toMatchObject({ outcome: 'past-deadline' })
      expect((await sweep(store)).reaped).toMatchObject([
        { jobId: claimed.jobId, reason: 'deadline_exceeded', action: 'requeued' },
      ])
      expect(await readJob(store, claimed.jobId)).toMatchObject({ timeouts: 1, crashes: 0 })
    })

    it('LEASE-11 it restarts with each attempt', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(bounded)
      const first = await startOne(store)
      await elapse(50 * SECOND)
      expect(await release(store, first)).toBe('released')
      const [second] = await store.claimJobs({ workerId: 'w2', queues: [TYPE], limit: 1 })
      expect(second).toMatchObject({ jobId: first.jobId, deadlineMs: 5 * MINUTE })
    })

    it('LEASE-11 a type may have its own, and 0 is none', async () => {
      const { store } = opened()
      await store.writePolicy({ ...bounded, typeRuntimesMs: { brief: 3 * MINUTE, free: 0 } })
      expect(await startOne(store, { type: 'brief' })).toMatchObject({ deadlineMs: 3 * MINUTE })
      const free = await startOne(store, { type: 'free' })
      expect(free.deadlineMs).toBeNull()
      expect(await store.enterStage(free, 'any')).toMatchObject({ outcome: 'entered', deadlineMs: null })
    })

    it('LEASE-11 the policy of the call wins over the stored one', async () => {
      const { store } = opened()
      await store.writePolicy(bounded)
      const policy = { maxRuntimeMs: 30 * SECOND }
      const claimed = await startOne(store)
      const entered = await store.enterStage(claimed, 'long', { policy })
      expectAbout(entered.deadlineMs, 30 * SECOND)
    })
  })
}
