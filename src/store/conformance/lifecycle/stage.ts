import { describe, expect, it } from 'vitest'
import {
  beat,
  claimOne,
  complete,
  crashOnce,
  eventsOf,
  expectAbout,
  expectUnchanged,
  forgedLease,
  HOUR,
  invalidArgument,
  MINUTE,
  MISSING_ID,
  msBetween,
  plainPolicy,
  readJob,
  SECOND,
  startOne,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const staged = {
  ...plainPolicy,
  stageLeasesMs: { burnin: 10 * MINUTE },
  stageDeadlinesMs: { burnin: 2 * HOUR, quick: 30 * SECOND },
}

export function describeStage(opened: () => TestBench): void {
  describe('enterStage', () => {
    it('LEASE-8 the lease and the deadline are those of the new stage, from now', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(staged)
      const claimed = await startOne(store)
      await elapse(20 * SECOND)
      expect(await store.enterStage(claimed, 'burnin')).toEqual({
        outcome: 'entered',
        leaseMs: 10 * MINUTE,
        deadlineMs: 2 * HOUR,
      })
      const job = await readJob(store, claimed.jobId)
      expect(job.stage).toBe('burnin')
      expectAbout(msBetween(job.heartbeatAt, job.leaseExpiresAt), 10 * MINUTE)
      expectAbout(msBetween(job.heartbeatAt, job.deadlineAt), 2 * HOUR)
    })

    it('LEASE-8 later heartbeats extend by the lease of the new stage', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(staged)
      const claimed = await startOne(store)
      await store.enterStage(claimed, 'burnin')
      await elapse(9 * MINUTE)
      expect(await beat(store, claimed)).toBe('kept')
      await elapse(9 * MINUTE)
      expect((await sweep(store)).reaped).toEqual([])
    })

    it('LEASE-8 the lease never reaches past the deadline of the stage', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(staged)
      const claimed = await startOne(store)
      expect(await store.enterStage(claimed, 'quick')).toMatchObject({ leaseMs: 30 * SECOND })
      await elapse(31 * SECOND)
      expect(await beat(store, claimed)).toBe('past-deadline')
      expect((await sweep(store)).reaped).toMatchObject([{ reason: 'deadline_exceeded' }])
    })

    it('LEASE-8 a job past its deadline enters no stage: nothing revives it', async () => {
      const { store, elapse } = opened()
      await store.writePolicy(staged)
      const claimed = await startOne(store)
      await store.enterStage(claimed, 'quick')
      await elapse(31 * SECOND)
      await expectUnchanged(store, claimed.jobId, async () => {
        expect(await store.enterStage(claimed, 'burnin')).toEqual({
          outcome: 'past-deadline',
          leaseMs: null,
          deadlineMs: null,
        })
      })
      expect((await sweep(store)).reaped).toMatchObject([{ reason: 'deadline_exceeded' }])
    })

    it('LEASE-5 a stale or forged lease changes nothing and gets the reason', async () => {
      const bench = opened()
      const { store } = bench
      await store.writePolicy(plainPolicy)
      const stale = await startOne(store)
      await crashOnce(bench, stale)
      await expectUnchanged(store, stale.jobId, async () => {
        expect(await store.enterStage(stale, 'burnin')).toMatchObject({
          outcome: 'lease-lost',
          leaseMs: null,
        })
        expect(await store.enterStage(forgedLease(stale.jobId), 'burnin')).toMatchObject({
          outcome: 'lease-lost',
        })
      })
      expect(await store.enterStage(forgedLease(MISSING_ID), 'burnin')).toMatchObject({
        outcome: 'not-found',
      })
    })

    it('LEASE-5 while another worker runs the job, an old or forged lease enters no stage', async () => {
      const bench = opened()
      const { store, elapse } = bench
      await store.writePolicy(plainPolicy)
      const stale = await startOne(store)
      await crashOnce(bench, stale)
      await elapse(HOUR)
      const current = await claimOne(store, { workerId: 'worker-2' })
      expect(current.jobId).toBe(stale.jobId)
      await expectUnchanged(store, current.jobId, async () => {
        for (const lease of [stale, forgedLease(current.jobId)])
          expect(await store.enterStage(lease, 'burnin')).toMatchObject({
            outcome: 'lease-lost',
            leaseMs: null,
          })
      })
      expect(await store.enterStage(current, 'burnin')).toMatchObject({ outcome: 'entered' })
    })

    it('C3 after its own outcome, a lease is answered as already done', async () => {
      const { store } = opened()
      const claimed = await startOne(store)
      await complete(store, claimed)
      expect(await store.enterStage(claimed, 'burnin')).toMatchObject({ outcome: 'already-done' })
    })

    it('LEASE-8 a stage has a name', async () => {
      const { store } = opened()
      const claimed = await startOne(store)
      await expect(store.enterStage(claimed, '')).rejects.toMatchObject(invalidArgument)
    })
  })

  describe('recordLateResult', () => {
    it('LEASE-5 records the late result of a worker that lost its lease, without changing the job', async () => {
      const bench = opened()
      const { store } = bench
      await store.writePolicy(plainPolicy)
      const stale = await startOne(store)
      await crashOnce(bench, stale)
      await expectUnchanged(store, stale.jobId, async () => {
        expect(await store.recordLateResult(stale, { result: { pages: 3 } })).toBe(true)
      })
      const [event] = await eventsOf(store, stale.jobId, 'late_result')
      expect(event?.data.details).toEqual({ result: { pages: 3 }, lease_id: stale.leaseId })
    })

    it('LEASE-5 returns false if the job is gone', async () => {
      expect(await opened().store.recordLateResult(forgedLease(MISSING_ID), {})).toBe(false)
    })
  })
}
