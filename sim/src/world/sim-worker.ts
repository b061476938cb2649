// A simulated worker process: the real worker on one event loop, the real heartbeat thread on another, both over the simulated
// database. A kill ends both loops at once; a pause stops both; a blocking handler stops the first.
import { EventEmitter } from 'node:events'
import { RuntimeEventEmitter } from '../../../src/observe/events.ts'
import type { RegisteredHandler } from '../../../src/runtime/attempt/handler.ts'
import { LeaseThread } from '../../../src/runtime/heartbeat/lease-thread.ts'
import { startPresence } from '../../../src/runtime/heartbeat/presence-session.ts'
import {
  driveThread,
  type FromThread,
  type ThreadPort,
  type ToThread,
} from '../../../src/runtime/heartbeat/thread-heartbeat.ts'
import { listenToHints } from '../../../src/runtime/listening/listen-to-hints.ts'
import type { Listener } from '../../../src/runtime/listening/listener.ts'
import { type Scheduler, startScheduler } from '../../../src/runtime/services/scheduler.ts'
import { startWorker, type Worker, type WorkerOptions } from '../../../src/runtime/worker/worker.ts'
import { startWorkerReport } from '../../../src/runtime/worker/worker-report.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { SimDatabase } from '../database/sim-database.ts'
import type { Transactions } from '../database/transactions.ts'
import type { PlannedSchedule } from '../plan/schedules.ts'
import type { Settings } from '../plan/settings.ts'
import { recurringJob } from './recurring-jobs.ts'
import { CALL_TIMEOUT_MS, type Service } from './service.ts'
import { Loop, type VirtualTime } from './virtual-time.ts'

export interface SimWorkerOptions {
  name: string
  time: VirtualTime
  database: SimDatabase
  settings: Settings
  /** That it looks after. */
  schedules: PlannedSchedule[]
  handlers: (worker: SimWorker) => RegisteredHandler[]
  transactions: Transactions
  /** That its handlers call. */
  service: Service | undefined
  onEvents: (events: RuntimeEventEmitter, worker: SimWorker) => void
  /** Whether hints reach it from now on. */
  onHints: (worker: SimWorker, areArriving: boolean) => void
  onEnded: (worker: SimWorker, isKilled: boolean) => void
}

/** Parts of a worker that exist before it starts. */
type Prepared = Pick<WorkerOptions<never>, 'store' | 'heartbeat' | 'events' | 'handlers' | 'dependencies'>

/** Copying a message to the other thread. */
const MESSAGE_MS = 0.05
const MAIN_TIMEOUT_MS = 30_000
const HEARTBEAT_TIMEOUT_MS = 10_000
const LISTEN_TIMEOUT_MS = 10_000

export class SimWorker {
  readonly name: string
  readonly main: Loop
  readonly heart: Loop
  readonly #options: SimWorkerOptions
  #worker: Worker | undefined
  #scheduler: Scheduler | undefined
  #mayEnqueue = true
  isOver = false

  constructor(options: SimWorkerOptions) {
    this.name = options.name
    this.#options = options
    const startedAtMs = options.time.nowMs
    this.main = new Loop(`${options.name} main`, startedAtMs)
    this.heart = new Loop(`${options.name} heartbeat`, startedAtMs)
  }

  start(): void {
    this.#options.time.after(0, this.main, () => this.#run())
  }

