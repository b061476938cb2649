// Workers over one memory store, on a clock that the test moves. Every call of the store and every handler
// takes as long as the scheduler says; calls may get lost on the way there or back, leases run out, workers are replaced.
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryWorkerBench } from '../../../test/support/memory-worker.ts'
import { propertyRuns } from '../../../test/support/vitest/property-runs.ts'
import { UnstuckError } from '../../errors/index.ts'
import { leaseKey } from '../../job/lease.ts'
import type { JobStore } from '../../store/job-store.ts'
import type { Handler } from '../attempt/handler.ts'
import type { Worker } from './worker.ts'

const CONCURRENCY = 2
const JOBS = 5

/** `lease`: so much time that a lease nobody renewed is over. `replace`: a worker is told to stop, and another one starts. */
type Step = 'answer' | 'tick' | 'lease' | 'replace'
type Fault = 'none' | 'before' | 'after'
type Fate = 'done' | 'fail' | 'until-aborted'

interface Plan {
  steps: Step[]
  faults: Fault[]
  fates: Fate[]
}

const often = <T>(usual: T, ...rare: T[]) =>
  fc.oneof(
    { arbitrary: fc.constant(usual), weight: 4 },
    { arbitrary: fc.constantFrom(...rare), weight: 1 + rare.length },
  )

const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(often<Step>('answer', 'tick', 'lease', 'replace'), { minLength: 10, maxLength: 60 }),
  faults: fc.array(often<Fault>('none', 'before', 'after'), { maxLength: 60 }),
  fates: fc.array(often<Fate>('done', 'fail', 'until-aborted'), { maxLength: 12 }),
})

const slowVerbs = new Set<string | symbol>([
  'claimJobs',
  'completeJobs',
  'failJobs',
  'releaseJobs',
  'heartbeatJobs',
  'sweepJobs',
])

/** One run: what was planned, and what was seen of it. */
class Race {
  readonly #bench = new MemoryWorkerBench()
  readonly #scheduler: fc.Scheduler
  readonly #plan: Plan
  #jobIds: string[] = []
  #workers: Worker[] = []
  #stopping: Promise<void>[] = []
  #calls = 0
  #started = 0
  #hasHealed = false
  readonly #handled = new Set<string>()
  readonly #violations: string[] = []
  readonly #completions = new Map<string, number>()

  constructor(scheduler: fc.Scheduler, plan: Plan) {
    this.#scheduler = scheduler
    this.#plan = plan
  }

  async begin(): Promise<void> {
    // No budget is ever used up: whatever happens, each job must be completed in the end.
    const budgets = { maxAttempts: 1_000, maxCrashes: 1_000, maxTimeouts: 1_000 }
    await this.#bench.store.writePolicy({ ...budgets, defaultDeadlineMs: 2_000 })
    this.#jobIds = await this.#bench.enqueue(JOBS)
    this.#start()
    this.#start()
  }

  async take(step: Step): Promise<void> {
    if (step === 'tick') await vi.advanceTimersByTimeAsync(50)
    else if (step === 'lease') await vi.advanceTimersByTimeAsync(600)
    else if (step === 'replace') this.#replace()
    else if (this.#scheduler.count() > 0) await this.#scheduler.waitNext(1)
    await vi.advanceTimersByTimeAsync(0)
  }

  /** From now on every call gets through and every handler does its work. */
  async heal(): Promise<void> {
    this.#hasHealed = true
    await this.#until('every job ends', async () => {
      const jobs = await Promise.all(this.#jobIds.map((id) => this.#bench.job(id)))
      return jobs.every((job) => job?.status === 'succeeded')
    })
  }

  async stop(): Promise<void> {
    let isStopped = false
    void Promise.all([...this.#stopping, ...this.#workers.map((worker) => worker.stop())]).then(() => {
      isStopped = true
    })
    await this.#until('every worker ends', async () => isStopped)
  }

