// Watches a run: hears what the database executes and answers and what happens in the workers, writes it down for the judge, and
// asks the judges of what must hold at every moment.
import type { LedgerLine } from '../../../chaos/src/judge/history.ts'
import { type ClaimedJob, type Lease, leaseKey } from '../../../src/job/lease.ts'
import type { RuntimeEventEmitter } from '../../../src/observe/events.ts'
import type { HeartbeatReport, SweepRequest, SweepStep } from '../../../src/store/job-store.ts'
import type { Call, Route } from '../database/call.ts'
import { describeCall, isQuiet, shortId } from '../database/describe-call.ts'
import { leasesOf } from '../database/leases-of.ts'
import type { DatabaseListener } from '../database/sim-database.ts'
import type { SweepCall } from '../database/sweeps.ts'
import { FirstClaims } from '../judge/claims/first-claims.ts'
import { Slots } from '../judge/claims/slots.ts'
import { HintLosses } from '../judge/hint-losses.ts'
import { EndedLeases } from '../judge/leases/ended-leases.ts'
import { SelfFence } from '../judge/leases/self-fence.ts'
import { FailedSweeps } from '../judge/sweeps/failed-sweeps.ts'
import { MassExpiries } from '../judge/sweeps/mass-expiries.ts'
import type { AttemptPlace } from './places.ts'
import type { SimWorker } from './sim-worker.ts'
import type { Simulation } from './simulation.ts'
import { EPOCH_MS } from './virtual-time.ts'

type World = Pick<
  Simulation,
  | 'plan'
  | 'time'
  | 'evidence'
  | 'departures'
  | 'database'
  | 'transactions'
  | 'places'
  | 'gates'
  | 'workerOf'
  | 'say'
>

export class Observer implements DatabaseListener {
  readonly #world: World
  readonly #endedLeases: EndedLeases
  readonly #massExpiries: MassExpiries
  readonly #failedSweeps: FailedSweeps
  readonly #slots: Slots
  readonly #hintLosses: HintLosses
  readonly #firstClaims: FirstClaims
  readonly #selfFence: SelfFence
  /** Processes whose last sweep was long on its way. */
  readonly #late = new Set<string>()

