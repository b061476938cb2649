// The database of a run: the memory store behind a network that delays, loses and cuts, and a server that stops, fails over, locks
// its table and runs out of slots.
import { UnstuckError } from '../../../src/errors/index.ts'
import type { JobEvent } from '../../../src/job/event.ts'
import type { Job } from '../../../src/job/job.ts'
import type { Lease } from '../../../src/job/lease.ts'
import type { PolicyOverride } from '../../../src/policy/policy.ts'
import type { JobStore, SweepRequest, SweepStep } from '../../../src/store/job-store.ts'
import { type MemoryJobStore, openMemoryStore } from '../../../src/store/memory/memory-store.ts'
import type { MemoryState } from '../../../src/store/memory/state/memory-state.ts'
import { EPOCH_MS, type Loop, type VirtualTime } from './virtual-time.ts'

/** A client's end of the network, as faults see it. */
export interface Route {
  loop: Loop
  /** The name of the process. */
  owner: string
  /** The heartbeat thread has connections of its own. */
  kind: 'main' | 'heartbeat'
  timeoutMs: number
}

export interface DatabaseListener {
  /** A verb was executed, by a process that may be dead by now. */
  onExecuted(route: Route, verb: string, args: unknown[], answer: unknown): void
  /** Its answer arrived. */
  onAnswered(route: Route, verb: string, args: unknown[], answer: unknown): void
  onFailed(route: Route, verb: string, reason: string): void
}

type Verb = (...args: unknown[]) => Promise<unknown>

/** State of the faults, which the plan switches on and off. */
export interface Trouble {
  /** How many faults keep the server down. */
  downs: number
  isLocked: boolean
  areSlotsFull: boolean
  /** Processes that packets no longer reach, in either direction. */
  readonly cutOff: Set<string>
  /** By process, the share of answers that are lost, before or after the commit. */
  readonly lossy: Map<string, number>
  /** Multiplies every latency. */
  slowness: number
}

const RETRY_LOCK_MS = 20
const LOCK_WAIT_MS = 200
const END_WAIT_MS = 2_000
const LOOK_MS = 20

export class SimDatabase {
  readonly store: MemoryJobStore
  readonly #state: MemoryState
  readonly trouble: Trouble = {
    downs: 0,
    isLocked: false,
    areSlotsFull: false,
    cutOff: new Set(),
    lossy: new Map(),
    slowness: 1,
  }
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #listener: DatabaseListener
  /** Raised by a restart: what was under way is lost. */
  #epoch = 0
  /** The next sweep finds a server that was restarted. */
  #isRestarted = false
  /** The last sweep before one that found the table locked. */
  #lockedSinceMs: number | null = null
  clockStepMs = 0

  constructor(options: {
    time: VirtualTime
    random: () => number
    createUuid: () => string
    policy: PolicyOverride
    listener: DatabaseListener
  }) {
    const { time, random, createUuid, policy, listener } = options
    this.#time = time
    this.#random = random
    this.#listener = listener
    const { store, state } = openMemoryStore({
      policy,
      random,
      createUuid,
      now: () => EPOCH_MS + time.nowMs + this.clockStepMs,
    })
    this.store = store
    this.#state = state
  }

  stop(): void {
    this.trouble.downs++
    this.#epoch++
    this.#isRestarted = true
  }

  start(): void {
    this.trouble.downs--
  }

  rows(): Job[] {
    return [...this.#state.jobs.values()]
  }

  events(): JobEvent[] {
    return [...this.#state.events.values()].flat()
  }

  /** The verbs of the store over one client's connections. */
  connect(route: Route): JobStore {
    return this.open(route).store
  }

  /** The same, with an end: what still runs after two seconds is cut off (end-client.ts). */
  open(route: Route): { store: JobStore; close: () => Promise<void> } {
    const calls = new Set<Call>()
    const close = () =>
      new Promise<void>((resolve) => {
        const cutAtMs = this.#time.localMs + END_WAIT_MS
        const look = () => {
          for (const call of calls) if (call.isOver) calls.delete(call)
          if (calls.size === 0) return resolve()
          if (this.#time.nowMs >= cutAtMs) for (const call of calls) call.fail('the connection was closed')
          this.#time.after(LOOK_MS, route.loop, look)
        }
        look()
      })
    const verbs = Object.entries(this.store)
      .filter(([, member]) => typeof member === 'function')
      .map(([name, verb]) => [
        name,
        (...args: unknown[]) => this.#call(route, name, verb as Verb, args, calls),
      ])
    return { store: { ...this.store, ...(Object.fromEntries(verbs) as Partial<JobStore>) }, close }
  }

  /**
   * begin_sweep.sql knows that the server was restarted, and since when the table is locked, and holds what expired since. The
   * memory store has neither: its sweep gets them as sweeps that have failed since then, with the same effect.
   */
  #reportOutage({ reaper, cursor }: SweepRequest = {}): void {
    const sinceMs = this.#isRestarted ? this.#state.sweptAtMs : this.#lockedLongSinceMs()
    if (sinceMs === null || reaper === undefined || cursor !== undefined) return
    this.#state.reachedAtMs = null
    reaper.failingForMs = this.store.now() - sinceMs
  }

  #forgetOutage(): void {
    this.#isRestarted = false
    this.#lockedSinceMs = null
  }

  /** No lease that is renewed in time ends within half a lease. */
  #lockedLongSinceMs(): number | null {
    const sinceMs = this.#lockedSinceMs
    const isLong = sinceMs !== null && this.store.now() - sinceMs > this.#state.policy.defaultLeaseMs / 2
    return isLong ? sinceMs : null
  }

