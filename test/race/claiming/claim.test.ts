// Claims against each other: no job is given out twice, none is left behind.
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../src/job/lease.ts'
import {
  cancel,
  claimMany,
  complete,
  enqueueMany,
  enqueueOne,
  MINUTE,
  readJob,
  startMany,
  sweep,
  TYPE,
} from '../../../src/store/conformance/builders.ts'
import type { ClaimRequest, JobStore } from '../../../src/store/job-store.ts'
import { buildGates, closeGate } from '../gate.ts'
import { raceBench } from '../race-bench.ts'

const opened = raceBench({ setUp: buildGates })

async function drain(store: JobStore, request: Partial<ClaimRequest>): Promise<ClaimedJob[]> {
  const all: ClaimedJob[] = []
  for (;;) {
    const claimed = await claimMany(store, request)
    if (claimed.length === 0) return all
    all.push(...claimed)
  }
}

const idsOf = (jobs: ClaimedJob[]) => jobs.map(({ jobId }) => jobId).toSorted()

describe('claims at once', () => {
  it('LEASE-1 twenty connections that claim 500 jobs in batches get each of them once', async () => {
    const { store, connectMany, pool } = opened()
    const jobIds = await enqueueMany(store, 500)
    const workers = await connectMany(20)

    const claimed = await Promise.all(
      workers.map((worker, index) =>
        drain(worker.store, { workerId: `worker-${index}`, limit: 1 + (index % 10) }),
      ),
    )

    expect(idsOf(claimed.flat())).toEqual(jobIds.toSorted())
    const { rows } = await pool.query<{ worker: string; lease: string; fence: string; attempt: number }>(
      'select worker_id as worker, lease_id as lease, fence, attempt from unstuck.jobs order by id',
    )
    const answered = claimed.flatMap((jobs, index) =>
      jobs.map(({ jobId, leaseId }) => ({ jobId, row: { worker: `worker-${index}`, lease: leaseId } })),
    )
    const byId = answered.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1))
    expect(rows).toEqual(byId.map(({ row }) => ({ ...row, fence: '1', attempt: 1 })))
  })

  it('LEASE-1, WORK-7 over queues and priorities each job is claimed once, whatever order the queues are named in', async () => {
    const { store, connectMany } = opened()
    const wishes = Array.from({ length: 240 }, (_, index) => ({
      type: TYPE,
      queue: `queue-${index % 4}`,
      priority: index % 3,
    }))
    const jobIds = (await store.enqueueJobs(wishes)).map(({ jobId }) => jobId)
    const workers = await connectMany(8)
    const queues = ['queue-0', 'queue-1', 'queue-2', 'queue-3']

    const claimed = await Promise.all(
      workers.map((worker, index) =>
        drain(worker.store, { queues: index % 2 === 0 ? queues : queues.toReversed(), limit: 5 }),
      ),
    )

    expect(idsOf(claimed.flat())).toEqual(jobIds.toSorted())
  })

  it('LEASE-1 ten claims of one job by its id give it to one', async () => {
    const { store, connectMany } = opened()
    const jobId = await enqueueOne(store)
    const workers = await connectMany(10)

    const answers = await Promise.all(
      workers.map((worker) => worker.store.claimJob(jobId, { workerId: `worker-${worker.pid}` })),
    )

    const [granted, ...others] = answers.filter((answer) => answer !== 'not-claimable')
    expect(others).toEqual([])
    expect(await readJob(store, jobId)).toMatchObject({ leaseId: granted?.leaseId, fence: 1, attempt: 1 })
  })
})

