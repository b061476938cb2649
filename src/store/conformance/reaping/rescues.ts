// The history of rescues: reclaims, stale jobs and sweeps.
import { describe, expect, it } from 'vitest'
import type { Reclaim } from '../../job-store.ts'
import {
  budgets,
  cancel,
  claimOne,
  crashOnce,
  expectAbout,
  expectUnchanged,
  invalidArgument,
  MINUTE,
  plainPolicy,
  SECOND,
  startMany,
  startOne,
  sweep,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

const policy = { ...plainPolicy, ...budgets.failures, sweepIntervalMs: 10 * SECOND }
const reaper = { reaperId: 'reaper-1' }

export function describeRescues(opened: () => TestBench): void {
  describe('listReclaims', () => {
    describeReclaims(opened)
    describeReclaimPages(opened)
  })
  describe('listStaleJobs', () => {
    describeStale(opened)
  })
  describe('listSweeps', () => {
    describeSweeps(opened)
    describeSweepPages(opened)
  })
}

function describeReclaims(opened: () => TestBench): void {
  it('SEE-6 a rescue names the lost worker, the lateness, and the next holder', async () => {
    const bench = opened()
    const { store, elapse } = bench
    await store.writePolicy(policy)
    const { jobId, attempt } = await startOne(store, { stage: 'burnin' }, { workerId: 'lost' })
    await elapse(MINUTE + 5 * SECOND)
    await sweep(store, { reaper })
    const before = (await store.listReclaims()).reclaims[0]
    const known = { jobId, type: 'encode', stage: 'burnin', attempt, workerId: 'lost' }
    expect(before).toMatchObject({ ...known, action: 'requeued', reason: 'lease_expired' })
    expect(before).toMatchObject({ darkMs: null, claimedAgainAt: null, claimedBy: null })
    expectAbout(before?.latenessMs, 5 * SECOND)
    await elapse(20 * SECOND)
    await claimOne(store, { workerId: 'saviour' })
    const [after] = (await store.listReclaims()).reclaims
    expect(after).toMatchObject({ ...known, claimedBy: 'saviour' })
    expectAbout(after?.darkMs, MINUTE + 25 * SECOND)
    expectAbout((after?.claimedAgainAt?.getTime() ?? 0) - (after?.reapedAt.getTime() ?? 0), 20 * SECOND)
  })

  it('SEE-6 jobs that a reap ended are listed as dead or cancelled, and not claimed again', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...policy, ...budgets.attempts, maxAttempts: 1 })
    await crashOnce(bench, await startOne(store))
    const asked = await startOne(store)
    await cancel(store, asked.jobId)
    await crashOnce(bench, asked)
    const { reclaims } = await store.listReclaims()
    expect(reclaims.map(({ action, claimedAgainAt }) => [action, claimedAgainAt])).toEqual([
      ['cancelled', null],
      ['dead', null],
    ])
  })
}

/** All pages. */
async function walk(read: (before?: string) => Promise<{ ids: string[]; next: string | null }>) {
  const ids: string[] = []
  let page = await read()
  ids.push(...page.ids)
  while (page.next !== null) {
    page = await read(page.next)
    ids.push(...page.ids)
  }
  return ids
}

function describeReclaimPages(opened: () => TestBench): void {
  const idsOf = (reclaims: Reclaim[]) => reclaims.map(({ jobId }) => jobId)

  it('SEE-6 pages continue where the last one ended, and filters apply', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(policy)
    const started = []
    for (const [nth, workerId] of ['a', 'b', 'a'].entries()) {
      const job = await startOne(
        store,
        { type: `t${nth}`, stage: workerId === 'a' ? 'x' : 'y' },
        { workerId },
      )
      await crashOnce(bench, job)
      started.unshift(job.jobId)
    }
    const seen = await walk(async (before) => {
      const page = await store.listReclaims({ limit: 1, ...(before === undefined ? {} : { before }) })
      expect(page.reclaims.length).toBeLessThanOrEqual(1)
      return { ids: idsOf(page.reclaims), next: page.next }
    })
    expect(seen).toEqual(started)
    expect(idsOf((await store.listReclaims({ workerId: 'b' })).reclaims)).toEqual([started[1]])
    expect(idsOf((await store.listReclaims({ stage: 'x' })).reclaims)).toEqual([started[0], started[2]])
    expect((await store.listReclaims({ workerId: 'b', stage: 'x' })).reclaims).toEqual([])
  })

  it('OPS-8 a limit out of range is refused', async () => {
    const { store } = opened()
    for (const limit of [0, 1001]) {
      await expect(store.listReclaims({ limit })).rejects.toMatchObject(invalidArgument)
      await expect(store.listStaleJobs({ limit })).rejects.toMatchObject(invalidArgument)
      await expect(store.listSweeps({ limit })).rejects.toMatchObject(invalidArgument)
    }
  })
}

