import { describe, expect, it } from 'vitest'
import type { ClaimedJob } from '../../../job/lease.ts'
import type { JobStore } from '../../job-store.ts'
import {
  beat,
  claimMany,
  claimOne,
  complete,
  crashOnce,
  DAY,
  enqueueOne,
  eventsOf,
  fail,
  forgedLease,
  HOUR,
  invalidArgument,
  leaseOf,
  plainPolicy,
  readJob,
  startMany,
  startOne,
  TYPE,
} from '../builders.ts'
import type { ConformanceOptions, StoreHarness } from '../harness.ts'

/** One job of each type, all claimed at once. */
async function startTypes(store: JobStore, ...types: [string, ...string[]]): Promise<ClaimedJob[]> {
  await store.enqueueJobs(types.map((type) => ({ type })))
  const claimed = await claimMany(store, { queues: types })
  return types.map((type) => {
    const index = claimed.findIndex((job) => job.type === type)
    return claimed.splice(index, 1)[0] as ClaimedJob
  })
}

const startTwo = (store: JobStore) => startMany(store, 2) as Promise<[ClaimedJob, ClaimedJob]>

const deletesAll = { ...plainPolicy, keepCompleted: false }

export function describeKeepCompleted<Tx>(opened: () => StoreHarness<Tx>, options: ConformanceOptions): void {
  describe('completed jobs that are not kept', () => {
    if (options.isTeams === true) describeTeams(opened)
    else describeDeletion(opened)
  })
}

function describeTeams<Tx>(opened: () => StoreHarness<Tx>): void {
  it.each([{ keepCompleted: false }, { typeKeepCompleted: { [TYPE]: false } }])(
    'LEASE-12 %o is refused for the table of a team, stored or for one call',
    async (policy) => {
      const { store } = opened()
      const claimed = await startOne(store)
      await expect(store.writePolicy(policy as never)).rejects.toMatchObject(invalidArgument)
      await expect(store.completeJobs([claimed], { policy })).rejects.toMatchObject(invalidArgument)
      expect((await readJob(store, claimed.jobId)).status).toBe('running')
    },
  )
}

function describeDeletion<Tx>(opened: () => StoreHarness<Tx>): void {
  describeRows(opened)
  describeLeases(opened)
  describeTraces(opened)
}

function describeRows<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-12 by default, completed jobs are kept', async () => {
    const { store } = opened()
    expect(await store.readPolicy()).toMatchObject({ keepCompleted: true, typeKeepCompleted: {} })
  })

  it('LEASE-12 with keepCompleted false a completion deletes the row', async () => {
    const { store } = opened()
    await store.writePolicy(deletesAll)
    const claimed = await startOne(store)
    const other = await enqueueOne(store)
    expect(await complete(store, claimed)).toBe('completed')
    expect(await store.getJob(claimed.jobId)).toBeNull()
    expect((await readJob(store, other)).status).toBe('waiting')
  })

  it('LEASE-12 a type decides over the policy, in both directions and within one call', async () => {
    const { store } = opened()
    const types = { keep: true, drop: false }
    for (const keepCompleted of [true, false]) {
      await store.writePolicy({ ...plainPolicy, keepCompleted, typeKeepCompleted: types })
      const jobs = await startTypes(store, 'keep', 'drop', 'other')
      const answers = await store.completeJobs(jobs.map(leaseOf))
      expect(answers).toEqual(jobs.map(({ jobId }) => ({ jobId, outcome: 'completed' })))
      const kept = await Promise.all(
        jobs.map(async ({ type, jobId }) => [type, (await store.getJob(jobId))?.status ?? null]),
      )
      expect(Object.fromEntries(kept)).toEqual({
        keep: 'succeeded',
        drop: null,
        other: keepCompleted ? 'succeeded' : null,
      })
    }
  })

  it('LEASE-12 the policy of one call decides that call', async () => {
    const { store } = opened()
    await store.writePolicy(plainPolicy)
    const [first, second] = await startTwo(store)
    await store.completeJobs([first], { policy: { keepCompleted: false } })
    await store.completeJobs([second])
    expect(await store.getJob(first.jobId)).toBeNull()
    expect((await readJob(store, second.jobId)).status).toBe('succeeded')
  })

  it('LEASE-12 failed, released and cancelled jobs are kept', async () => {
    const { store } = opened()
    await store.writePolicy(deletesAll)
    const [failed, released] = await startTwo(store)
    await fail(store, failed, { isRetryable: false })
    await store.releaseJobs([released])
    expect((await readJob(store, failed.jobId)).status).toBe('dead')
    expect((await readJob(store, released.jobId)).status).toBe('waiting')
  })

  it('LEASE-12 a result is refused: it would be deleted with the row', async () => {
    const { store } = opened()
    await store.writePolicy(deletesAll)
    const [first, second] = await startTwo(store)
    const completions = [leaseOf(first), { ...leaseOf(second), result: { frames: 250 } }]
    await expect(store.completeJobs(completions)).rejects.toMatchObject(invalidArgument)
    for (const { jobId } of [first, second]) expect((await readJob(store, jobId)).status).toBe('running')
    const answers = await store.completeJobs([{ ...leaseOf(second), result: null }])
    expect(answers).toEqual([{ jobId: second.jobId, outcome: 'completed' }])
  })

  it('LEASE-12 the dedupe key of a deleted job is free again, as that of a kept one', async () => {
    const { store } = opened()
    await store.writePolicy(deletesAll)
    const claimed = await startOne(store, { dedupeKey: 'once' })
    expect((await store.enqueueJobs([{ type: TYPE, dedupeKey: 'once' }]))[0]?.outcome).toBe('duplicate')
    await complete(store, claimed)
    expect((await store.enqueueJobs([{ type: TYPE, dedupeKey: 'once' }]))[0]?.outcome).toBe('created')
  })
}

