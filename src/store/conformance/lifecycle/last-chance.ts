// At most one of the jobs in a process that died is guilty. They return apart from each other, and the last chance of each is
// a run of its own, so that a job that kills its process is the only one to end because of it (C25).
import { describe, expect, it } from 'vitest'
import type { Job } from '../../../job/job.ts'
import type { ClaimedJob } from '../../../job/lease.ts'
import { explainJob } from '../../../policy/explain/explain-job.ts'
import type { ClaimRequest, JobStore } from '../../job-store.ts'
import {
  budgets,
  claimMany,
  claimOne,
  complete,
  crashOnce,
  enqueueMany,
  enqueueOne,
  MINUTE,
  plainPolicy,
  release,
  SECOND,
  startMany,
  startOne,
  sweep,
  TYPE,
} from '../builders.ts'
import { openHalf } from '../dependencies/breaker-builders.ts'
import type { ConformanceOptions, TestBench } from '../harness.ts'

/** One crash is left of the budget. */
const lastOnes = {
  failures: { crashes: 2, attempt: 2 },
  attempts: { crashes: 1, failures: 1, attempt: 2 },
  countedAtFailure: { crashes: 4 },
  countedAtReap: { crashes: 3, attempt: 3 },
} as const satisfies Record<keyof typeof budgets, Partial<Job>>

const kinds = Object.keys(lastOnes) as (keyof typeof budgets)[]

async function plantLast(
  { store, plantJob }: TestBench,
  kind: keyof typeof budgets = 'failures',
  fields: Partial<Job> = {},
): Promise<string> {
  await store.writePolicy({ ...plainPolicy, ...budgets[kind] })
  return plantJob({ type: TYPE, status: 'waiting', maxAttempts: 3, ...lastOnes[kind], ...fields })
}

async function claimedIds(store: JobStore, request: Partial<ClaimRequest> = {}): Promise<string[]> {
  return (await claimMany(store, request)).map(({ jobId }) => jobId)
}

export function describeLastChance(opened: () => TestBench, { isSharded = false }: ConformanceOptions): void {
  describe('the last chance of a job', () => {
    describe.skipIf(isSharded)('a worker, whose shard knows all its jobs', () => {
      describeAlone(opened)
      describeKept(opened)
    })
    describeCohort(opened)
  })
}