function describeStale(opened: () => TestBench): void {
  it('SEE-6 a healthy job is not listed; one past its lease is, with the reason and unchanged', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    const { jobId } = await startOne(store, {}, { workerId: 'lost' })
    expect(await store.listStaleJobs()).toEqual({ jobs: [], count: 0 })
    await elapse(MINUTE + 5 * SECOND)
    await expectUnchanged(store, jobId, async () => {
      const { jobs, count } = await store.listStaleJobs()
      expect(count).toBe(1)
      expect(jobs[0]).toMatchObject({ jobId, workerId: 'lost', leaseMs: MINUTE, isPastTwiceLease: false })
      expect(jobs[0]).toMatchObject({ code: 'NO_REAPER', reaperAgeMs: null, lockedBy: null })
      expectAbout(jobs[0]?.overdueMs, 5 * SECOND)
    })
  })

  it('SEE-6 a stale job waits for the next sweep, or reports that there is no reaper', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...policy, sweepIntervalMs: MINUTE })
    await startOne(store)
    await elapse(30 * SECOND)
    await sweep(store, { reaper })
    await elapse(40 * SECOND)
    const [waiting] = (await store.listStaleJobs()).jobs
    expect(waiting).toMatchObject({ code: 'LEASE_OVER_AWAITING_REAPER' })
    expectAbout(waiting?.reaperAgeMs, 40 * SECOND)
    await elapse(3 * MINUTE)
    expect((await store.listStaleJobs()).jobs[0]).toMatchObject({ code: 'NO_REAPER' })
  })

  it('C9 a job held after an outage reports it, and so does a table in mode observe', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    const { jobId } = await startOne(store)
    await elapse(90 * SECOND)
    await sweep(store, { reaper: { ...reaper, failingForMs: MINUTE } })
    expect((await store.listStaleJobs()).jobs[0]).toMatchObject({ code: 'HELD' })
    expectAbout((await store.readJobFacts(jobId))?.heldForMs, MINUTE)
    await elapse(2 * MINUTE)
    expect((await store.readJobFacts(jobId))?.heldForMs).toBeNull()
    await store.setMode('observe')
    await sweep(store, { reaper })
    expect((await store.listStaleJobs()).jobs[0]).toMatchObject({ code: 'OBSERVED' })
    await store.setMode('reap')
  })

  it('SEE-6 jobs past twice their lease can be listed alone, longest first', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    const first = await startOne(store, { type: 'first' })
    await elapse(2 * MINUTE)
    const second = await startOne(store, { type: 'second' })
    await elapse(MINUTE + SECOND)
    const all = await store.listStaleJobs()
    expect(all.jobs.map(({ jobId }) => jobId)).toEqual([first.jobId, second.jobId])
    const twice = await store.listStaleJobs({ isPastTwiceLease: true })
    expect(twice).toMatchObject({ count: 1, jobs: [{ jobId: first.jobId, isPastTwiceLease: true }] })
    expect(await store.listStaleJobs({ limit: 1 })).toMatchObject({ count: 2, jobs: [{ type: 'first' }] })
  })
}

function describeSweeps(opened: () => TestBench): void {
  it('SEE-6 a sweep that found nothing only shows as the last one', async () => {
    const { store } = opened()
    await store.writePolicy(policy)
    expect(await store.listSweeps()).toEqual({ last: null, sweeps: [], next: null })
    await startOne(store)
    await sweep(store, { reaper })
    await sweep(store)
    const { last, sweeps } = await store.listSweeps()
    expect(last).toMatchObject({ reaperId: 'reaper-1', found: 0, requeued: 0, dead: 0, skipped: 0, held: 0 })
    expect(sweeps).toEqual([])
  })

  it('SEE-6 a sweep that found something is kept with the counts of all its steps', async () => {
    const { store, elapse } = opened()
    await store.writePolicy({ ...policy, maxCrashes: 2 })
    const jobs = await startMany(store, 5)
    await elapse(MINUTE + SECOND)
    // Three steps that reap, and the one that closes the sweep.
    expect((await sweep(store, { reaper, limit: 2 })).steps).toBe(4)
    const { last, sweeps } = await store.listSweeps()
    const counts = { found: jobs.length, requeued: jobs.length, dead: 0, cancelled: 0, skipped: 0, held: 0 }
    expect(sweeps).toMatchObject([{ reaperId: 'reaper-1', actor: null, reason: null, ...counts }])
    expect(last).toMatchObject(counts)
    expect(sweeps[0]?.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('C9 held leases count as found', async () => {
    const { store, elapse } = opened()
    await store.writePolicy(policy)
    await startOne(store)
    await elapse(90 * SECOND)
    await sweep(store, { reaper: { ...reaper, failingForMs: MINUTE } })
    const found = { found: 1, held: 1, requeued: 0, holdReason: 'sweeps-failed' }
    expect((await store.listSweeps()).sweeps).toMatchObject([found])
  })

  it('OPS-1 a manual one is recorded with who and why', async () => {
    const bench = opened()
    await bench.store.writePolicy(policy)
    await sweepByHand(bench, 'ana')
    const { last, sweeps } = await bench.store.listSweeps()
    expect(last).toBeNull()
    expect(sweeps).toMatchObject([{ reaperId: null, actor: 'ana', reason: 'after the deploy', found: 1 }])
  })
}

async function sweepByHand({ store, elapse }: TestBench, actor: string): Promise<void> {
  await startOne(store, { type: actor })
  await elapse(MINUTE + SECOND)
  await sweep(store, { actor, reason: 'after the deploy' })
}

function describeSweepPages(opened: () => TestBench): void {
  it('SEE-6 newest first, and pages continue where the last one ended', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy(policy)
    for (const actor of ['a', 'b', 'c']) await sweepByHand(bench, actor)
    const seen = await walk(async (before) => {
      const { sweeps, next } = await store.listSweeps({
        limit: 2,
        ...(before === undefined ? {} : { before }),
      })
      return { ids: sweeps.map(({ actor }) => actor ?? ''), next }
    })
    expect(seen).toEqual(['c', 'b', 'a'])
  })
}
