// One worker over the memory store, on a clock that the test moves: how often each job is claimed until it is
// done. Handlers and calls of the store take their time on that clock, so nothing depends on the machine.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import type { JobStore } from '../../store/job-store.ts'

const SLOTS = 10
const MOST_CLAIMS = 1.02

interface Cell {
  name: string
  /** How long the handler of each job takes. */
  handlersMs: number[]
  /** Jobs enqueued per second. Default: all at the start. */
  offeredPerS?: number
  /** How long a call of the store takes, on average. */
  callMs?: number
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const same = (jobs: number, ms: number) => Array.from({ length: jobs }, () => ms)

/** Spread evenly and in no order, the same in each run. */
function mixed(jobs: number, msOf: (share: number) => number): number[] {
  let seed = 1
  return Array.from({ length: jobs }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return msOf(seed / 2_147_483_647)
  })
}

const anyOf = [0, 10, 100, 1_000, 2_000, 5_000]
const cells: Cell[] = [
  { name: 'a backlog at 0 ms', handlersMs: same(5_000, 0) },
  { name: 'a backlog at 10 ms', handlersMs: same(1_000, 10) },
  { name: 'a backlog at 100 ms', handlersMs: same(300, 100) },
  { name: 'a backlog at 1,000 ms', handlersMs: same(60, 1_000) },
  { name: 'a backlog at 2,000 ms', handlersMs: same(60, 2_000) },
  { name: 'a backlog at 5,000 ms', handlersMs: same(60, 5_000) },
  { name: 'a mixed backlog', handlersMs: mixed(200, (share) => anyOf[Math.floor(share * 6)] ?? 0) },
  { name: 'a backlog with few slow jobs', handlersMs: mixed(2_000, (share) => (share < 0.02 ? 1_000 : 0)) },
  {
    name: 'slow jobs in waves',
    handlersMs: Array.from({ length: 1_000 }, (_, job) => (job % 100 < SLOTS ? 1_000 : 0)),
  },
  { name: 'an offered load of 0.9 at 0 ms', handlersMs: same(2_000, 0), offeredPerS: 3_000 },
  { name: 'an offered load of 1.5 at 0 ms', handlersMs: same(2_000, 0), offeredPerS: 5_000 },
  { name: 'an offered load of 0.9 at 150 ms', handlersMs: same(300, 150), offeredPerS: 60 },
  { name: 'an offered load of 1.5 at 150 ms', handlersMs: same(300, 150), offeredPerS: 100 },
  { name: 'a network delay of 20 ms', handlersMs: same(1_000, 10), callMs: 40 },
  { name: 'a server that takes 300 ms', handlersMs: same(3_000, 0), callMs: 300 },
]

/** Each call takes about as long, on its way there and back. */
function slowed(store: JobStore, callMs: number): JobStore {
  const slow = new Set<string | symbol>(['claimJobs', 'completeJobs', 'releaseJobs'])
  let calls = 0
  return new Proxy(store, {
    get: (target, name, receiver) => {
      const verb: unknown = Reflect.get(target, name, receiver)
      if (!slow.has(name) || typeof verb !== 'function') return verb
      return async (...args: unknown[]) => {
        const tookMs = callMs * (0.5 + (calls++ % 11) / 10)
        await sleep(tookMs / 2)
        const answer: unknown = await verb.apply(target, args)
        await sleep(tookMs / 2)
        return answer
      }
    },
  })
}

async function countClaims(bench: MemoryWorkerBench, cell: Cell) {
  const { handlersMs, offeredPerS, callMs = 3 } = cell
  const jobIds: string[] = offeredPerS === undefined ? await bench.enqueue(handlersMs.length) : []
  let started = 0
  const handler = () => sleep(handlersMs[started++] ?? 0)
  const worker = bench.work(handler, { concurrency: SLOTS, over: slowed(bench.store, callMs) })
  const startedAtMs = performance.now()
  for (let isDone = false; !isDone; ) {
    const offered = Math.floor(((performance.now() - startedAtMs) * (offeredPerS ?? 0)) / 1_000)
    const due = Math.min(handlersMs.length, offered) - jobIds.length
    if (due > 0) {
      jobIds.push(...(await bench.enqueue(due)))
      worker.wake()
    }
    await vi.advanceTimersByTimeAsync(10)
    const { waiting, running } = await bench.store.readHealth()
    isDone = jobIds.length === handlersMs.length && waiting + running === 0
  }
  const jobs = await Promise.all(jobIds.map((jobId) => bench.job(jobId)))
  const sum = (valueOf: (job: (typeof jobs)[number]) => number | undefined) =>
    jobs.reduce((total, job) => total + (valueOf(job) ?? 0), 0)
  return {
    claimsPerJob: sum((job) => job?.fence) / jobs.length,
    crashes: sum((job) => job?.crashes),
    started,
  }
}