  #run(): void {
    const { database, handlers, onEvents, service } = this.#options
    const events = new RuntimeEventEmitter()
    const store = database.connect({
      loop: this.main,
      owner: this.name,
      kind: 'main',
      timeoutMs: MAIN_TIMEOUT_MS,
    })
    const heartbeat = driveThread(this.#startThread(), {
      onBeat: (leases) => events.emit('heartbeat:sent', { leases }),
      onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
      onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
      onLag: (lagMs) => events.emit('loop:lagged', { lagMs }),
    })
    onEvents(events, this)
    const parts = { store, heartbeat, events, handlers: handlers(this) }
    if (service === undefined) this.#work({ ...parts, dependencies: [] })
    else
      void service.prepare(store, parts.handlers).then((dependencies) => {
        if (!this.isOver) this.#work({ ...parts, dependencies })
      })
  }

  #work({ store, heartbeat, events, handlers, dependencies }: Prepared): void {
    const { settings, onHints, onEnded, transactions, service } = this.#options
    const worker = startWorker({
      store: transactions.watch(store),
      tableName: 'jobs',
      workerId: this.name,
      handlers,
      heartbeat,
      events,
      transaction: (work, { beginWithinMs, jobId }) =>
        transactions.run(store, { jobId, beginWithinMs, owner: this.name }, work),
      policy: {},
      gateway: { timeoutMs: CALL_TIMEOUT_MS, ...(service && { fetch: service.fetch }) },
      tracing: null,
      dependencies,
      concurrency: settings.concurrency,
      sweepIntervalMs: settings.policy.sweepIntervalMs,
      pollMs: settings.pollMs,
      hintedPollMs: settings.hintedPollMs ?? undefined,
      graceMs: settings.graceMs,
      hangGraceMs: settings.hangGraceMs,
      txTimeoutMs: settings.txTimeoutMs,
      leakBudget: settings.leakBudget,
      onHang: 'reopen',
    })
    this.#worker = worker
    let areHintsArriving = false
    const report = startWorkerReport({
      store,
      events,
      running: () => worker.running(),
      onDrain: () => void worker.stop('an operator asked for it'),
      onReport: (news) => worker.noteReport(news),
      sweepIntervalMs: settings.policy.sweepIntervalMs,
      intervalMs: settings.policy.sweepIntervalMs,
      hintedQueues: () => (areHintsArriving ? handlers.map(({ type }) => type) : undefined),
    })
    const hear = (areArriving: boolean) => {
      areHintsArriving = areArriving
      worker.trustHints(areArriving)
      report.wake()
      onHints(this, areArriving)
    }
    const listener = settings.hintedPollMs === null ? undefined : this.#listen(worker, hear)
    this.#startScheduler(store, events)
    void worker.ended
      .then(() => Promise.all([report.stop(), listener?.stop(), this.#scheduler?.stop()]))
      .then(() => this.#end(onEnded, false))
  }

  #startScheduler(store: JobStore, events: RuntimeEventEmitter): void {
    const { schedules } = this.#options
    if (schedules.length > 0 && this.#mayEnqueue)
      this.#scheduler = startScheduler({ store, events, schedules: schedules.map(recurringJob) })
  }

  /** Calls once it has enqueued its last recurring job. */
  endSchedules(onEnded: () => void): void {
    this.#mayEnqueue = false
    if (this.#scheduler === undefined) return onEnded()
    const scheduler = this.#scheduler
    this.#options.time.after(0, this.main, () => void scheduler.stop().then(onEnded))
  }

  #listen(worker: Worker, hear: (areArriving: boolean) => void): Listener {
    const { database } = this.#options
    const client = { loop: this.main, owner: this.name, timeoutMs: LISTEN_TIMEOUT_MS }
    return listenToHints({
      open: () => database.openNotifications({ kind: 'listen', ...client }),
      sendTest: (payload) => database.notify({ kind: 'main', ...client }, payload),
      onHint: (hint) => worker.wake(hint),
      onCancels: (leaseNumbers) => worker.hearCancels(leaseNumbers),
      onStarted: () => hear(true),
      onFailed: () => hear(false),
    })
  }

  #end(onEnded: SimWorkerOptions['onEnded'], isKilled: boolean): void {
    if (this.isOver) return
    this.isOver = true
    this.main.isDead = true
    this.heart.isDead = true
    onEnded(this, isKilled)
  }

  /** SIGTERM. */
  stop(): void {
    this.#options.time.after(0, this.main, () => {
      if (this.#worker !== undefined) void this.#worker.stop('deploy')
      else this.#end(this.#options.onEnded, false)
    })
  }

  /** SIGKILL. */
  kill(): void {
    this.#end(this.#options.onEnded, true)
  }

  /** SIGSTOP. */
  pause(ms: number): void {
    const untilMs = this.#options.time.localMs + ms
    for (const loop of [this.main, this.heart]) loop.blockedUntilMs = Math.max(loop.blockedUntilMs, untilMs)
  }

  /** A synchronous loop in a handler. */
  block(ms: number): void {
    this.main.blockedUntilMs = Math.max(this.main.blockedUntilMs, this.#options.time.localMs + ms)
  }

  #startThread(): ThreadPort {
    const { time, database, settings } = this.#options
    const { main, heart } = this
    const port = new EventEmitter()
    let thread: LeaseThread | undefined
    const open = () =>
      database.open({ loop: heart, owner: this.name, kind: 'heartbeat', timeoutMs: HEARTBEAT_TIMEOUT_MS })
    time.after(1, heart, () => {
      thread = new LeaseThread({
        workerId: this.name,
        policy: {},
        intervalMs: settings.policy.heartbeatMs,
        open,
        startPresence: (listener, longestLeaseMs) =>
          startPresence({
            workerId: this.name,
            longestLeaseMs,
            open: () =>
              database.openSession({
                loop: heart,
                owner: this.name,
                kind: 'presence',
                timeoutMs: HEARTBEAT_TIMEOUT_MS,
              }),
            ...listener,
          }),
        send: (message: FromThread) => void time.after(MESSAGE_MS, main, () => port.emit('message', message)),
        onStopped: () => void time.after(MESSAGE_MS, main, () => port.emit('exit', 0)),
      })
    })
    const post = (message: ToThread) => void time.after(1 + MESSAGE_MS, heart, () => thread?.hear(message))
    return Object.assign(port, { postMessage: post })
  }
}