describe('a claim that is uncommitted', () => {
  it('LEASE-1 hides its jobs from other claims, which take the next ones without waiting', async () => {
    const { store, connect } = opened()
    const jobIds = await enqueueMany(store, 20)
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    expect(idsOf(await claimMany(first.store, { limit: 8 }))).toEqual(jobIds.slice(0, 8))
    expect(idsOf(await claimMany(second.store, { limit: 8 }))).toEqual(jobIds.slice(8, 16))
    expect(await second.store.claimJob(String(jobIds[0]), { workerId: 'worker-2' })).toBe('not-claimable')
    await first.commit()

    expect(idsOf(await claimMany(second.store))).toEqual(jobIds.slice(16))
  })

  it('LEASE-1, LEASE-5 when it is rolled back its jobs go to the next, and its leases are worth nothing', async () => {
    const { store, connect } = opened()
    const jobIds = await enqueueMany(store, 3)
    const [first, second] = [await connect(), await connect()]

    await first.begin()
    const undone = await claimMany(first.store)
    await first.rollback()
    const claimed = await claimMany(second.store)

    expect(idsOf(claimed)).toEqual(jobIds)
    for (const lease of undone) expect(await complete(first.store, lease)).toBe('lease-lost')
    for (const lease of claimed) expect(await complete(second.store, lease)).toBe('completed')
  })
})

describe('a claim that others overtake between its snapshot and its locks', () => {
  /** The budget of a job is looked at only if the job has run before. */
  async function enqueueFailed(store: JobStore, pool: pg.Pool, count: number): Promise<string[]> {
    const jobIds = await enqueueMany(store, count)
    await pool.query('update unstuck.jobs set failures = 1')
    return jobIds
  }

  it('LEASE-1 does not get the jobs that were claimed meanwhile, and takes as many of the next', async () => {
    const { store, connect, pool } = opened()
    const jobIds = await enqueueFailed(store, pool, 10)
    const [slow, quick, keeper] = [await connect(), await connect(), await connect()]

    const gate = await closeGate(pool, keeper, slow, 'has_budget')
    const late = await gate.arrive(() => claimMany(slow.store, { limit: 4 }))
    expect(idsOf(await claimMany(quick.store, { limit: 3 }))).toEqual(jobIds.slice(0, 3))
    await gate.open()

    expect(idsOf(await late.answer)).toEqual(jobIds.slice(3, 7))
    const fences = await pool.query<{ fence: string }>(
      'select distinct fence from unstuck.jobs order by fence',
    )
    expect(fences.rows).toEqual([{ fence: '0' }, { fence: '1' }])
  })

  it('LEASE-1, FAIL-6 does not get jobs that were cancelled or put off meanwhile', async () => {
    const { store, connect, pool } = opened()
    const [cancelled, postponed, left] = await enqueueFailed(store, pool, 3)
    const [worker, operator, keeper] = [await connect(), await connect(), await connect()]

    const gate = await closeGate(pool, keeper, worker, 'has_budget')
    const late = await gate.arrive(() => claimMany(worker.store))
    expect(await cancel(operator.store, String(cancelled))).toBe('cancelled')
    await operator.query("update unstuck.jobs set run_at = now() + interval '1 h' where id = $1", [postponed])
    await gate.open()

    expect(idsOf(await late.answer)).toEqual([left])
  })
})

describe('claims beside reaps', () => {
  it('LEASE-1, REAP-4 what reapers give back while workers claim is claimed once each', async () => {
    const { store, elapse, connectMany } = opened()
    const lost = await startMany(store, 200)
    await elapse(2 * MINUTE)
    const reapers = await connectMany(2)
    const workers = await connectMany(6)

    const sweeping = new Set(reapers)
    async function claimUntilSwept(worker: JobStore): Promise<ClaimedJob[]> {
      const all: ClaimedJob[] = []
      while (sweeping.size > 0) all.push(...(await claimMany(worker, { limit: 3 })))
      return [...all, ...(await drain(worker, { limit: 3 }))]
    }
    const [claims] = await Promise.all([
      Promise.all(workers.map((worker) => claimUntilSwept(worker.store))),
      ...reapers.map((reaper) => sweep(reaper.store, { limit: 10 }).finally(() => sweeping.delete(reaper))),
    ])

    const claimed = claims.flat()
    expect(idsOf(claimed)).toEqual(idsOf(lost))
    expect(claimed.every(({ fence, isRescue, crashes }) => fence === 2 && isRescue && crashes === 1)).toBe(
      true,
    )
  })
})
