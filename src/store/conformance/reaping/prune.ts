import { describe, expect, it } from 'vitest'
import type { PruneRequest, PruneStep } from '../../job-store.ts'
import {
  cancel,
  complete,
  DAY,
  enqueueOne,
  HOUR,
  plainPolicy,
  readJob,
  startDead,
  startMany,
  startOne,
} from '../builders.ts'
import type { TestBench } from '../harness.ts'

export function describePrune(opened: () => TestBench): void {
  describe('pruneJobs', () => {
    describeRetention(opened)
    describePruneSteps(opened)
  })
}

async function prune(bench: TestBench, request: PruneRequest = {}): Promise<PruneStep[]> {
  const steps = [await bench.store.pruneJobs(request)]
  for (let cursor = steps[0]?.next ?? null; cursor !== null; cursor = steps.at(-1)?.next ?? null) {
    if (steps.length > 1000) throw new Error('this pruning does not end')
    steps.push(await bench.store.pruneJobs({ ...request, cursor }))
  }
  return steps
}

function deletedBy(steps: PruneStep[]): number {
  return steps.reduce((sum, { deleted }) => sum + deleted, 0)
}

function describeRetention(opened: () => TestBench): void {
  it('OPS-2 ended jobs older than the retention are deleted, be they succeeded, dead or cancelled', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, retentionDays: 14 })
    const succeeded = await startOne(store)
    await complete(store, succeeded)
    const dead = await startDead(store)
    const cancelled = await enqueueOne(store)
    await cancel(store, cancelled)
    await bench.elapse(14 * DAY + HOUR)
    expect(deletedBy(await prune(bench))).toBe(3)
    for (const jobId of [succeeded.jobId, dead, cancelled]) expect(await store.getJob(jobId)).toBeNull()
  })

  it('OPS-2 ended jobs within the retention stay', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, retentionDays: 14 })
    const jobId = await startDead(bench.store)
    await bench.elapse(14 * DAY - HOUR)
    expect(deletedBy(await prune(bench))).toBe(0)
    expect((await readJob(bench.store, jobId)).status).toBe('dead')
  })

  it('OPS-2 retention counts from the end of the job, not from its creation', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, retentionDays: 14 })
    const claimed = await startOne(bench.store)
    await bench.elapse(30 * DAY)
    await complete(bench.store, claimed)
    expect(deletedBy(await prune(bench))).toBe(0)
  })

  it('OPS-2 waiting and running jobs are never deleted, however old', async () => {
    const bench = opened()
    const { store } = bench
    const running = await startOne(store)
    const waiting = await enqueueOne(store)
    await bench.elapse(3650 * DAY)
    expect(deletedBy(await prune(bench, { retentionDays: 7 }))).toBe(0)
    expect((await readJob(store, running.jobId)).status).toBe('running')
    expect((await readJob(store, waiting)).status).toBe('waiting')
  })

  it('OPS-2 the caller may give another retention', async () => {
    const bench = opened()
    await bench.store.writePolicy({ ...plainPolicy, retentionDays: 30 })
    await startDead(bench.store)
    await bench.elapse(8 * DAY)
    expect(deletedBy(await prune(bench))).toBe(0)
    expect(deletedBy(await prune(bench, { retentionDays: 7 }))).toBe(1)
  })
}

function describePruneSteps(opened: () => TestBench): void {
  it('OPS-2 a step deletes at most its limit, and pruning continues until all are gone', async () => {
    const bench = opened()
    const { store } = bench
    for (const claimed of await startMany(store, 5)) await complete(store, claimed)
    await bench.elapse(15 * DAY)
    const steps = await prune(bench, { limit: 2, retentionDays: 14 })
    for (const { deleted } of steps) expect(deleted).toBeLessThanOrEqual(2)
    expect(deletedBy(steps)).toBe(5)
    expect(steps.length).toBeGreaterThan(2)
  })

  it('OPS-2 rows that stay do not keep a step from those behind them', async () => {
    const bench = opened()
    const { store } = bench
    for (let nth = 0; nth < 4; nth += 1) await enqueueOne(store, { queue: 'aside' })
    await startDead(store)
    await bench.elapse(15 * DAY)
    expect(deletedBy(await prune(bench, { limit: 2, retentionDays: 14 }))).toBe(1)
  })

  it('OPS-2 an empty table is one step', async () => {
    const bench = opened()
    expect(await prune(bench)).toEqual([{ deleted: 0, next: null }])
  })
}
