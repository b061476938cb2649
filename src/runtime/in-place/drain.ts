// Runs due jobs in the caller's process, one after the other, until none is left. For tests: there is no loop that outlives the
// call, and no wait for time to pass.
import { invalidArgument, UnstuckError } from '../../errors/index.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import type { AttemptEnd, RuntimeEventEmitter } from '../../observe/events.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { JobStore, QueueLimits } from '../../store/job-store.ts'
import { attemptBatchers } from '../attempt/attempt-batchers.ts'
import type { AttemptDependencies } from '../attempt/attempt-dependencies.ts'
import { ClockWatch } from '../attempt/clock-watch.ts'
import type { RegisteredHandler } from '../attempt/handler.ts'
import { Attempt } from '../attempt/job-runner.ts'
import { WaitingJob } from '../claim/waiting-jobs.ts'
import { type Heartbeat, startMainHeartbeat } from '../heartbeat/heartbeat.ts'
import { type DependencyOptions, prepareDependencies, prepareQueues } from '../limits/dependencies.ts'
import { DependencyCalls } from '../limits/dependency-calls.ts'
import { TokenLimiter } from '../limits/token-limiter.ts'
import { emitSweep } from '../services/emit-sweep.ts'
import { runSweep } from '../services/run-sweep.ts'
import { runDueSchedules, type SchedulerOptions } from '../services/scheduler.ts'
import { timing } from '../timing/timing.ts'

export interface DrainOptions {
  /** Most attempts of one call. More are an error: a job that enqueues itself would never end. Default: 10,000. */
  limit?: number
}

/** How many attempts ended in each way. Ways that did not occur are absent. */
export type DrainReport = { [end in AttemptEnd]?: number }

export interface DrainParts<Tx>
  extends Pick<
    AttemptDependencies<Tx>,
    'gateway' | 'hangGraceMs' | 'tracing' | 'transaction' | 'txTimeoutMs' | 'workerId'
  > {
  store: JobStore<Tx>
  tableName: string
  handlers: RegisteredHandler<Tx>[]
  events: RuntimeEventEmitter
  policy: PolicyOverride
  heartbeatMs: number
  dependencies: Record<string, DependencyOptions>
  queues?: Record<string, QueueLimits> | undefined
  schedules: SchedulerOptions['schedules']
  /** Overrides the stored policy when jobs are enqueued. */
  enqueuePolicy: PolicyOverride | undefined
}

const DEFAULT_LIMIT = 10_000

/** Sweeps, enqueues recurring jobs that are due, and runs due jobs, including those that jobs enqueue. */
export async function drainJobs<Tx>(
  parts: DrainParts<Tx>,
  { limit = DEFAULT_LIMIT }: DrainOptions = {},
): Promise<DrainReport> {
  if (!(Number.isInteger(limit) && limit >= 1)) throw invalidArgument('limit', limit, 'a whole number from 1')
  const { store, handlers, events, policy, schedules, enqueuePolicy } = parts
  await prepareQueues(store, parts.queues)
  await prepareDependencies(store, handlers, parts.dependencies)
  emitSweep(events, parts.tableName, await runSweep(store, { policy }))
  const scheduling = { store, schedules, events }
  await runDueSchedules(enqueuePolicy === undefined ? scheduling : { ...scheduling, policy: enqueuePolicy })
  const heartbeat = startMainHeartbeat({
    store,
    intervalMs: parts.heartbeatMs,
    policy,
    events: {
      onBeat: (leases) => events.emit('heartbeat:sent', { leases }),
      onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
      onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
      onLag: () => {},
    },
  })
  try {
    return await new Drain(parts, heartbeat).run(limit)
  } finally {
    await heartbeat.stop()
  }
}

class Drain<Tx> {
  readonly #parts: DrainParts<Tx>
  readonly #heartbeat: Heartbeat
  readonly #byType: Map<string, RegisteredHandler<Tx>>
  readonly #limiter: TokenLimiter
  readonly #deps: AttemptDependencies<Tx>
  readonly #running = new Set<Attempt<Tx>>()
  readonly #report: DrainReport = {}
  #onEnded: () => void = () => {}
  /** A critical error ends a worker, and a drain. */
  #isCritical = false

