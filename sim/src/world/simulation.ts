// One run of a plan: starts the processes, plays jobs and faults, heals everything, waits for the end of all jobs, and keeps what
// the judge needs.

import { createRandom } from '../../../chaos/src/random.ts'
import type { Job } from '../../../src/job/job.ts'
import { replaceTiming } from '../../../src/runtime/timing/timing.ts'
import type { Coverage } from '../coverage.ts'
import { SimDatabase } from '../database/sim-database.ts'
import { Transactions } from '../database/transactions.ts'
import { Gates } from '../judge/gates/gates.ts'
import { Departures } from '../judge/leaving/departures.ts'
import type { Plan, PlannedJob } from '../plan/plan.ts'
import { startEnqueuer } from './enqueuer.ts'
import { Evidence } from './evidence.ts'
import { FaultPlayer } from './fault-player.ts'
import { handlersOf } from './handlers.ts'
import { Observer } from './observer.ts'
import { type Place, Places } from './places.ts'
import { Reapers } from './reapers.ts'
import { beginSchedules } from './recurring-jobs.ts'
import { Sampler } from './sampler.ts'
import { Service } from './service.ts'
import { SimWorker } from './sim-worker.ts'
import { Trace } from './trace.ts'
import { noteUncaught } from './uncaught.ts'
import { uuids } from './uuids.ts'
import { EPOCH_MS, VirtualTime } from './virtual-time.ts'

/** The stream of the world differs from that of the plan. */
const WORLD = 0x5bd1e995
export class Simulation {
  readonly plan: Plan
  readonly time: VirtualTime
  readonly database: SimDatabase
  readonly trace: Trace
  readonly random: () => number
  readonly evidence: Evidence
  readonly transactions: Transactions
  readonly places = new Places()
  readonly departures: Departures
  readonly gates: Gates
  readonly service: Service | undefined
  /** By place; a place has one process after the other. */
  readonly workers: SimWorker[] = []
  readonly reapers: Reapers
  readonly #byName = new Map<string, SimWorker>()
  readonly #observer: Observer
  readonly #player: FaultPlayer
  readonly #sampler: Sampler
  readonly #nextUuid: () => string
  #generations: number[] = []
  #acknowledged = 0
  #isHealed = false
  #isClosing = false

  constructor(plan: Plan, isTraced: boolean) {
    this.plan = plan
    this.random = createRandom(plan.seed ^ WORLD)
    this.time = new VirtualTime(this.random)
    this.trace = new Trace(isTraced)
    this.evidence = new Evidence(this.time)
    this.#nextUuid = uuids(plan.seed)
    this.departures = new Departures(this.evidence)
    this.#observer = new Observer(this)
    this.database = new SimDatabase({
      time: this.time,
      random: this.random,
      createUuid: this.#nextUuid,
      policy: plan.settings.policy,
      listener: this.#observer,
    })
    const leaseOf = (jobId: string) => this.database.leaseOf(jobId)
    this.transactions = new Transactions(this.time, leaseOf, this.evidence.reporter('tx'))
    this.gates = new Gates(this)
    this.service = plan.breaker === undefined ? undefined : new Service(plan.breaker)
    this.reapers = new Reapers({
      time: this.time,
      database: this.database,
      settings: plan.settings,
      onStart: (name) => this.#observer.noteReaper(name),
    })
    this.#player = new FaultPlayer(this)
    this.#sampler = new Sampler(this)
  }