function describeAlone(opened: () => TestBench): void {
  it.each(kinds)('REAP-15 with the budget %s an idle worker gets it, and nothing beside it', async (kind) => {
    const { store } = opened()
    const jobId = await plantLast(opened(), kind)
    const [healthy] = await enqueueMany(store, 3)
    const [claimed, ...others] = await claimMany(store)
    expect([claimed?.jobId, claimed?.runsAlone, others]).toEqual([jobId, true, []])
    expect(await claimMany(store)).toEqual([])
    expect(await store.claimJob(healthy ?? '', { workerId: 'worker-1' })).toBe('not-claimable')
    expect(await claimMany(store, { workerId: 'worker-2' })).toHaveLength(3)
    expect(await complete(store, claimed as ClaimedJob)).toBe('completed')
    await enqueueOne(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it.each(kinds)('REAP-15 with the budget %s a busy worker skips it and takes the next job', async (kind) => {
    const { store } = opened()
    const jobId = await plantLast(opened(), kind, { queue: 'others' })
    await startOne(store)
    const healthy = await enqueueOne(store, { queue: 'others' })
    expect(await store.claimJob(jobId, { workerId: 'worker-1' })).toBe('not-claimable')
    expect(await claimedIds(store, { queues: ['others'], limit: 1 })).toEqual([healthy])
    expect(await claimedIds(store, { queues: ['others'], workerId: 'worker-2' })).toEqual([jobId])
  })

  it('REAP-15 it waits for its turn: an idle worker takes older jobs first, and leaves it to another', async () => {
    const { store } = opened()
    const older = await enqueueOne(store)
    const jobId = await plantLast(opened())
    expect(await claimedIds(store)).toEqual([older])
    expect(await claimedIds(store, { workerId: 'worker-2' })).toEqual([jobId])
  })

  it('REAP-15 a job that only failed before, or crashed and has more chances, runs beside others', async () => {
    const { store, plantJob } = opened()
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    await plantJob({ type: TYPE, status: 'waiting', maxAttempts: 3, failures: 2, attempt: 2 })
    await plantJob({ type: TYPE, status: 'waiting', maxAttempts: 3, crashes: 1, attempt: 1 })
    await enqueueOne(store)
    const claimed = await claimMany(store)
    expect(claimed.map(({ runsAlone }) => runsAlone)).toEqual([false, false, false])
  })

  it('REAP-15 BREAK-2 one in a paused queue does not block other queues', async () => {
    const { store } = opened()
    await plantLast(opened(), 'failures', { queue: 'others' })
    await store.pauseQueue('others')
    const healthy = await enqueueOne(store)
    expect(await claimedIds(store, { queues: ['others', TYPE] })).toEqual([healthy])
  })

  it('REAP-15 BREAK-3 one without a slot of a half-open breaker does not block other queues', async () => {
    const bench = opened()
    const { store } = bench
    await openHalf(bench)
    await startOne(store, {}, { workerId: 'worker-2', leaseMs: 10 * MINUTE })
    await plantLast(bench)
    const healthy = await enqueueOne(store, { queue: 'others' })
    expect(await claimedIds(store, { queues: [TYPE, 'others'] })).toEqual([healthy])
  })

  it('REAP-15 a worker that gives it back may take any job again', async () => {
    const { store } = opened()
    const jobId = await plantLast(opened())
    await release(store, await claimOne(store))
    const healthy = await enqueueOne(store)
    const again = await claimOne(store)
    expect(again.jobId).toBe(jobId)
    expect(await complete(store, again)).toBe('completed')
    expect(await claimedIds(store)).toEqual([healthy])
  })
}

function describeKept(opened: () => TestBench): void {
  /** A busy worker-1, and a last-chance job that has been due for this long. */
  async function waitsFor(ms: number): Promise<{ jobId: string; running: ClaimedJob }> {
    const { store, elapse } = opened()
    const jobId = await plantLast(opened(), 'failures', { queue: 'others' })
    const running = await startOne(store, {}, { leaseMs: 10 * MINUTE })
    await elapse(ms)
    return { jobId, running }
  }
  const others = { queues: ['others'] }

  it('REAP-15 if no worker is idle for 30 s, one takes no more jobs, and runs it once idle', async () => {
    const { store } = opened()
    const { jobId, running } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    await enqueueOne(store)
    expect(await claimMany(store)).toEqual([])
    expect(await complete(store, running)).toBe('completed')
    expect(await claimMany(store)).toEqual([])
    const [claimed] = await claimMany(store, { queues: [TYPE, 'others'] })
    expect([claimed?.jobId, claimed?.runsAlone]).toEqual([jobId, true])
  })

  it('REAP-15 a reserved worker fills no more slots, however long its jobs take', async () => {
    const { store, elapse } = opened()
    const { jobId, running } = await waitsFor(31 * SECOND)
    const healthy = await enqueueOne(store, { queue: 'others' })
    expect(await claimMany(store, others)).toEqual([])
    // With every slot taken it would not ask again for that long, and each reservation would lapse.
    await elapse(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    expect(await complete(store, running)).toBe('completed')
    expect(await claimedIds(store, others)).toEqual([jobId])
    expect(await claimedIds(store, { ...others, workerId: 'worker-2' })).toEqual([healthy])
  })

  it('REAP-15 an idle worker takes one that has been due for 30 s at once, before older jobs', async () => {
    const { store, elapse } = opened()
    const older = await enqueueOne(store)
    const jobId = await plantLast(opened())
    await elapse(31 * SECOND)
    const [claimed, ...others] = await claimMany(store)
    expect([claimed?.jobId, claimed?.runsAlone, others]).toEqual([jobId, true, []])
    expect(await claimedIds(store, { workerId: 'worker-2' })).toEqual([older])
  })

  it('REAP-15 an idle worker takes one that has been due for 30 s before older jobs of its other queues', async () => {
    const { store, elapse } = opened()
    await enqueueMany(store, 3)
    const jobId = await plantLast(opened(), 'failures', { queue: 'others' })
    await enqueueOne(store, { queue: 'others' })
    await elapse(31 * SECOND)
    expect(await claimedIds(store, { queues: [TYPE, 'others'] })).toEqual([jobId])
  })

  it('REAP-15 an idle worker takes it at once although another one is reserved', async () => {
    const { store } = opened()
    await enqueueOne(store, { queue: 'others' })
    const { jobId } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    expect(await claimedIds(store, { ...others, workerId: 'worker-2' })).toEqual([jobId])
  })

  it('REAP-15 a reserved worker takes it before urgent jobs once idle, however rarely it claims', async () => {
    const { store, elapse } = opened()
    const jobId = await plantLast(opened())
    await elapse(31 * SECOND)
    await enqueueOne(store, { priority: -1 })
    const [urgent, ...none] = await claimMany(store)
    expect([urgent?.priority, none]).toEqual([-1, []])
    expect(await complete(store, urgent as ClaimedJob)).toBe('completed')
    await elapse(50 * SECOND)
    await sweep(store)
    await enqueueOne(store, { priority: -1 })
    expect(await claimedIds(store)).toEqual([jobId])
  })

  it('REAP-15 a reserved worker stays reserved until it is idle, however rarely it claims', async () => {
    const { store, elapse } = opened()
    const { jobId, running } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    await elapse(50 * SECOND)
    await sweep(store)
    await enqueueOne(store)
    expect(await claimMany(store)).toEqual([])
    expect(explained(await store.readJobFacts(jobId))).toContain('worker-1 takes no other jobs')
    expect(await complete(store, running)).toBe('completed')
    expect(await claimedIds(store, others)).toEqual([jobId])
  })

  it('REAP-15 an idle worker that cannot take it takes other jobs once its reservation has lapsed', async () => {
    const { store, elapse } = opened()
    const { running } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    expect(await complete(store, running)).toBe('completed')
    await elapse(31 * SECOND)
    await enqueueOne(store)
    // At the latest by the second claim: the first one may try that job once more.
    expect([...(await claimMany(store)), ...(await claimMany(store))]).toHaveLength(1)
  })

  it('REAP-15 it takes jobs again if the last chance is postponed', async () => {
    const { store } = opened()
    const { jobId } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    const other = await claimOne(store, { ...others, workerId: 'worker-2' })
    expect(other.jobId).toBe(jobId)
    await store.releaseJobs([other], { delayMs: MINUTE })
    await enqueueOne(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('REAP-15 it takes the job beside its others once that has more chances', async () => {
    const { store } = opened()
    const { jobId } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    await store.writePolicy({ maxCrashes: 4 })
    expect(await claimedIds(store, others)).toEqual([jobId])
  })

  it('REAP-15 BREAK-2 it takes jobs again if the queue of the last chance is paused', async () => {
    const { store } = opened()
    await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    await store.pauseQueue('others')
    await enqueueOne(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('REAP-15 before that it takes other jobs', async () => {
    const { store } = opened()
    await waitsFor(20 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    await enqueueOne(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('REAP-15 one worker per queue is reserved at a time, and another one if it falls silent', async () => {
    const { store, elapse } = opened()
    const { jobId } = await waitsFor(31 * SECOND)
    await startOne(store, {}, { workerId: 'worker-2', leaseMs: 10 * MINUTE })
    expect(await claimMany(store, others)).toEqual([])
    expect(await claimMany(store, { ...others, workerId: 'worker-2' })).toEqual([])
    await enqueueMany(store, 2)
    expect(await claimMany(store, { limit: 1 })).toEqual([])
    expect(await claimMany(store, { limit: 1, workerId: 'worker-2' })).toHaveLength(1)
    await elapse(31 * SECOND)
    expect(await claimMany(store, { ...others, workerId: 'worker-2' })).toEqual([])
    expect(await claimMany(store, { workerId: 'worker-2' })).toEqual([])
    expect(explained(await store.readJobFacts(jobId))).toContain('worker-2 takes no other jobs')
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('REAP-15 it goes to the first idle worker, and the reserved one takes jobs again', async () => {
    const { store } = opened()
    const { jobId } = await waitsFor(31 * SECOND)
    expect(await claimMany(store, others)).toEqual([])
    expect(await claimedIds(store, { ...others, workerId: 'worker-2' })).toEqual([jobId])
    await enqueueOne(store)
    expect(await claimMany(store)).toHaveLength(1)
  })

  it('REAP-15 why reports that it waits for an idle worker, and which one is reserved', async () => {
    const { store } = opened()
    const { jobId } = await waitsFor(31 * SECOND)
    const before = explained(await store.readJobFacts(jobId))
    expect(before).toContain('one more crash ends it: it runs alone')
    expect(before).toContain('It waits for a worker that runs nothing else.')
    await claimMany(store, others)
    expect(explained(await store.readJobFacts(jobId))).toContain(
      'worker-1 takes no other jobs until it can run it',
    )
  })
}

function explained(facts: Awaited<ReturnType<JobStore['readJobFacts']>>): string {
  if (facts === null) throw new Error('there are no facts')
  const { reasons, sentence } = explainJob(facts)
  return [...reasons.map(({ message }) => message), sentence].join('\n')
}

function describeCohort(opened: () => TestBench): void {
  const stepMs = 40 * MINUTE
  const spread = { ...plainPolicy, ...budgets.failures, reapBackoffStepsMs: [stepMs], requeueRatePerS: 50 }

  async function waitsAfterCrash(claimed: ClaimedJob[]): Promise<number[]> {
    const { store, elapse } = opened()
    await elapse(2 * MINUTE)
    const { reaped } = await sweep(store)
    expect(reaped).toHaveLength(claimed.length)
    return reaped.map(({ retryInMs }) => retryInMs ?? 0)
  }

  it('REAP-15 jobs that crashed in one process return over a whole backoff, never before it', async () => {
    const { store } = opened()
    await store.writePolicy(spread)
    const waits = await waitsAfterCrash(await startMany(store, 30))
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(stepMs)
    expect(Math.max(...waits)).toBeLessThanOrEqual(2 * stepMs)
    // All thirty within half of it happens once in 30 million runs.
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(stepMs / 2)
  })

  it('REAP-15 REAP-5 a job that crashed alone returns after its backoff, however many others crashed', async () => {
    const { store } = opened()
    await store.writePolicy(spread)
    const claimed: ClaimedJob[] = []
    for (let nth = 1; nth <= 5; nth += 1)
      claimed.push(await startOne(store, {}, { workerId: `worker-${nth}` }))
    // The rate spreads five jobs over a tenth of a second.
    expect(Math.max(...(await waitsAfterCrash(claimed)))).toBeLessThanOrEqual(stepMs + 100)
  })

  it('REAP-15 FAIL-5 a job that kills its process each time is dead, and those that ran beside it are not', async () => {
    const bench = opened()
    const { store } = bench
    await store.writePolicy({ ...plainPolicy, ...budgets.failures })
    const [poison = '', ...healthy] = (await startMany(store, 4)).map(({ jobId }) => jobId)
    await bench.elapse(2 * MINUTE)
    await sweep(store)
    expect(await claimMany(store)).toHaveLength(4)
    await bench.elapse(2 * MINUTE)
    await sweep(store)
    for (const jobId of healthy) {
      const [claimed, ...others] = await claimMany(store, { workerId: `worker-${jobId}` })
      expect(others).toEqual([])
      if (claimed === undefined) throw new Error('every one of them has a last chance')
      if (claimed.jobId === poison) await crashOnce(bench, claimed)
      else expect(await complete(store, claimed)).toBe('completed')
    }
    const [last] = await claimMany(store)
    if (last !== undefined) await (last.jobId === poison ? crashOnce(bench, last) : complete(store, last))
    const statuses = await Promise.all(
      [poison, ...healthy].map(async (id) => (await store.getJob(id))?.status),
    )
    expect(statuses).toEqual(['dead', 'succeeded', 'succeeded', 'succeeded'])
  })
}