function describeLeases<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-12 a repeated completion does not find the job, and neither does a heartbeat', async () => {
    const { store } = opened()
    await store.writePolicy(deletesAll)
    const claimed = await startOne(store)
    await complete(store, claimed)
    expect(await complete(store, claimed)).toBe('not-found')
    expect((await store.failJobs([leaseOf(claimed)]))[0]?.outcome).toBe('not-found')
    expect(await beat(store, claimed)).toBe('lost')
  })

  it('LEASE-5 LEASE-12 a stale lease deletes nothing, alone or beside the current one', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(deletesAll)
    const stale = await startOne(store)
    await crashOnce(bench, stale)
    await bench.elapse(HOUR)
    const current = await claimOne(store)
    expect(current.jobId).toBe(stale.jobId)
    expect(await complete(store, stale)).toBe('lease-lost')
    expect((await readJob(store, stale.jobId)).status).toBe('running')
    const answers = await store.completeJobs([leaseOf(stale), leaseOf(current)])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['not-found', 'completed'])
    expect(await store.getJob(current.jobId)).toBeNull()
  })

  it('LEASE-12 held and foreign leases of one call each get their own answer', async () => {
    const { store } = opened()
    await store.writePolicy({ ...plainPolicy, typeKeepCompleted: { drop: false, keep: true } })
    const [kept, dropped, other] = (await startTypes(store, 'keep', 'drop', 'drop')) as [
      ClaimedJob,
      ClaimedJob,
      ClaimedJob,
    ]
    const answers = await store.completeJobs([leaseOf(kept), forgedLease(other.jobId), leaseOf(dropped)])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['completed', 'lease-lost', 'completed'])
    expect((await readJob(store, other.jobId)).status).toBe('running')
  })
}

function describeTraces<Tx>(opened: () => StoreHarness<Tx>): void {
  it('LEASE-12 a deleted job without events leaves none, and one with events gets a last one', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(deletesAll)
    const quiet = await startOne(store)
    await complete(store, quiet)
    expect(await eventsOf(store, quiet.jobId, 'complete')).toEqual([])
    const crashed = await startOne(store)
    await crashOnce(bench, crashed)
    await bench.elapse(HOUR)
    await complete(store, await claimOne(store))
    const [last] = await eventsOf(store, crashed.jobId, 'complete')
    expect(last?.data.details).toMatchObject({ is_deleted: true })
    expect((await store.readSlo()).rescued).toBe(1)
  })

  it('LEASE-12 retention deletes the events of deleted jobs, those of the rest stay', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...deletesAll, events: 'all' })
    const [first, second, running] = (await startMany(store, 3)) as [ClaimedJob, ClaimedJob, ClaimedJob]
    await store.completeJobs([first, second].map(leaseOf))
    expect(await eventsOf(store, first.jobId, 'processing')).toHaveLength(1)
    expect(await store.pruneJobs({ retentionDays: 7 })).toEqual({ deleted: 0, next: null })
    await bench.elapse(8 * DAY)
    const step = await store.pruneJobs({ retentionDays: 7, limit: 1 })
    expect(step).toMatchObject({ deleted: 1, next: expect.any(String) })
    expect(await store.pruneJobs({ retentionDays: 7, limit: 10, cursor: step.next ?? '' })).toEqual({
      deleted: 1,
      next: null,
    })
    for (const { jobId } of [first, second]) {
      expect(await eventsOf(store, jobId, 'complete')).toEqual([])
      expect(await eventsOf(store, jobId, 'processing')).toEqual([])
    }
    expect(await eventsOf(store, running.jobId, 'processing')).toHaveLength(1)
    expect(await claimMany(store)).toEqual([])
  })
}