  async run(): Promise<void> {
    const restore = replaceTiming(this.time.timing(this.#nextUuid))
    try {
      await noteUncaught(this.evidence, () => {
        this.#begin()
        return this.#play()
      })
    } finally {
      restore()
    }
  }

  #begin(): void {
    const { settings, limits, jobs, faults } = this.plan
    for (const [queue, limit] of Object.entries(limits)) void this.database.store.limitQueue(queue, limit)
    this.service?.begin(this.database.store)
    beginSchedules(this.database.store, this.plan.schedules)
    for (let place = 0; place < settings.workers; place++) this.#startWorker(place)
    this.reapers.startAll()
    this.#startEnqueuer(jobs)
    for (const fault of faults) this.#player.schedule(fault)
    this.time.after(this.plan.durationMs, null, () => {
      this.#player.healAll()
      this.#isHealed = true
      if (this.plan.schedules !== undefined) this.gates.endSchedules(this.workers)
      this.say('everything', 'is healed')
    })
    this.#sampler.start()
  }

  /** Until every job has ended, or for so long that one never will. */
  async #play(): Promise<void> {
    const { durationMs, jobs, settings } = this.plan
    const { defaultLeaseMs, sweepIntervalMs } = settings.policy
    const limitMs =
      durationMs +
      60 * (defaultLeaseMs + sweepIntervalMs) +
      jobs.reduce((sum, { workMs }) => sum + workMs, 0) * 3
    await this.time.runUntil(
      limitMs,
      () =>
        this.#isHealed &&
        !this.gates.isScheduling &&
        this.#acknowledged === jobs.length &&
        this.#haveAllEnded(),
    )
    this.#isClosing = true
    this.#sampler.stop()
    for (const worker of this.workers) worker.stop()
    // A blocked event loop delays the signal.
    const heardMs = Math.max(this.time.nowMs, ...this.workers.map(({ main }) => main.blockedUntilMs))
    const closeMs = heardMs + settings.graceMs + 30_000
    await this.time.runUntil(closeMs, () => this.workers.every(({ isOver }) => isOver))
    for (const { name, isOver } of this.workers)
      if (!isOver)
        this.evidence.violations.push({ invariant: 'stop', message: `${name} did not end after SIGTERM` })
  }

  get #now(): number {
    return EPOCH_MS + this.time.nowMs
  }

  get isHealed(): boolean {
    return this.#isHealed
  }

  get coverage(): Coverage {
    return this.#player.coverage
  }

  #nextLookMs = 0
  #haveAllEnded(): boolean {
    if (this.time.nowMs < this.#nextLookMs) return false
    this.#nextLookMs = this.time.nowMs + this.#sampler.intervalMs
    return this.rows().every(({ status }) => status !== 'waiting' && status !== 'running')
  }

  rows(): Job[] {
    return this.database.rows()
  }

  workerOf(name: string): SimWorker | undefined {
    return this.#byName.get(name)
  }

  placeOf(job: Job): Place {
    const isAlive = (name: string) => this.#byName.get(name)?.isOver === false
    return this.places.of(job, this.database.store.now(), isAlive)
  }

  say(who: string, what: string): void {
    this.trace.add(this.time.nowMs, who, what)
  }

  #startWorker(place: number): void {
    if (this.#isClosing) return
    const generation = (this.#generations[place] ?? 0) + 1
    this.#generations[place] = generation
    const worker = new SimWorker({
      name: `w${place + 1}-${generation}`,
      time: this.time,
      database: this.database,
      settings: this.plan.settings,
      transactions: this.transactions,
      service: this.service,
      schedules: this.#isHealed ? [] : (this.plan.schedules ?? []),
      handlers: (started) =>
        handlersOf(started, {
          onWork: (kind, job) => this.#observer.note(kind, started.name, job),
          onPlace: (reached, lease) => this.#observer.noteReached(reached, started.name, lease),
          rates: this.plan.rates,
          service: this.service,
        }),
      onEvents: (events, started) => this.#observer.listen(events, started),
      onHints: ({ name }, areArriving) => this.#observer.noteHints(name, areArriving),
      onEnded: (ended, isKilled) => this.#noteEnd(ended, place, isKilled),
    })
    this.workers[place] = worker
    this.#byName.set(worker.name, worker)
    this.say(worker.name, 'starts')
    this.evidence.noteWorker(worker.name)
    worker.start()
  }

  #noteEnd(worker: SimWorker, place: number, isKilled: boolean): void {
    this.say(worker.name, isKilled ? 'is killed' : 'has ended')
    if (!isKilled) this.departures.noteEnd(worker.name, this.#now)
    this.transactions.forget(worker.name)
    this.database.closeSockets(worker.name)
    this.evidence.disturb(worker.name, 'gone', Number.POSITIVE_INFINITY)
    const restartMs = 50 + this.random() * this.plan.settings.policy.defaultLeaseMs
    if (!this.#isClosing) this.time.after(restartMs, null, () => this.#startWorker(place))
  }

  #startEnqueuer(jobs: PlannedJob[]): void {
    const { time, database, evidence } = this
    startEnqueuer(jobs, { time, database, evidence, onAnswered: () => this.#acknowledged++ })
  }
}
