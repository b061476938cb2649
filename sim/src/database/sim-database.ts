// The database of a run: the memory store behind a network, and a server that stops, fails over, locks its table and runs out of
// slots.
import type { JobEvent } from '../../../src/job/event.ts'
import type { Job } from '../../../src/job/job.ts'
import type { PolicyOverride } from '../../../src/policy/policy.ts'
import type { HeartbeatStore, JobStore, SweepRequest } from '../../../src/store/job-store.ts'
import { type MemoryJobStore, openMemoryStore } from '../../../src/store/memory/memory-store.ts'
import type { MemoryState } from '../../../src/store/memory/state/memory-state.ts'
import type { NotificationConnection } from '../../../src/store/notification-connection.ts'
import type { ReportAnswer } from '../../../src/store/ports/worker-store.ts'
import type { PresenceConnection } from '../../../src/store/presence-connection.ts'
import type { VirtualTime } from '../world/virtual-time.ts'
import { Call, type Route } from './call.ts'
import { clientStore } from './client-store.ts'
import { hintOf } from './hints.ts'
import { Network } from './network.ts'
import { Notifications } from './notifications.ts'
import { ServerClock } from './server-clock.ts'
import { openSession, type SessionNetwork } from './session-connection.ts'
import { Sessions } from './sessions.ts'
import { type SweepCall, Sweeps } from './sweeps.ts'

export interface DatabaseListener {
  onSweep(call: SweepCall): void
  /** A verb was executed, by a process that may be dead by now. */
  onExecuted(call: Call, verb: string, args: unknown[], answer: unknown): void
  /** Its answer arrived. */
  onAnswered(route: Route, verb: string, args: unknown[], answer: unknown): void
  onFailed(route: Route, verb: string, reason: string): void
  /** A process learns that the server has ended its listening connection. */
  onHintsLost(owner: string): void
}

type Verb = (...args: unknown[]) => Promise<unknown>

const LOCK_WAIT_MS = 200
const END_WAIT_MS = 2_000
const LOOK_MS = 20

export class SimDatabase {
  readonly store: MemoryJobStore
  readonly sessions: Sessions
  readonly #state: MemoryState
  readonly clock: ServerClock
  readonly network: Network
  readonly notifications: Notifications
  areSlotsFull = false
  /** How many faults keep the server down. */
  #downs = 0
  #isLocked = false
  readonly #time: VirtualTime
  readonly #listener: DatabaseListener
  readonly #sweeps: Sweeps
  /** By process: when it sent a sweep that is not answered yet. */
  readonly #sweepsOnTheWay = new Map<string, number>()
  /** Statements that wait for the table. */
  readonly #waiting: (() => void)[] = []
  /** Raised by a restart: what was under way is lost. */
  #epoch = 0
  #hints = 0