describe('claims of one worker until everything is done', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  for (const cell of cells)
    it(`WORK-10 ${cell.name}: each job is claimed once, and none is reaped`, {
      timeout: 120_000,
    }, async () => {
      const bench = new MemoryWorkerBench()
      const { claimsPerJob, crashes, started } = await countClaims(bench, cell)
      expect(claimsPerJob).toBeGreaterThanOrEqual(1)
      expect(claimsPerJob).toBeLessThanOrEqual(MOST_CLAIMS)
      expect({ crashes, started }).toEqual({ crashes: 0, started: cell.handlersMs.length })
      const stopped = bench.stop()
      await vi.advanceTimersByTimeAsync(1_000)
      await stopped
    })

  it('WORK-10 slots that become free during a claim wait for others before the next one, as before the first', async () => {
    const bench = new MemoryWorkerBench()
    await bench.enqueue(1_000)
    const slow = slowed(bench.store, 5)
    let claims = 0
    const over: JobStore = {
      ...bench.store,
      completeJobs: slow.completeJobs.bind(slow),
      async claimJobs(request) {
        const jobs = await slow.claimJobs(request)
        if (jobs.length > 0) claims++
        return jobs
      },
    }
    let started = 0
    bench.work(() => sleep(1_000 + ((started++ * 7) % 13)), { concurrency: 100, over })
    await vi.advanceTimersByTimeAsync(11_000)
    expect(await bench.store.readHealth()).toMatchObject({ waiting: 0, running: 0 })
    // Thirty without that wait.
    expect(claims).toBe(25)
    const stopped = bench.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    await stopped
  })

  it('WORK-10 slow jobs that end within milliseconds are completed by one call and replaced by one claim', async () => {
    const bench = new MemoryWorkerBench()
    await bench.enqueue(3 * SLOTS)
    const completed: number[] = []
    const claimed: number[] = []
    const over: JobStore = {
      ...bench.store,
      async completeJobs(completions, options) {
        completed.push(completions.length)
        return bench.store.completeJobs(completions, options)
      },
      async claimJobs(request) {
        const jobs = await bench.store.claimJobs(request)
        if (jobs.length > 0) claimed.push(jobs.length)
        return jobs
      },
    }
    let started = 0
    bench.work(() => sleep(1_000 + (started++ % SLOTS)), { concurrency: SLOTS, over })
    await vi.advanceTimersByTimeAsync(1_500)
    // One more job may be claimed ahead of them.
    expect({ completed, claimed: claimed.slice(0, 2) }).toEqual({
      completed: [SLOTS],
      claimed: [SLOTS, SLOTS],
    })
    const stopped = bench.stop()
    await vi.advanceTimersByTimeAsync(10_000)
    await stopped
  })

  it('WORK-10 jobs behind slots that have turned slow are kept alive, and go back after five seconds without an attempt', async () => {
    const bench = new MemoryWorkerBench()
    const jobIds = await bench.enqueue(2_000)
    let started = 0
    // The first thousand are short; after that nothing ends.
    const handler = () => (++started < 1_000 ? sleep(0) : new Promise<void>(() => {}))
    bench.work(handler, { concurrency: SLOTS, over: slowed(bench.store, 3) })
    const countRunning = async () => (await bench.store.readHealth()).running
    await vi.advanceTimersByTimeAsync(4_500)
    expect(await countRunning()).toBeGreaterThan(SLOTS)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await countRunning()).toBe(SLOTS)
    const jobs = await Promise.all(jobIds.map((jobId) => bench.job(jobId)))
    const waiting = jobs.filter((job) => job?.status === 'waiting')
    expect(waiting).toHaveLength(2_000 - started)
    expect(waiting.every((job) => job?.attempt === 0 && job.crashes === 0)).toBe(true)
    const stopped = bench.stop()
    await vi.advanceTimersByTimeAsync(1_000)
    await stopped
  })
})
