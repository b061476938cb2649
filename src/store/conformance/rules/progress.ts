import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../job/lease.ts'
import type { JobStore } from '../../job-store.ts'
import {
  beat,
  claimOne,
  complete,
  crashOnce,
  enqueueOne,
  expectUnchanged,
  fail,
  forgedLease,
  invalidArgument,
  MISSING_ID,
  plainPolicy,
  readJob,
  release,
  SECOND,
  startMany,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const report = async (
  store: JobStore,
  { jobId, leaseId }: Lease,
  value: number,
  text: string | null = null,
) => (await store.reportProgress([{ jobId, leaseId, value, text }]))[0]

async function startTwo(store: JobStore): Promise<[Lease, Lease]> {
  const [first, second] = await startMany(store, 2)
  if (first === undefined || second === undefined) throw new Error('no two jobs')
  return [first, second]
}

/** Progress that running jobs report. */
export function describeProgress(opened: () => TestBench): void {
  describe('reportProgress', () => {
    it('LEASE-8 keeps the last value and its text, and nothing else of the row changes', async () => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const claimed = await startOne(store)
      const before = await readJob(store, claimed.jobId)
      const events = await store.listEvents(claimed.jobId)
      expect(before.progress).toBeNull()
      expect(await report(store, claimed, 0.25, 'page 3 of 12')).toBe(true)
      expect((await readJob(store, claimed.jobId)).progress).toEqual({ value: 0.25, text: 'page 3 of 12' })
      expect(await report(store, claimed, 0.5)).toBe(true)
      expect(await readJob(store, claimed.jobId)).toEqual({ ...before, progress: { value: 0.5, text: null } })
      expect(await store.listEvents(claimed.jobId)).toEqual(events)
    })

    it('LEASE-8 answers for each report in order, also if one lease reports twice', async () => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const [first, second] = await startTwo(store)
      const at = ({ jobId, leaseId }: Lease, value: number) => ({ jobId, leaseId, value, text: null })
      const reports = [at(second, 0.1), at(forgedLease(first.jobId), 0.9), at(second, 0.2), at(first, 1)]
      expect(await store.reportProgress(reports)).toEqual([true, false, true, true])
      expect((await readJob(store, first.jobId)).progress).toEqual({ value: 1, text: null })
      expect((await readJob(store, second.jobId)).progress).toEqual({ value: 0.2, text: null })
      expect(await store.reportProgress([])).toEqual([])
    })

    it('LEASE-5 a lost lease, a forged one and an ended attempt write none', async () => {
      const bench = opened()
      const { store } = bench
      await store.writePolicy(plainPolicy)
      const stale = await startOne(store)
      await report(store, stale, 0.75, 'old')
      await crashOnce(bench, stale)
      await expectUnchanged(store, stale.jobId, async () => {
        expect(await report(store, stale, 0.8)).toBe(false)
      })
      const current = await claimOne(store)
      await expectUnchanged(store, stale.jobId, async () => {
        expect(await report(store, stale, 0.8)).toBe(false)
        expect(await report(store, forgedLease(stale.jobId), 0.8)).toBe(false)
      })
      expect(await complete(store, current)).toBe('completed')
      await expectUnchanged(store, stale.jobId, async () => {
        expect(await report(store, current, 0.8)).toBe(false)
      })
      expect(await report(store, forgedLease(MISSING_ID), 0.8)).toBe(false)
    })

    it('LEASE-8 a claim clears it; a failure, a release and a crash keep it until then', async () => {
      const bench = opened()
      const { store, elapse } = bench
      await store.writePolicy(plainPolicy)
      const ends: ((claimed: Lease & { leaseMs: number }) => Promise<unknown>)[] = [
        (claimed) => fail(store, claimed, { retryInMs: 0 }),
        (claimed) => release(store, claimed),
        (claimed) => crashOnce(bench, claimed),
      ]
      const jobId = await enqueueOne(store)
      for (const end of ends) {
        await elapse(10 * 60 * SECOND)
        const claimed = await claimOne(store)
        expect((await readJob(store, jobId)).progress).toBeNull()
        await report(store, claimed, 0.4, 'half')
        await end(claimed)
        expect(await readJob(store, jobId)).toMatchObject({
          status: 'waiting',
          progress: { value: 0.4, text: 'half' },
        })
      }
    })

    it('LEASE-8 an ended job keeps it, and facts and lists show it', async () => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const [done, dead] = await startTwo(store)
      await report(store, done, 1)
      await report(store, dead, 0.4, 'page 12 of 30')
      await complete(store, done)
      await fail(store, dead, { isRetryable: false })
      expect((await readJob(store, done.jobId)).progress).toEqual({ value: 1, text: null })
      const progress = { value: 0.4, text: 'page 12 of 30' }
      expect(await readJob(store, dead.jobId)).toMatchObject({ status: 'dead', progress })
      expect(await store.readJobFacts(dead.jobId)).toMatchObject({ progress })
      const { jobs } = await store.listJobs({ status: 'dead' })
      expect(jobs).toMatchObject([{ id: dead.jobId, progress }])
    })

    it('LEASE-4 it renews no lease, and heartbeats keep it', async () => {
      const bench = opened()
      const { store, elapse } = bench
      await store.writePolicy(plainPolicy)
      const claimed = await startOne(store)
      await elapse(SECOND)
      const { leaseExpiresAt, heartbeatAt } = await readJob(store, claimed.jobId)
      await report(store, claimed, 0.4)
      expect(await readJob(store, claimed.jobId)).toMatchObject({ leaseExpiresAt, heartbeatAt })
      expect(await beat(store, claimed)).toBe('kept')
      expect((await readJob(store, claimed.jobId)).progress).toEqual({ value: 0.4, text: null })
    })

    it.each([
      ['a negative value', -0.1, null],
      ['a value over 1', 1.01, null],
      ['no number', Number.NaN, null],
      ['an empty text', 0.4, ''],
      ['a long text', 0.4, 'x'.repeat(201)],
    ])('OPS-8 %s is refused, and no report of the call is written', async (_, value, text) => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const [first, second] = await startTwo(store)
      const reports = [
        { ...first, value: 0.5, text: null },
        { ...second, value, text },
      ]
      await expect(store.reportProgress(reports)).rejects.toMatchObject(invalidArgument)
      expect((await readJob(store, first.jobId)).progress).toBeNull()
    })

    it('LEASE-8 readProgress reads that of many jobs, and leaves out jobs without any', async () => {
      const { store } = opened()
      await store.writePolicy(plainPolicy)
      const [first, second] = await startTwo(store)
      await report(store, second, 0.4, 'half')
      expect(await store.readProgress([first.jobId, second.jobId, MISSING_ID])).toEqual([
        { jobId: second.jobId, value: 0.4, text: 'half' },
      ])
      expect(await store.readProgress([])).toEqual([])
    })
  })
}