  #resendMs(): number {
    return 50 + 150 * this.#random()
  }

  #latencyMs(): number {
    const random = this.#random()
    // Mostly half a millisecond, sometimes twenty.
    return (0.3 + 2 * random ** 2 + (this.#random() < 0.01 ? 20 * random : 0)) * this.trouble.slowness
  }

  #call(route: Route, name: string, verb: Verb, args: unknown[], calls: Set<Call>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (route.loop.isDead) return
      const call = new Call(this.#time, route, resolve, reject, (reason) =>
        this.#listener.onFailed(route, name, reason),
      )
      if (route.kind === 'heartbeat') calls.add(call)
      const epoch = this.#epoch
      this.#time.after(this.#latencyMs(), null, () => this.#arrive(call, epoch, name, verb, args))
    })
  }

  #arrive(call: Call, epoch: number, name: string, verb: Verb, args: unknown[]): void {
    const { route } = call
    const { trouble } = this
    if (call.isOver || route.loop.isDead) return
    // TCP sends again until packets get through.
    if (trouble.cutOff.has(route.owner))
      return void this.#time.after(this.#resendMs(), null, () => this.#arrive(call, epoch, name, verb, args))
    const fail = (reason: string) => this.#time.after(this.#latencyMs(), route.loop, () => call.fail(reason))
    if (trouble.downs > 0 || epoch !== this.#epoch) return void fail('the server does not answer')
    if (trouble.areSlotsFull && route.kind === 'main') return void fail('no connection slot is free')
    const share = trouble.lossy.get(route.owner) ?? 0
    if (this.#random() < share / 2) return void fail('the connection was cut before the commit')
    // A sweep waits 200 ms for the table at most, and notes the outage.
    if (trouble.isLocked && name === 'sweepJobs') {
      this.#lockedSinceMs ??= this.#state.sweptAtMs
      return void this.#time.after(LOCK_WAIT_MS, route.loop, () => call.fail('the table is locked'))
    }
    if (trouble.isLocked && name !== 'readPolicy')
      return void this.#time.after(RETRY_LOCK_MS, null, () => this.#arrive(call, epoch, name, verb, args))
    void this.#execute(call, epoch, name, verb, args)
  }

  async #execute(call: Call, epoch: number, name: string, verb: Verb, args: unknown[]): Promise<void> {
    const { route } = call
    let answer: unknown
    let refusal: unknown
    try {
      if (name === 'sweepJobs') this.#reportOutage(args[0] as SweepRequest)
      answer = await verb(...args)
      if (name === 'sweepJobs' && (answer as SweepStep).isRedundant !== true) this.#forgetOutage()
    } catch (error) {
      refusal = error
    }
    if (refusal === undefined) this.#listener.onExecuted(route, name, args, answer)
    const isLost = this.#random() < (this.trouble.lossy.get(route.owner) ?? 0)
    const arrive = () => {
      if (call.isOver) return
      if (this.trouble.cutOff.has(route.owner))
        return void this.#time.after(this.#resendMs(), route.loop, arrive)
      if (isLost || epoch !== this.#epoch) return call.fail('the answer was lost after the commit')
      if (refusal !== undefined) return call.refuse(refusal)
      this.#listener.onAnswered(route, name, args, answer)
      call.answer(answer)
    }
    this.#time.after(this.#latencyMs(), route.loop, arrive)
  }
}

/** One call of a client, until it is answered, fails or takes too long. */
class Call {
  readonly route: Route
  isOver = false
  readonly #resolve: (answer: unknown) => void
  readonly #reject: (error: unknown) => void
  readonly #onFailed: (reason: string) => void
  readonly #timeout: { isCancelled: boolean }

  constructor(
    time: VirtualTime,
    route: Route,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
    onFailed: (reason: string) => void,
  ) {
    this.route = route
    this.#resolve = resolve
    this.#reject = reject
    this.#onFailed = onFailed
    this.#timeout = time.after(route.timeoutMs, route.loop, () =>
      this.fail('no answer in time', 'DATABASE_TIMEOUT'),
    )
  }

  answer(answer: unknown): void {
    this.#end()
    this.#resolve(answer)
  }

  refuse(error: unknown): void {
    this.#end()
    this.#reject(error)
  }

  fail(reason: string, code: 'DATABASE_UNREACHABLE' | 'DATABASE_TIMEOUT' = 'DATABASE_UNREACHABLE'): void {
    if (this.isOver) return
    this.#end()
    this.#onFailed(reason)
    this.#reject(new UnstuckError(code, reason))
  }

  #end(): void {
    this.isOver = true
    this.#timeout.isCancelled = true
  }
}

export function leasesOf(verb: string, args: unknown[]): Lease[] {
  return ['completeJobs', 'failJobs', 'releaseJobs', 'heartbeatJobs'].includes(verb)
    ? (args[0] as Lease[])
    : []
}
