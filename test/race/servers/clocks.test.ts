// The clock of the database and no other: whenever a transaction began, and wherever a session thinks it is (C5).
import { describe, expect, it } from 'vitest'
import {
  beat,
  claimOne,
  enqueueOne,
  expectAbout,
  HOUR,
  leaseOf,
  MINUTE,
  msBetween,
  readJob,
  storeNow,
  sweep,
} from '../../../src/store/conformance/builders.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { SqlClient } from '../../../src/store/postgres/connection/executor.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench()

describe('a lease of a long transaction', () => {
  it('LEASE-2 is counted from its claim and not from the start of the transaction', async () => {
    const { store, connect } = opened()
    const worker = await connect()
    await enqueueOne(store)
    await worker.begin()
    // The transaction is old by what its first statement took.
    const [began] = await worker.query('select now() as at, pg_sleep(0.5)')
    const claimed = await claimOne(worker.store)
    await worker.commit()
    const job = await readJob(store, claimed.jobId)
    expect(msBetween(began?.['at'] as Date, job.heartbeatAt)).toBeGreaterThanOrEqual(500)
    expect(msBetween(job.heartbeatAt, job.leaseExpiresAt)).toBe(MINUTE)
  })

  it('LEASE-4 is renewed from its beat and not from the start of the transaction', async () => {
    const { store, connect } = opened()
    const worker = await connect()
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(store))
    await worker.begin()
    const [began] = await worker.query('select now() as at, pg_sleep(0.5)')
    expect(await beat(worker.store, lease)).toBe('kept')
    await worker.commit()
    const job = await readJob(store, lease.jobId)
    expect(msBetween(began?.['at'] as Date, job.heartbeatAt)).toBeGreaterThanOrEqual(500)
    expect(msBetween(job.heartbeatAt, job.leaseExpiresAt)).toBe(MINUTE)
  })
})

describe('a verb of a long transaction', () => {
  /** A transaction that is 500 ms old when the verb is called, and when it began. */
  async function inOldTransaction(call: (store: JobStore<SqlClient>) => Promise<unknown>): Promise<Date> {
    const worker = await opened().connect()
    await worker.begin()
    const [began] = await worker.query('select now() as at, pg_sleep(0.5)')
    await call(worker.store)
    await worker.commit()
    return began?.['at'] as Date
  }

  it('LEASE-8 a stage is counted from its entry', async () => {
    const { store } = opened()
    await store.writePolicy({ stageDeadlinesMs: { burnin: HOUR } })
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(store))
    const began = await inOldTransaction((own) => own.enterStage(lease, 'burnin'))
    const job = await readJob(store, lease.jobId)
    expect(msBetween(began, job.heartbeatAt)).toBeGreaterThanOrEqual(500)
    expect(msBetween(job.heartbeatAt, job.leaseExpiresAt)).toBe(MINUTE)
    expect(msBetween(job.heartbeatAt, job.deadlineAt)).toBe(HOUR)
  })

  it('FAIL-4 a backoff is counted from the failure', async () => {
    const { store } = opened()
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(store))
    const began = await inOldTransaction((own) => own.failJobs([{ ...lease, code: 'X', retryInMs: MINUTE }]))
    const { runAt } = await readJob(store, lease.jobId)
    expect(msBetween(began, runAt)).toBeGreaterThanOrEqual(MINUTE + 500)
  })

  it('LEASE-6 a delay is counted from the release', async () => {
    const { store } = opened()
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(store))
    const began = await inOldTransaction((own) => own.releaseJobs([lease], { delayMs: MINUTE }))
    const { runAt } = await readJob(store, lease.jobId)
    expect(msBetween(began, runAt)).toBeGreaterThanOrEqual(MINUTE + 500)
  })

  it('RATE-1 a token that came back meanwhile is granted', async () => {
    const { store, connect } = opened()
    const limit = { key: 'gateway', ratePerS: 4, burst: 1 }
    const worker = await connect()
    await worker.begin()
    await worker.query('select now()')
    expect((await store.takeTokens([limit])).granted).toBe(1)
    await worker.query('select pg_sleep(0.5)')
    expect((await worker.store.takeTokens([limit])).granted).toBe(1)
    await worker.commit()
  })
})

describe('sessions in different time zones', () => {
  it.each([
    ['Pacific/Kiritimati', 'Pacific/Pago_Pago'],
    ['Pacific/Pago_Pago', 'Pacific/Kiritimati'],
  ])('REAP-3 REAP-1 a lease granted in %s ends at the same moment in %s', async (here, there) => {
    const { store, elapse, connect } = opened()
    const [worker, reaper] = [await connect(), await connect()]
    await worker.query(`set timezone = '${here}'`)
    await reaper.query(`set timezone = '${there}'`)
    await enqueueOne(store)
    const lease = leaseOf(await claimOne(worker.store))
    expect((await sweep(reaper.store)).reaped).toEqual([])
    const { leaseExpiresAt } = await readJob(reaper.store, lease.jobId)
    expectAbout(Number(leaseExpiresAt) - (await storeNow(reaper.store)), MINUTE)

    await elapse(2 * MINUTE)
    expect((await sweep(reaper.store)).reaped).toMatchObject([{ jobId: lease.jobId, action: 'requeued' }])
  })
})