  constructor(parts: DrainParts<Tx>, heartbeat: Heartbeat) {
    const { store, policy, events } = parts
    this.#parts = parts
    this.#heartbeat = heartbeat
    this.#byType = new Map(parts.handlers.map((registered) => [registered.type, registered]))
    // The tokens of a process follow its own clock: here all of them follow the store's, which a test may move.
    this.#limiter = new TokenLimiter(store, (type) =>
      (this.#byType.get(type)?.limits ?? []).map((limit) => ({ ...limit, scope: 'shared' })),
    )
    this.#deps = {
      ...parts,
      heartbeat,
      clockWatch: new ClockWatch(this.#running),
      dependencyCalls: new DependencyCalls(store, events),
      ...attemptBatchers(store, policy),
      slots: {
        onReturned: () => {},
        onEnded: (_, { isCritical }) => {
          this.#isCritical ||= isCritical
          this.#onEnded()
        },
      },
    }
  }

  async run(limit: number): Promise<DrainReport> {
    for (let claims = 0; !this.#isCritical; ) {
      const claimedAtMs = timing.nowMs()
      const [first] = await this.#claim([...this.#byType.keys()], 1)
      if (first === undefined) break
      if (claims === limit) {
        await this.#parts.store.releaseJobs([first], { cause: 'interruption' })
        throw endless(limit, first)
      }
      const registered = this.#handlerOf(first)
      const others = Math.min(registered.batches?.size ?? 1, limit - claims) - 1
      const jobs = [first, ...(others > 0 ? await this.#claim([first.type], others) : [])]
      claims += jobs.length
      const admitted = await this.#admit(jobs)
      if (admitted.length > 0) await this.#runJobs(admitted, registered, claimedAtMs)
    }
    return this.#report
  }

  #claim(types: string[], limit: number): Promise<ClaimedJob[]> {
    const { store, workerId, policy, handlers } = this.#parts
    const claimed = handlers.filter(({ type }) => types.includes(type))
    const queues = [...new Set(claimed.map(({ type, queue = type }) => queue))]
    return store.claimJobs({ workerId, queues, types, limit, policy })
  }

  #handlerOf({ type }: ClaimedJob): RegisteredHandler<Tx> {
    const registered = this.#byType.get(type)
    if (registered === undefined) throw new Error(`claimed a job of type ${type}, which has no handler here`)
    return registered
  }

  async #admit(jobs: ClaimedJob[]): Promise<ClaimedJob[]> {
    const { store, events } = this.#parts
    const { admitted, parked } = await this.#limiter.admit(jobs)
    for (const { jobs: refused, key, delayMs, spreadMs } of parked) {
      await store.releaseJobs(refused, { delayMs, spreadMs })
      events.emit('limit:reached', { key, released: refused.length, waitMs: delayMs })
    }
    return admitted
  }

  /** One job, or those of a batch. */
  async #runJobs(jobs: ClaimedJob[], registered: RegisteredHandler<Tx>, claimedAtMs: number): Promise<void> {
    const attempts = jobs.map((job) => {
      const waiting = new WaitingJob(job, registered, claimedAtMs, () => {})
      this.#heartbeat.hold(job, waiting)
      return new Attempt(waiting, this.#deps)
    })
    let running = attempts.length
    const ended = new Promise<void>((resolve) => {
      this.#onEnded = () => {
        running--
        if (running === 0) resolve()
      }
    })
    const stopCounting = this.#parts.events.on('job:ended', (fields) => {
      if (jobs.includes(fields.job)) this.#report[fields.end] = (this.#report[fields.end] ?? 0) + 1
    })
    const start = () => {
      for (const attempt of attempts) attempt.start()
    }
    for (const attempt of attempts) {
      this.#running.add(attempt)
      this.#deps.clockWatch.add(attempt)
    }
    if (registered.batches === undefined) start()
    else registered.batches.gatherOnly(start)
    await ended
    this.#running.clear()
    this.#deps.clockWatch.stop()
    stopCounting()
    await this.#deps.dependencyCalls.idle()
  }
}

function endless(limit: number, { type }: ClaimedJob): UnstuckError {
  return new UnstuckError(
    'INVALID_ARGUMENT',
    `drain: ${limit} attempts ran, and a job of type ${type} is still due`,
    {
      hint: 'A handler may enqueue its own type without a delay. For more jobs: drain({ limit }).',
    },
  )
}