  constructor(options: {
    time: VirtualTime
    random: () => number
    createUuid: () => string
    policy: PolicyOverride
    listener: DatabaseListener
  }) {
    const { time, random, createUuid, policy, listener } = options
    this.#time = time
    this.clock = new ServerClock(time)
    this.network = new Network(time, random)
    this.notifications = new Notifications(time, random, (owner) => listener.onHintsLost(owner))
    this.#listener = listener
    const { store, state } = openMemoryStore({
      policy,
      random,
      createUuid,
      now: () => this.clock.nowMs(),
      goneWorkers: () => this.sessions.gone(),
    })
    this.store = store
    this.#state = state
    this.sessions = new Sessions(state, () => this.#epoch)
    const onSweep = (call: SweepCall) => listener.onSweep(call)
    this.#sweeps = new Sweeps({ store, state, sessions: this.sessions, onSweep })
  }

  stop(): void {
    this.#downs++
    this.#epoch++
    this.#sweeps.noteRestart()
    this.endSessions()
    this.#proceed()
  }

  /** The server ends the sessions of one process, or all of them. */
  endSessions(owner?: string): void {
    this.sessions.endAll(owner)
    this.notifications.endAll(owner)
  }

  stepClock(ms: number): void {
    this.clock.step(ms, this.#state.eventCount)
  }

  get isUp(): boolean {
    return this.#downs === 0
  }

  start(): void {
    this.#downs--
  }

  lock(): void {
    this.#isLocked = true
  }

  unlock(): void {
    this.#isLocked = false
    this.#proceed()
  }

  #proceed(): void {
    for (const next of this.#waiting.splice(0)) this.#time.after(0, null, next)
  }

  /** Whether nothing keeps the sweeps of a process. Packets of a slow network may arrive long after it is fast again. */
  reaches(owner: string, lateMs: number): boolean {
    const sentAtMs = this.#sweepsOnTheWay.get(owner) ?? this.#time.nowMs
    const { network } = this
    return !network.isCutOff(owner) && !network.lossy.has(owner) && this.#time.nowMs - sentAtMs <= lateMs
  }

  rows(): Job[] {
    return [...this.#state.jobs.values()]
  }

  get tables(): Pick<MemoryState, 'breakers' | 'schedules'> {
    return this.#state
  }

  leaseOf(jobId: string): string | null {
    return this.#state.jobs.get(jobId)?.leaseId ?? null
  }

  events(): JobEvent[] {
    return [...this.#state.events.values()].flat()
  }

  /** A process has died: its kernel closes its sockets. */
  closeSockets(owner: string): void {
    this.network.deliver(owner, null, () => this.endSessions(owner))
  }

  /** Some worker is reserved for a job, or runs one alone. */
  get hasKeptWorkers(): boolean {
    return this.#state.keptWorkers.size > 0
  }

  /** A statement of an operator, whose answer nobody waits for. */
  async operate(verb: 'cancelJobs' | 'retryJobs', jobId: string): Promise<void> {
    const answer = await this.store[verb]([jobId], { actor: 'operator' })
    this.#announce(verb, [[jobId]], answer)
  }

  /** Like every notification it is sent with the commit. */
  #announce(verb: string, args: unknown[], answer: unknown): void {
    const jobOf = (jobId: string) => this.#state.jobs.get(jobId)
    const payload = hintOf({ verb, args, answer }, { jobOf, nowMs: this.store.now(), seed: this.#hints })
    if (payload === null) return
    this.#hints++
    this.notifications.notify(payload)
  }

  openNotifications(route: Route): NotificationConnection {
    return this.notifications.connect(route.owner, this.#networkOf(route))
  }

  /** Sends a notification of a client's own. */
  async notify(route: Route, payload: string): Promise<void> {
    await this.#call(route, 'notify', async () => this.notifications.notify(payload), [])
  }

  openSession(route: Route): PresenceConnection {
    return openSession(route.owner, this.sessions, this.#networkOf(route))
  }

  #networkOf(route: Route): SessionNetwork {
    const { owner, loop } = route
    return {
      call: <T>(name: string, run: () => T) => this.#call(route, name, async () => run(), []) as Promise<T>,
      send: (run) => this.network.deliver(owner, null, run),
      notify: (run) => this.network.deliver(owner, loop, run),
    }
  }

  connect(route: Route): JobStore {
    return clientStore(this.store, (name, args) => this.#call(route, name, this.store[name] as Verb, args))
  }

  /** The verbs of the heartbeat thread, with an end: what still runs after two seconds is cut off (end-client.ts). */
  open(route: Route): { store: Required<HeartbeatStore>; close: () => Promise<void> } {
    const calls = new Set<Call>()
    let isClosed = false
    const close = () =>
      new Promise<void>((resolve) => {
        isClosed = true
        const cutAtMs = this.#time.localMs + END_WAIT_MS
        const look = () => {
          if (calls.size === 0) return resolve()
          if (this.#time.nowMs >= cutAtMs) for (const call of calls) call.fail('the connection was closed')
          this.#time.after(LOOK_MS, route.loop, look)
        }
        look()
      })
    const call = (name: string, verb: Verb, args: unknown[]) =>
      isClosed
        ? Promise.reject(new Error('the connection is closed'))
        : this.#call(route, name, verb, args, calls)
    const verb = (name: 'heartbeatJobs' | 'readPolicy') => this.store[name] as Verb
    const store = {
      heartbeatJobs: (...args: unknown[]) => call('heartbeatJobs', verb('heartbeatJobs'), args),
      readPolicy: () => call('readPolicy', verb('readPolicy'), []),
      showLife: (workerId: string) =>
        call('showLife', async () => this.sessions.showLife(workerId), []).then(() => {}),
    } as Required<HeartbeatStore>
    return { store, close }
  }

  #call(route: Route, name: string, verb: Verb, args: unknown[], calls?: Set<Call>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (route.loop.isDead) return
      const call: Call = new Call(this.#time, route, {
        resolve,
        reject,
        onFailed: (reason) => this.#listener.onFailed(route, name, reason),
        onOver: () => {
          calls?.delete(call)
          if (name === 'sweepJobs') this.#sweepsOnTheWay.delete(route.owner)
        },
      })
      calls?.add(call)
      if (name === 'sweepJobs') this.#sweepsOnTheWay.set(route.owner, this.#time.nowMs)
      const epoch = this.#epoch
      this.network.deliver(route.owner, null, () => this.#arrive(call, epoch, name, verb, args))
    })
  }

  #arrive(call: Call, epoch: number, name: string, verb: Verb, args: unknown[]): void {
    const { route } = call
    if (call.isOver || route.loop.isDead) return
    const fail = (reason: string) =>
      void this.#time.after(this.network.latencyMs(), route.loop, () => call.fail(reason))
    if (!this.isUp || epoch !== this.#epoch) return fail('the server does not answer')
    if (this.areSlotsFull && (route.kind === 'main' || name === 'connect'))
      return fail('no connection slot is free')
    if (this.network.loses(route.owner, 0.5)) return fail('the connection was cut before the commit')
    // A sweep waits 200 ms for the table at most, and notes the outage.
    if (this.#isLocked && name === 'sweepJobs') {
      this.#sweeps.noteLocked()
      return void this.#time.after(LOCK_WAIT_MS, route.loop, () => call.fail('the table is locked'))
    }
    if (this.#isLocked && !isElsewhere(route, name))
      return void this.#waiting.push(() => this.#arrive(call, epoch, name, verb, args))
    void this.#execute(call, epoch, name, verb, args)
  }

  async #execute(call: Call, epoch: number, name: string, verb: Verb, args: unknown[]): Promise<void> {
    const { route } = call
    let answer: unknown
    let refusal: unknown
    try {
      answer = name === 'sweepJobs' ? await this.#sweeps.run(args[0] as SweepRequest) : await verb(...args)
      if (name === 'reportWorker') (answer as ReportAnswer).isWatched = this.#sweeps.isWatched
    } catch (error) {
      refusal = error
    }
    if (refusal === undefined) {
      this.#listener.onExecuted(call, name, args, answer)
      this.#announce(name, args, answer)
    }
    const isLost = this.network.loses(route.owner)
    this.network.deliver(route.owner, route.loop, () => {
      if (call.isOver) return
      if (isLost || epoch !== this.#epoch) return call.fail('the answer was lost after the commit')
      if (refusal !== undefined) return call.refuse(refusal)
      this.#listener.onAnswered(route, name, args, answer)
      call.answer(answer)
    })
  }
}

/** Statements that do not touch the table of jobs. */
function isElsewhere({ kind }: Route, name: string): boolean {
  return kind === 'presence' || kind === 'listen' || name === 'readPolicy' || name === 'showLife'
}
