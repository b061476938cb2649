// One run of a plan: starts the processes, plays jobs and faults, heals everything, waits for the end of all jobs, and keeps what
// the judge needs.

import type { LedgerLine } from '../../../chaos/src/judge/history.ts'
import { createRandom } from '../../../chaos/src/random.ts'
import type { Job } from '../../../src/job/job.ts'
import { type ClaimedJob, type Lease, leaseKey } from '../../../src/job/lease.ts'
import type { RuntimeEventEmitter } from '../../../src/observe/events.ts'
import { replaceTiming } from '../../../src/runtime/timing/timing.ts'
import type { HeartbeatReport, SweepRequest, SweepStep } from '../../../src/store/job-store.ts'
import type { Coverage } from '../coverage.ts'
import type { Call, Route } from '../database/call.ts'
import { describeCall, isQuiet, shortId } from '../database/describe-call.ts'
import { leasesOf } from '../database/leases-of.ts'
import { SimDatabase } from '../database/sim-database.ts'
import { Transactions } from '../database/transactions.ts'
import { FirstClaims } from '../judge/claims/first-claims.ts'
import { Slots } from '../judge/claims/slots.ts'
import { Gates } from '../judge/gates/gates.ts'
import { HintLosses } from '../judge/hint-losses.ts'
import { EndedLeases } from '../judge/leases/ended-leases.ts'
import { SelfFence } from '../judge/leases/self-fence.ts'
import { Departures } from '../judge/leaving/departures.ts'
import { FailedSweeps } from '../judge/sweeps/failed-sweeps.ts'
import { MassExpiries } from '../judge/sweeps/mass-expiries.ts'
import type { Plan, PlannedJob } from '../plan/plan.ts'
import { startEnqueuer } from './enqueuer.ts'
import { Evidence } from './evidence.ts'
import { FaultPlayer } from './fault-player.ts'
import { handlersOf } from './handlers.ts'
import { type AttemptPlace, type Place, Places } from './places.ts'
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
  readonly #player: FaultPlayer
  readonly #sampler: Sampler
  readonly #nextUuid: () => string
  readonly #endedLeases: EndedLeases
  readonly #massExpiries: MassExpiries
  readonly #failedSweeps: FailedSweeps
  readonly #slots: Slots
  readonly #hintLosses: HintLosses
  readonly #firstClaims: FirstClaims
  readonly #selfFence: SelfFence
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
    const report = (invariant: string) => (message: string) =>
      void this.evidence.violations.push({ invariant, message })
    this.database = new SimDatabase({
      time: this.time,
      random: this.random,
      createUuid: this.#nextUuid,
      policy: plan.settings.policy,
      listener: {
        onSweep: (call) => {
          this.evidence.noteSweepAfterStep(call)
          this.#massExpiries.noteSweep(call)
        },
        onExecuted: (call, verb, args, answer) => this.#noteExecuted(call, verb, args, answer),
        onAnswered: (route, verb, args, answer) => this.#noteAnswered(route, verb, args, answer),
        onFailed: (route, verb, reason) => this.#noteFailed(route, verb, reason),
        onHintsLost: (owner) => this.#hintLosses.noteLoss(this.#byName.get(owner)),
      },
    })
    this.transactions = new Transactions(this.time, (jobId) => this.database.leaseOf(jobId), report('tx'))
    this.#endedLeases = new EndedLeases(report('lease'))
    const onSilence = (fromMs: number, toMs: number) => this.evidence.noteSilence(fromMs, toMs)
    this.#massExpiries = new MassExpiries({
      onSilence: (fromMs) => onSilence(this.database.clock.sinceMs(fromMs, this.#now), this.#now),
      onViolation: report('mass'),
    })
    this.#failedSweeps = new FailedSweeps(plan.settings.policy.defaultLeaseMs, onSilence)
    this.#slots = new Slots(plan.settings.concurrency, report('slots'))
    this.#selfFence = new SelfFence({
      time: this.time,
      isRunning: (worker, lease) => this.#slots.isRunning(worker, lease),
      onViolation: report('self-fence'),
    })
    this.departures = new Departures(this.evidence)
    this.gates = new Gates(this)
    this.service = plan.breaker === undefined ? undefined : new Service(plan.breaker)
    this.#firstClaims = new FirstClaims(report('first claim'))
    this.#hintLosses = new HintLosses(this, report('hints'))
    this.reapers = new Reapers({
      time: this.time,
      database: this.database,
      settings: plan.settings,
      onStart: (name) => this.#failedSweeps.forget(name),
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
          onWork: (kind, job) => this.#note(kind, started.name, job),
          onPlace: (reached, lease) => this.#noteReached(reached, started.name, lease),
          rates: this.plan.rates,
          service: this.service,
        }),
      onEvents: (events, started) => this.#listen(events, started),
      onHints: ({ name }, areArriving) => {
        this.say(name, areArriving ? 'hears hints' : 'hears no hints')
        this.evidence.noteHints(name, areArriving)
      },
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

  #noteReached(place: AttemptPlace, worker: string, lease: Lease): void {
    if (place === 'working') this.#slots.noteStart(worker, leaseKey(lease))
    if (place === 'returned') this.#slots.noteEnd(worker, leaseKey(lease))
    this.places.arrive(place, worker, lease)
  }

  #listen(events: RuntimeEventEmitter, worker: SimWorker): void {
    const { name } = worker
    events.on('job:started', ({ job }) => {
      this.gates.noteStart(name, job)
      this.#note('started', name, job, { fence: job.fence })
    })
    events.on('job:ended', ({ job, end }) => {
      this.#slots.noteEnd(name, leaseKey(job))
      this.#note('ended', name, job, { end })
    })
    events.on('job:at-risk', ({ job }) => this.#note('at-risk', name, job))
    events.on('job:aborted', ({ job, reason }) => {
      this.#selfFence.noteAborted(job)
      this.evidence.noteAborted(name, job, reason)
      this.places.arrive('aborted', name, job)
      this.say(name, `aborts ${shortId(job.jobId)}: ${reason}`)
    })
    events.on('heartbeat:failed', () => {
      this.#selfFence.noteFailing(name, true)
      this.say(name, 'heartbeats fail')
    })
    events.on('heartbeat:recovered', () => {
      this.#selfFence.noteFailing(name, false)
      this.say(name, 'heartbeats are answered again')
    })
    events.on('worker:draining', ({ reason }) => {
      this.departures.noteStop(name, this.#now)
      this.say(name, `leaves: ${reason}`)
    })
  }

  #note(kind: string, name: string, job: Lease & Partial<ClaimedJob>, more: Partial<LedgerLine> = {}): void {
    if (this.#byName.get(name)?.main.isDead !== false) return
    const at = EPOCH_MS + this.time.localMs
    const { jobId, leaseId, type = '' } = job
    this.evidence.note({ kind, at, worker: name, pid: 0, job: jobId, lease: leaseId, ...more })
    this.say(name, `${kind} ${type} ${shortId(jobId)} ${more.end ?? ''}`.trimEnd())
  }

  #noteExecuted({ route, sentAtMs }: Call, verb: string, args: unknown[], answer: unknown): void {
    this.gates.noteExecuted(route.owner, verb, args, answer, this.#now)
    if (verb === 'heartbeatJobs') this.transactions.noteHeartbeat(route.owner, args[0] as Lease[])
    if (verb === 'claimJobs') {
      this.evidence.noteKept(this.database.hasKeptWorkers)
      this.#selfFence.noteClaim(route.owner)
      this.#firstClaims.noteClaim(route.owner)
      this.departures.noteClaim(route.owner, EPOCH_MS + sentAtMs)
      this.#noteClaims(route.owner, answer as ClaimedJob[])
    }
    // Until it is answered, the worker does not know that it has a session.
    if (verb === 'takePresence') this.evidence.noteSessionEnd(route.owner)
    if (verb === 'completeJobs')
      this.transactions.noteCompleted(args[0] as Lease[], answer as { outcome: string }[])
    if (verb === 'sweepJobs') {
      const { held, holdReason, isRedundant } = answer as SweepStep
      const isFirst = (args[0] as SweepRequest).reaper?.lastSweptAt === undefined
      const reached = { sentAtMs: EPOCH_MS + sentAtMs, nowMs: this.#now, isFirst }
      if (isRedundant !== true) this.#failedSweeps.noteSweep(route.owner, reached)
      if (held > 0) this.evidence.holds.push({ at: this.#now, reason: holdReason ?? 'none' })
    }
    if (!isQuiet(verb)) this.say('database', `${verb} by ${route.owner}${describeCall(verb, args, answer)}`)
  }

  #noteClaims(worker: string, claims: ClaimedJob[]): void {
    this.evidence.noteClaims(worker, claims)
    for (const lease of claims) this.places.arrive('claimed', worker, lease)
  }

  #noteAnswered(route: Route, verb: string, args: unknown[], answer: unknown): void {
    if (verb === 'heartbeatJobs') {
      const { answers } = answer as HeartbeatReport
      this.#endedLeases.noteAnswers(route.owner, answers)
      const worker = this.#byName.get(route.owner)
      if (worker !== undefined) this.#selfFence.noteAnswers(worker, answers)
    }
    this.gates.noteAnswered(route.owner, verb, args, answer, this.#now)
    this.#failedSweeps.noteAnswer(route.owner, verb)
    this.#firstClaims.noteAnswer(route, verb)
    // A session whose answer was lost is closed again by its worker.
    if (verb === 'takePresence') this.evidence.noteSession(route.owner)
    if (verb === 'heartbeatJobs' || route.kind === 'heartbeat') return
    this.evidence.noteAnswered(route.owner, verb, leasesOf(verb, args), answer as { outcome: string }[])
  }

  #noteFailed(route: Route, verb: string, reason: string): void {
    this.say(route.owner, `${verb}: ${reason}`)
    this.gates.noteFailed(route.owner, verb, this.#now)
    // No release needs it.
    if (route.kind !== 'listen') this.departures.noteFailure(route.owner)
    this.#failedSweeps.noteFailure(route.owner, verb, this.#now)
    this.#firstClaims.noteFailure(route.owner, verb)
    if (route.kind === 'heartbeat') this.evidence.disturb(route.owner, 'answer-lost', 0)
  }
}