  /** The world has no database yet: a database is opened with its listener. */
  constructor(world: World) {
    const { plan, time, evidence } = world
    const onSilence = (fromMs: number, toMs: number) => evidence.noteSilence(fromMs, toMs)
    this.#world = world
    this.#endedLeases = new EndedLeases(evidence.reporter('lease'))
    this.#massExpiries = new MassExpiries({
      onSilence: (fromMs) => onSilence(world.database.clock.sinceMs(fromMs, this.#now), this.#now),
      onViolation: evidence.reporter('mass'),
    })
    this.#failedSweeps = new FailedSweeps(plan.settings.policy.defaultLeaseMs, onSilence)
    this.#slots = new Slots(plan.settings.concurrency, evidence.reporter('slots'))
    this.#selfFence = new SelfFence({
      time,
      heartbeatMs: world.plan.settings.policy.heartbeatMs,
      isRunning: (worker, lease) => this.#slots.isRunning(worker, lease),
      onViolation: evidence.reporter('self-fence'),
    })
    this.#firstClaims = new FirstClaims(evidence.reporter('first claim'))
    this.#hintLosses = new HintLosses(world, evidence.reporter('hints'))
  }

  get #now(): number {
    return EPOCH_MS + this.#world.time.nowMs
  }

  onSweep(call: SweepCall): void {
    this.#world.evidence.noteSweepAfterStep(call)
    this.#massExpiries.noteSweep(call)
  }

  onExecuted(call: Call, verb: string, args: unknown[], answer: unknown): void {
    const { evidence, gates, transactions } = this.#world
    const { owner } = call.route
    gates.noteExecuted(owner, verb, args, answer, this.#now)
    if (verb === 'heartbeatJobs') transactions.noteHeartbeat(owner, args[0] as Lease[])
    if (verb === 'claimJobs') this.#noteClaims(call, answer as ClaimedJob[])
    // Until it is answered, the worker does not know that it has a session.
    if (verb === 'takePresence') evidence.noteSessionEnd(owner)
    if (verb === 'completeJobs')
      transactions.noteCompleted(args[0] as Lease[], answer as { outcome: string }[])
    if (verb === 'sweepJobs') this.#noteStep(call, args[0] as SweepRequest, answer as SweepStep)
    if (!isQuiet(verb)) this.#world.say('database', `${verb} by ${owner}${describeCall(verb, args, answer)}`)
  }

  #noteClaims({ route: { owner }, sentAtMs }: Call, claims: ClaimedJob[]): void {
    const { database, departures, evidence, places } = this.#world
    evidence.noteKept(database.hasKeptWorkers)
    this.#selfFence.noteClaim(owner)
    this.#firstClaims.noteClaim(owner)
    departures.noteClaim(owner, EPOCH_MS + sentAtMs)
    evidence.noteClaims(owner, claims)
    for (const lease of claims) places.arrive('claimed', owner, lease)
  }

  /** A shorter step ends no lease that is renewed in time. */
  get #leastStepMs(): number {
    return Math.min(5_000, this.#world.plan.settings.policy.defaultLeaseMs / 2)
  }

  #noteStep({ route: { owner }, sentAtMs }: Call, { reaper }: SweepRequest, step: SweepStep): void {
    const { held, holdReason, isRedundant } = step
    const isFirst = reaper?.lastSweptAt === undefined
    const reached = { sentAtMs: EPOCH_MS + sentAtMs, nowMs: this.#now, isFirst }
    const isLate = this.#now - reached.sentAtMs > this.#leastStepMs
    // It counts the time since the last one from when that was sent.
    if (this.#world.database.clock.hasStepped && (isLate || this.#late.has(owner)))
      this.#world.evidence.noteLateSweep()
    if (isLate) this.#late.add(owner)
    else this.#late.delete(owner)
    if (isRedundant !== true) this.#failedSweeps.noteSweep(owner, reached)
    if (held > 0) this.#world.evidence.holds.push({ at: this.#now, reason: holdReason ?? 'none' })
  }

  onAnswered(route: Route, verb: string, args: unknown[], answer: unknown): void {
    const { evidence, gates } = this.#world
    const { owner, kind } = route
    if (verb === 'heartbeatJobs') {
      const { answers } = answer as HeartbeatReport
      this.#endedLeases.noteAnswers(owner, answers)
      const worker = this.#world.workerOf(owner)
      if (worker !== undefined) this.#selfFence.noteAnswers(worker, answers)
    }
    gates.noteAnswered(owner, verb, args, answer, this.#now)
    this.#failedSweeps.noteAnswer(owner, verb)
    this.#firstClaims.noteAnswer(route, verb)
    // A session whose answer was lost is closed again by its worker.
    if (verb === 'takePresence') evidence.noteSession(owner)
    if (verb === 'heartbeatJobs' || kind === 'heartbeat') return
    evidence.noteAnswered(owner, verb, leasesOf(verb, args), answer as { outcome: string }[])
  }

  onFailed({ owner, kind }: Route, verb: string, reason: string): void {
    const { departures, evidence, gates } = this.#world
    this.#world.say(owner, `${verb}: ${reason}`)
    gates.noteFailed(owner, verb, this.#now)
    // No release needs it.
    if (kind !== 'listen') departures.noteFailure(owner)
    this.#failedSweeps.noteFailure(owner, verb, this.#now)
    this.#firstClaims.noteFailure(owner, verb)
    if (kind === 'heartbeat') evidence.disturb(owner, 'answer-lost', 0)
  }

  onHintsLost(owner: string): void {
    this.#hintLosses.noteLoss(this.#world.workerOf(owner))
  }

  /** A reaper that starts knows nothing of the one before it. */
  noteReaper(name: string): void {
    this.#failedSweeps.forget(name)
  }

  noteHints(worker: string, areArriving: boolean): void {
    this.#world.say(worker, areArriving ? 'hears hints' : 'hears no hints')
    this.#world.evidence.noteHints(worker, areArriving)
  }

  noteReached(place: AttemptPlace, worker: string, lease: Lease): void {
    if (place === 'working') this.#slots.noteStart(worker, leaseKey(lease))
    if (place === 'returned') this.#slots.noteEnd(worker, leaseKey(lease))
    this.#world.places.arrive(place, worker, lease)
  }

  listen(events: RuntimeEventEmitter, { name }: SimWorker): void {
    const { departures, evidence, gates, places } = this.#world
    const say = (what: string) => this.#world.say(name, what)
    events.on('job:started', ({ job }) => {
      gates.noteStart(name, job)
      this.note('started', name, job, { fence: job.fence })
    })
    events.on('job:ended', ({ job, end }) => {
      this.#slots.noteEnd(name, leaseKey(job))
      this.note('ended', name, job, { end })
    })
    events.on('job:at-risk', ({ job }) => this.note('at-risk', name, job))
    events.on('job:aborted', ({ job, reason }) => {
      this.#selfFence.noteAborted(job)
      evidence.noteAborted(name, job, reason)
      places.arrive('aborted', name, job)
      say(`aborts ${shortId(job.jobId)}: ${reason}`)
    })
    events.on('heartbeat:failed', () => {
      this.#selfFence.noteFailing(name, true)
      say('heartbeats fail')
    })
    events.on('heartbeat:recovered', () => {
      this.#selfFence.noteFailing(name, false)
      say('heartbeats are answered again')
    })
    events.on('worker:draining', ({ reason }) => {
      departures.noteStop(name, this.#now)
      say(`leaves: ${reason}`)
    })
  }

  /** A line of the worker's ledger, unless the worker is dead. */
  note(kind: string, name: string, job: Lease & Partial<ClaimedJob>, more: Partial<LedgerLine> = {}): void {
    const { evidence, time } = this.#world
    if (this.#world.workerOf(name)?.main.isDead !== false) return
    const at = EPOCH_MS + time.localMs
    const { jobId, leaseId, type = '' } = job
    evidence.note({ kind, at, worker: name, pid: 0, job: jobId, lease: leaseId, ...more })
    this.#world.say(name, `${kind} ${type} ${shortId(jobId)} ${more.end ?? ''}`.trimEnd())
  }
}
