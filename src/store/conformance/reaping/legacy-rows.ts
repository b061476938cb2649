// Rows left behind by workers without leases, beside workers that have them.
import { describe, expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import {
  budgets,
  DAY,
  detailsOf,
  expectUnchanged,
  HOUR,
  MINUTE,
  plainPolicy,
  readJob,
  SECOND,
  storeNow,
  sweep,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

const byAge = {
  ...plainPolicy,
  ...budgets.failures,
  defaultLeaseMs: 5 * MINUTE,
  legacyAgeRule: true,
  legacyAgeStages: 'all',
} as const

/** A running row of an older worker, with its newest sign of life this long ago. */
async function plantOld(bench: TestBench, ageMs: number, fields: Partial<Job> = {}): Promise<string> {
  const seenAt = new Date((await storeNow(bench.store)) - ageMs)
  return bench.plantJob({
    type: TYPE,
    status: 'running',
    workerId: 'old-worker',
    createdAt: new Date(seenAt.getTime() - DAY),
    updatedAt: seenAt,
    startedAt: seenAt,
    ...fields,
  })
}

export function describeLegacyRows(opened: () => TestBench, options: ConformanceOptions): void {
  describe('rows of older workers', () => {
    describeAgeRule(opened)
    describeUnjudged(opened, options)
  })
}

function describeAgeRule(opened: () => TestBench): void {
  it('REAP-8 a running row without a lease is taken back once its newest time is older than a lease', async () => {
    const bench = opened()
    await bench.store.writePolicy(byAge)
    const jobId = await plantOld(bench, 6 * MINUTE)
    const { reaped } = await sweep(bench.store)
    expect(reaped).toMatchObject([
      { jobId, action: 'requeued', reason: 'lease_expired', workerId: 'old-worker' },
    ])
    expect(await readJob(bench.store, jobId)).toMatchObject({ status: 'waiting', workerId: null, crashes: 1 })
    expect(await detailsOf(bench.store, jobId, 'reaper:requeued')).toMatchObject({
      locked_by: 'old-worker',
      lease_id: null,
      lease_expires_at: null,
    })
  })

  it('REAP-8 a running row without a lease is not touched before', async () => {
    const bench = opened()
    await bench.store.writePolicy(byAge)
    const jobId = await plantOld(bench, 4 * MINUTE)
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toEqual([])
    })
  })

  it('REAP-8 a fresh lock with an old heartbeat left over as evidence is not taken', async () => {
    const bench = opened()
    await bench.store.writePolicy(byAge)
    const heartbeatAt = new Date((await storeNow(bench.store)) - 3 * HOUR)
    const jobId = await plantOld(bench, 10 * SECOND, { heartbeatAt, updatedAt: heartbeatAt })
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toEqual([])
    })
  })

  it('REAP-8 a fresh heartbeat of an old lock keeps the row', async () => {
    const bench = opened()
    await bench.store.writePolicy(byAge)
    const heartbeatAt = new Date((await storeNow(bench.store)) - 10 * SECOND)
    const jobId = await plantOld(bench, 3 * HOUR, { heartbeatAt })
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toEqual([])
    })
  })

  it('REAP-8 the age allowed is the lease of the stage', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, stageFactors: { asr: 12 } })
    const expectation = { stage: 'asr', expectedDurationMs: MINUTE }
    const jobId = await plantOld(bench, 10 * MINUTE, expectation)
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toEqual([])
    })
    await bench.elapse(3 * MINUTE)
    expect((await sweep(bench.store)).reaped).toMatchObject([{ jobId, action: 'requeued' }])
  })

  it('REAP-8 if only listed stages are judged by age, a row of another one is reported and not touched', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, legacyAgeStages: 'listed', stageLeasesMs: { asr: HOUR } })
    const unlisted = await plantOld(bench, 90 * DAY, { stage: 'other' })
    const listed = await plantOld(bench, 2 * HOUR, { stage: 'asr' })
    await expectUnchanged(bench.store, unlisted, async () => {
      expect((await sweep(bench.store)).reaped).toMatchObject([
        { jobId: listed, action: 'requeued', stage: 'asr' },
        { jobId: unlisted, action: 'reported', stage: 'other', retryInMs: null },
      ])
    })
    expect(await bench.store.readHealth()).toMatchObject({ running: 1, overdue: 0, unjudged: 1 })
  })

  it('REAP-8 if only listed stages are judged by age, expired leases are still reaped', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, legacyAgeStages: 'listed' })
    const leaseExpiresAt = new Date((await storeNow(bench.store)) - MINUTE)
    const jobId = await plantOld(bench, HOUR, { stage: 'other', leaseExpiresAt })
    expect((await sweep(bench.store)).reaped).toMatchObject([{ jobId, action: 'requeued' }])
  })

  it('REAP-8 a row without a lease whose budget is used up is made dead', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, ...budgets.attempts })
    const jobId = await plantOld(bench, HOUR, { attempt: 3, maxAttempts: 3 })
    expect((await sweep(bench.store)).reaped).toMatchObject([{ jobId, action: 'dead', attempt: 3 }])
    expect((await readJob(bench.store, jobId)).error).toMatchObject({
      code: 'timeout',
      reason: 'lease_expired',
    })
  })

  it('REAP-8 a row with a lease is judged by its end alone', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, legacyAgeRule: false })
    const now = await storeNow(bench.store)
    const over = await plantOld(bench, 0, { leaseExpiresAt: new Date(now - MINUTE) })
    const valid = await plantOld(bench, 3 * HOUR, { leaseExpiresAt: new Date(now + HOUR) })
    await bench.store.writePolicy({ legacyAgeRule: true })
    await expectUnchanged(bench.store, valid, async () => {
      expect((await sweep(bench.store)).reaped).toMatchObject([{ jobId: over, action: 'requeued' }])
    })
  })
}

function describeUnjudged(opened: () => TestBench, options: ConformanceOptions): void {
  it('REAP-8 C23 with the age rule off, a row without a lease is reported and not touched', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, legacyAgeRule: false })
    const jobId = await plantOld(bench, 90 * DAY)
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toMatchObject([
        { jobId, action: 'reported', workerId: 'old-worker', retryInMs: null },
      ])
    })
    expect(await bench.store.listEvents(jobId)).toEqual([])
  })

  it('REAP-8 a row without a lease and without any time is reported and not touched', async ({ skip }) => {
    if (options.alwaysHasUpdateTime === true) skip('rows of this table always have an update time')
    const bench = opened()
    await bench.store.writePolicy(byAge)
    const jobId = await plantOld(bench, 0, { updatedAt: null, startedAt: null, heartbeatAt: null })
    await bench.elapse(90 * DAY)
    await expectUnchanged(bench.store, jobId, async () => {
      expect((await sweep(bench.store)).reaped).toMatchObject([{ jobId, action: 'reported' }])
    })
  })

  it('REAP-8 health counts rows that no rule can judge', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...byAge, legacyAgeRule: false })
    await plantOld(bench, 90 * DAY)
    expect(await bench.store.readHealth()).toMatchObject({ running: 1, overdue: 0, unjudged: 1 })
    expect(await bench.store.readHealth({ policy: { legacyAgeRule: true } })).toMatchObject({
      overdue: 1,
      unjudged: 0,
    })
  })
}
