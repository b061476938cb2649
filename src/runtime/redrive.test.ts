import { describe, expect, it } from 'vitest'
import { createMemoryStore, type MemoryJobStore } from '../store/memory/index.ts'
import { eachJob } from './each-job.ts'
import { type RedriveOptions, type RedriveProgress, redriveJobs } from './redrive.ts'

const error = { code: 'GW_5XX', reason: 'bad', category: null, stack: null, attempt: 3 }

function storeWithDead(count: number): MemoryJobStore {
  const store = createMemoryStore({ policy: { failureBackoffStepsMs: [60_000] } })
  for (let n = 0; n < count; n++) store.plantJob({ type: 'asr', status: 'dead', failures: 3, error })
  return store
}

async function dead(store: MemoryJobStore): Promise<{ id: string; queue: string }[]> {
  const jobs: { id: string; queue: string }[] = []
  for await (const { id, queue } of eachJob(store, { status: 'dead' })) jobs.push({ id, queue })
  return jobs.toReversed()
}

/** While a redrive waits, a worker ends what it brought back. */
function workedBy(
  store: MemoryJobStore,
  isFine: (nth: number) => boolean,
): Required<Pick<RedriveOptions, 'wait'>> {
  let nth = 0
  return {
    wait: async () => {
      for (const job of await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 100 })) {
        nth += 1
        if (isFine(nth)) await store.completeJobs([job])
        else await store.failJobs([{ ...job, code: 'GW_5XX' }])
      }
    },
  }
}

describe('redriveJobs', () => {
  it('OPS-9 brings all back at the given rate, in the given order, with who and why', async () => {
    const store = storeWithDead(25)
    const waits: number[] = []
    const told: RedriveProgress[] = []
    const jobs = await dead(store)
    const report = await redriveJobs(store, jobs, {
      ratePerS: 10,
      actor: 'ana',
      reason: 'INC-431',
      wait: async (ms) => waits.push(ms),
      onProgress: (progress) => told.push(progress),
    })
    expect(report).toEqual({ stopped: null, total: 25, redriven: 25, refused: 0, succeeded: 0, failed: 0 })
    expect(waits).toEqual([1_000, 1_000])
    expect(told.map(({ redriven }) => redriven)).toEqual([10, 20, 25])
    const [event] = await store.listEvents(jobs[0]?.id ?? '')
    expect(event?.data.details).toMatchObject({ cause: 'retry', actor: 'ana', reason: 'INC-431' })
  })

  it('OPS-9 a rate below one a second spaces single jobs', async () => {
    const store = storeWithDead(3)
    const waits: number[] = []
    await redriveJobs(store, await dead(store), { ratePerS: 0.5, wait: async (ms) => waits.push(ms) })
    expect(waits).toEqual([2_000, 2_000])
  })

  it('OPS-9 the rest follows a canary that succeeded', async () => {
    const store = storeWithDead(5)
    const report = await redriveJobs(store, await dead(store), { canary: 1, ...workedBy(store, () => true) })
    expect(report).toMatchObject({ stopped: null, redriven: 5, succeeded: 1 })
  })

  it('OPS-9 a canary that fails again stops it at the first attempt, with the rest as it was', async () => {
    const store = storeWithDead(5)
    const report = await redriveJobs(store, await dead(store), { canary: 1, ...workedBy(store, () => false) })
    expect(report).toMatchObject({ stopped: 'canary-failed', redriven: 1, failed: 1 })
    expect(await dead(store)).toHaveLength(4)
  })

  it('OPS-9 a canary that nobody takes stops it after its time', async () => {
    const store = storeWithDead(2)
    const options = { canary: 1, canaryTimeoutMs: 5_000, wait: async () => {} }
    expect(await redriveJobs(store, await dead(store), options)).toMatchObject({
      stopped: 'canary-timeout',
      redriven: 1,
    })
  })

  it('OPS-9 stops when half of the first 20 have failed again', async () => {
    const store = storeWithDead(100)
    const report = await redriveJobs(store, await dead(store), {
      ratePerS: 5,
      ...workedBy(store, (nth) => nth % 2 === 0),
    })
    expect(report).toMatchObject({ stopped: 'too-many-failures', redriven: 20, failed: 10, succeeded: 10 })
    expect(await dead(store)).toHaveLength(80)
  })

  it('OPS-9 goes on where fewer than half fail', async () => {
    const store = storeWithDead(60)
    const report = await redriveJobs(store, await dead(store), {
      ...workedBy(store, (nth) => nth % 3 !== 0),
    })
    expect(report).toMatchObject({ stopped: null, redriven: 60, failed: 6 })
  })

  it('REAP-1 a job that kills its worker again has failed again', async () => {
    const store = storeWithDead(2)
    const wait = async () => {
      await store.claimJobs({ workerId: 'w', queues: ['asr'], limit: 1, leaseMs: 1 })
      store.elapse(1_000)
      await store.sweepJobs()
    }
    const report = await redriveJobs(store, await dead(store), { canary: 1, wait })
    expect(report).toMatchObject({ stopped: 'canary-failed', failed: 1 })
  })

  it('BREAK-2 stops when the breaker of a queue opens, and does not start where it is open', async () => {
    const store = storeWithDead(30)
    await store.mapDependency('asr', 'gateway')
    const wait = async () => {
      await store.holdBreaker('gateway')
    }
    const report = await redriveJobs(store, await dead(store), { wait })
    expect(report).toMatchObject({ stopped: 'breaker-open', redriven: 10 })
    expect(await redriveJobs(store, await dead(store))).toMatchObject({
      stopped: 'breaker-open',
      redriven: 0,
    })
  })

  it('OPS-9 an interruption leaves what is done', async () => {
    const store = storeWithDead(30)
    const stop = new AbortController()
    const report = await redriveJobs(store, await dead(store), {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })
    expect(report).toMatchObject({ stopped: 'interrupted', redriven: 10 })
    expect(await dead(store)).toHaveLength(20)
  })

  it('OPS-1 what is not dead any more is counted apart', async () => {
    const store = storeWithDead(3)
    const jobs = await dead(store)
    await store.retryJobs([jobs[0]?.id ?? ''])
    expect(await redriveJobs(store, jobs)).toMatchObject({ stopped: null, redriven: 2, refused: 1 })
  })
})

describe('eachJob', () => {
  it('OPS-9 gives every job once, over pages, up to the limit', async () => {
    const store = createMemoryStore()
    await store.enqueueJobs(Array.from({ length: 1_100 }, () => ({ type: 'asr' })))
    const seen = new Set<string>()
    for await (const { id } of eachJob(store, { status: 'waiting' })) seen.add(id)
    expect(seen.size).toBe(1_100)
    let count = 0
    for await (const _ of eachJob(store, {}, { limit: 700 })) count += 1
    expect(count).toBe(700)
  })
})