  judge(): void {
    expect(this.#violations).toEqual([])
    expect(this.#completions).toEqual(new Map(this.#jobIds.map((id) => [id, 1])))
    expect(this.#scheduler.count(), 'calls after the end').toBe(0)
  }

  #replace(): void {
    const oldest = this.#workers.shift()
    if (oldest !== undefined) this.#stopping.push(oldest.stop())
    this.#start()
  }

  #start(): void {
    const workerId = `w${++this.#started}`
    let running = 0
    let hasEnded = false
    const handler: Handler = async (job, { signal }) => {
      // Noted and not thrown: for the worker that would be a failure like any other.
      if (this.#handled.has(leaseKey(job))) this.#violations.push(`${workerId} works twice for one lease`)
      this.#handled.add(leaseKey(job))
      if (++running > CONCURRENCY) this.#violations.push(`${workerId} works in ${running} slots`)
      if (hasEnded) this.#violations.push(`${workerId} starts a job after its end`)
      const held = await this.#bench.job(job.jobId)
      const isOver = held?.leaseId !== job.leaseId || (held.leaseExpiresAt?.getTime() ?? 0) <= Date.now()
      if (isOver) this.#violations.push(`${workerId} starts a job whose lease is over`)
      const fate = this.#hasHealed ? 'done' : (this.#plan.fates[this.#handled.size] ?? 'done')
      try {
        await this.#scheduler.schedule(Promise.resolve(), `${workerId} works`)
        if (fate === 'until-aborted') await aborted(signal)
        if (fate === 'fail') throw new Error('no answer')
      } finally {
        running--
      }
    }
    const over = this.#slowStore(workerId)
    const worker = this.#bench.work(handler, { workerId, concurrency: CONCURRENCY, over })
    void worker.ended.then(() => {
      hasEnded = true
    })
    this.#workers.push(worker)
  }

  #slowStore(workerId: string): JobStore {
    return new Proxy<JobStore>(this.#bench.store, {
      get: (store, name, receiver) => {
        const verb: unknown = Reflect.get(store, name, receiver)
        if (!slowVerbs.has(name) || typeof verb !== 'function') return verb
        return async (...args: unknown[]) => {
          const fault = this.#hasHealed ? 'none' : (this.#plan.faults[this.#calls++] ?? 'none')
          await this.#scheduler.schedule(Promise.resolve(), `${workerId} sends ${String(name)}`)
          if (fault === 'before') throw gone()
          const answer: unknown = await verb.apply(store, args)
          if (name === 'completeJobs') this.#noteCompletions(answer as { jobId: string; outcome: string }[])
          await this.#scheduler.schedule(Promise.resolve(), `${workerId} hears of ${String(name)}`)
          if (fault === 'after') throw gone()
          return answer
        }
      },
    })
  }

  #noteCompletions(answers: { jobId: string; outcome: string }[]): void {
    for (const { jobId, outcome } of answers)
      if (outcome === 'completed') this.#completions.set(jobId, (this.#completions.get(jobId) ?? 0) + 1)
  }

  /** Time goes on, and what is under way is answered in the order of the scheduler. */
  async #until(what: string, isReached: () => Promise<boolean>): Promise<void> {
    for (let turns = 0; turns < 200; turns++) {
      await vi.advanceTimersByTimeAsync(0)
      while (this.#scheduler.count() > 0) {
        await this.#scheduler.waitNext(1)
        await vi.advanceTimersByTimeAsync(0)
      }
      if (await isReached()) return
      await vi.advanceTimersByTimeAsync(50)
    }
    throw new Error(`${what}: not within 10 s`)
  }
}

const gone = () => new UnstuckError('DATABASE_UNREACHABLE', 'the connection is gone')

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error('told to stop'))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })
}

describe('workers, whatever the order in which things happen', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    // Pauses are spread by chance: a failure could not be repeated.
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  // A run is some hundred turns of the loop: on a busy machine 100 ms and more.
  const timeout = 60_000 + propertyRuns().numRuns * 1_000

  it('WORK-5 LEASE-5 complete each job once, lose none, start none whose lease is over, and end when told to', {
    timeout,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, async (scheduler, plan) => {
        const race = new Race(scheduler, plan)
        await race.begin()
        for (const step of plan.steps) await race.take(step)
        await race.heal()
        await race.stop()
        race.judge()
      }),
      propertyRuns(),
    )
  })
})
