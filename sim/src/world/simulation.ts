// One run of a plan: starts the processes, plays jobs and faults, heals everything, waits for the end of all jobs, and keeps what
// the judge needs.

import type { Disturbance } from '../../../chaos/src/faults/disturbances.ts'
import type { LedgerLine } from '../../../chaos/src/judge/history.ts'
import type { Sample } from '../../../chaos/src/judge/table-sampler.ts'
import { createRandom } from '../../../chaos/src/random.ts'
import type { ClaimedJob, Lease } from '../../../src/job/lease.ts'
import type { RuntimeEventEmitter } from '../../../src/observe/events.ts'
import { retryUntilAnswered } from '../../../src/runtime/calls/retry-until-answered.ts'
import { type Reaper, startReaper } from '../../../src/runtime/services/reaper.ts'
import { replaceTiming } from '../../../src/runtime/timing/timing.ts'
import type { HeartbeatReport, JobStore } from '../../../src/store/job-store.ts'
import type { Plan, PlannedJob } from '../plan/plan.ts'
import { poisonAttempts } from '../plan/settings.ts'
import { createUuid } from './create-uuid.ts'
import { describeCall, shortId } from './describe-call.ts'
import { EndedLeases } from './ended-leases.ts'
import { FaultPlayer } from './fault-player.ts'
import { handlersOf } from './handlers.ts'
import { leasesOf, type Route, SimDatabase } from './sim-database.ts'
import { SimWorker } from './sim-worker.ts'
import { Trace } from './trace.ts'
import { Transactions } from './transactions.ts'
import { EPOCH_MS, Loop, VirtualTime } from './virtual-time.ts'

/** The stream of the world differs from that of the plan. */
const WORLD = 0x5bd1e995
/** Verbs that are worth a line of the trace. */
const QUIET = new Set(['readPolicy', 'reportWorker', 'hasDueJobs', 'watchBreakers'])

export class Simulation {
  readonly plan: Plan
  readonly time: VirtualTime
  readonly database: SimDatabase
  readonly trace: Trace
  readonly random: () => number
  readonly transactions: Transactions
  readonly ledger: LedgerLine[] = []
  readonly disturbances: Disturbance[] = []
  readonly samples: Sample[] = []
  readonly holds: { at: number; reason: string }[] = []
  readonly enqueuedIds: string[] = []
  /** Jobs that an operator started anew. */
  readonly retriedIds = new Set<string>()
  readonly violations: { invariant: string; message: string }[] = []
  /** By place; a place has one process after the other. */
  readonly workers: SimWorker[] = []
  /** Lease ids by job and fence. */
  readonly leases = new Map<string, string>()
  #reaperLoop: Loop | undefined
  #generations: number[] = []
  #acknowledged = 0
  #isHealed = false
  #isClosing = false

  constructor(plan: Plan, isTraced: boolean) {
    this.plan = plan
    this.random = createRandom(plan.seed ^ WORLD)
    this.time = new VirtualTime(this.random)
    this.trace = new Trace(isTraced)
    const nextUuid = () => createUuid(this.random)
    this.database = new SimDatabase({
      time: this.time,
      random: this.random,
      createUuid: nextUuid,
      policy: plan.settings.policy,
      listener: {
        onExecuted: (route, verb, args, answer) => this.#noteExecuted(route, verb, args, answer),
        onAnswered: (route, verb, args, answer) => this.#noteAnswered(route, verb, args, answer),
        onFailed: (route, verb, reason) => this.#noteFailed(route, verb, reason),
      },
    })
    this.transactions = new Transactions(this.time, (message) =>
      this.violations.push({ invariant: 'tx', message }),
    )
    this.#nextUuid = nextUuid
  }

  readonly #nextUuid: () => string
  readonly #endedLeases = new EndedLeases((message) => this.violations.push({ invariant: 'lease', message }))

  async run(): Promise<void> {
    const restore = replaceTiming(this.time.timing(this.#nextUuid))
    const note = (error: unknown) =>
      this.violations.push({ invariant: 'crash', message: `an error nobody caught: ${String(error)}` })
    process.on('unhandledRejection', note)
    try {
      this.#begin()
      await this.#play()
    } finally {
      process.off('unhandledRejection', note)
      restore()
    }
  }

  #begin(): void {
    const { settings, jobs, faults } = this.plan
    for (let place = 0; place < settings.workers; place++) this.startWorker(place)
    if (settings.reapers > 0) this.startReaper()
    this.#startEnqueuer(jobs)
    const player = new FaultPlayer(this)
    for (const fault of faults) player.schedule(fault)
    this.time.after(this.plan.durationMs, null, () => {
      player.healAll()
      this.#isHealed = true
      this.say('everything', 'is healed')
    })
    this.#sample()
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
      () => this.#isHealed && this.#acknowledged === jobs.length && this.#haveAllEnded(),
    )
    this.#isClosing = true
    for (const worker of this.workers) worker.stop()
    const closeMs = this.time.nowMs + settings.graceMs + 30_000
    await this.time.runUntil(closeMs, () => this.workers.every(({ isOver }) => isOver))
    for (const { name, isOver } of this.workers)
      if (!isOver) this.violations.push({ invariant: 'stop', message: `${name} did not end after SIGTERM` })
  }

  get #sampleMs(): number {
    const { defaultLeaseMs, sweepIntervalMs } = this.plan.settings.policy
    return Math.min(defaultLeaseMs / 4, sweepIntervalMs / 2)
  }

  #nextLookMs = 0
  #haveAllEnded(): boolean {
    if (this.time.nowMs < this.#nextLookMs) return false
    this.#nextLookMs = this.time.nowMs + this.#sampleMs
    return this.rows().every(({ status }) => status !== 'waiting' && status !== 'running')
  }

  rows() {
    return this.database.rows()
  }

  say(who: string, what: string): void {
    this.trace.add(this.time.nowMs, who, what)
  }

  disturb(who: string, kind: string, durationMs: number): Disturbance {
    const from = EPOCH_MS + this.time.nowMs
    const disturbance = { who, kind, from, to: from + durationMs }
    this.disturbances.push(disturbance)
    return disturbance
  }

  /** Commits since then are lost: what they acknowledged is excused. */
  noteLost(fromMs: number): void {
    const lost = { from: EPOCH_MS + fromMs, to: EPOCH_MS + this.time.nowMs }
    this.#lost.push(lost)
    // Nobody has swept the replica since.
    this.disturbances.push({ who: '*', kind: 'database-stopped', ...lost })
  }

  readonly #lost: { from: number; to: number }[] = []
  readonly #enqueuedAt = new Map<string, number>()

  #isLost(at: number): boolean {
    return this.#lost.some(({ from, to }) => at >= from - 1 && at <= to)
  }

  keptLedger(): LedgerLine[] {
    return this.ledger.map((line) =>
      this.#isLost(line.at) ? { ...line, outcome: 'lost', end: 'lost' } : line,
    )
  }

  keptIds(): string[] {
    return this.enqueuedIds.filter((id) => !this.#isLost(this.#enqueuedAt.get(id) ?? 0))
  }

  /** A failover undoes an effect together with the completion. */
  keptEffects(): { jobId: string; leaseId: string }[] {
    return this.transactions.effects.filter(({ at }) => !this.#isLost(at))
  }

  startWorker(place: number): void {
    if (this.#isClosing) return
    const generation = (this.#generations[place] ?? 0) + 1
    this.#generations[place] = generation
    const worker = new SimWorker({
      name: `w${place + 1}-${generation}`,
      time: this.time,
      database: this.database,
      settings: this.plan.settings,
      transactions: this.transactions,
      handlers: (started) => handlersOf(started, (kind, by, job) => this.#note(kind, by.name, job)),
      onEvents: (events, started) => this.#listen(events, started),
      onEnded: (ended, isKilled) => this.#noteEnd(ended, place, isKilled),
    })
    this.workers[place] = worker
    this.say(worker.name, 'starts')
    worker.start()
  }

  #noteEnd(worker: SimWorker, place: number, isKilled: boolean): void {
    this.say(worker.name, isKilled ? 'is killed' : 'has ended')
    this.transactions.forget(worker.name)
    this.disturb(worker.name, 'gone', Number.POSITIVE_INFINITY)
    const restartMs = 50 + this.random() * this.plan.settings.policy.defaultLeaseMs
    if (!this.#isClosing) this.time.after(restartMs, null, () => this.startWorker(place))
  }

  /** A process of its own that only sweeps. */
  startReaper(): void {
    if (this.#reaperLoop !== undefined) this.#reaperLoop.isDead = true
    const loop = new Loop('reaper', this.time.nowMs)
    this.#reaperLoop = loop
    const store = this.database.connect({ loop, owner: 'reaper', kind: 'main', timeoutMs: 30_000 })
    this.time.after(0, loop, () => {
      const reaper: Reaper = startReaper({
        tables: [{ name: 'jobs', store }],
        intervalMs: this.plan.settings.policy.sweepIntervalMs,
      })
      void reaper
    })
  }

  #startEnqueuer(jobs: PlannedJob[]): void {
    const loop = new Loop('enqueuer')
    const store = this.database.connect({ loop, owner: 'enqueuer', kind: 'main', timeoutMs: 30_000 })
    for (const [nth, job] of jobs.entries())
      this.time.after(job.atMs, loop, () => void this.#enqueue(store, nth, job))
  }

  async #enqueue(store: JobStore, nth: number, { type, workMs }: PlannedJob): Promise<void> {
    const job = {
      type,
      payload: { workMs, nth },
      ...(type === 'hang' || type === 'deaf' ? { stage: type } : {}),
      ...(type === 'poison' ? { maxAttempts: poisonAttempts } : {}),
    }
    const [enqueued] = await retryUntilAnswered(
      () => store.enqueueJobs([job]),
      () => false,
    )
    this.#acknowledged++
    if (enqueued === undefined) return
    this.enqueuedIds.push(enqueued.jobId)
    this.#enqueuedAt.set(enqueued.jobId, EPOCH_MS + this.time.nowMs)
  }

  #listen(events: RuntimeEventEmitter, worker: SimWorker): void {
    const { name } = worker
    events.on('job:started', ({ job }) => this.#note('started', name, job, { fence: job.fence }))
    events.on('job:ended', ({ job, end }) => this.#note('ended', name, job, { end }))
    events.on('job:at-risk', ({ job }) => this.#note('at-risk', name, job))
    events.on('job:aborted', ({ job, reason }) => this.say(name, `aborts ${shortId(job.jobId)}: ${reason}`))
    events.on('heartbeat:failed', () => this.say(name, 'heartbeats fail'))
    events.on('heartbeat:recovered', () => this.say(name, 'heartbeats are answered again'))
    events.on('worker:draining', ({ reason }) => this.say(name, `leaves: ${reason}`))
  }

  #note(kind: string, name: string, job: Lease & Partial<ClaimedJob>, more: Partial<LedgerLine> = {}): void {
    const worker = this.workers.find((each) => each.name === name)
    if (worker?.main.isDead !== false) return
    const at = EPOCH_MS + this.time.localMs
    this.ledger.push({ kind, at, worker: name, pid: 0, job: job.jobId, lease: job.leaseId, ...more })
    this.say(name, `${kind} ${job.type ?? ''} ${shortId(job.jobId)} ${more.end ?? ''}`.trimEnd())
  }

  #noteExecuted(route: Route, verb: string, args: unknown[], answer: unknown): void {
    if (verb === 'heartbeatJobs') this.transactions.noteHeartbeat(route.owner, args[0] as Lease[])
    if (verb === 'sweepJobs') this.#noteSweep(answer as { held?: number; holdReason?: string | null })
    if (verb === 'claimJobs')
      for (const { jobId, fence, leaseId } of answer as ClaimedJob[])
        this.leases.set(`${jobId} ${fence}`, leaseId)
    if (verb === 'completeJobs')
      this.transactions.noteCompleted(args[0] as Lease[], answer as { outcome: string }[])
    if (!QUIET.has(verb)) this.say('database', `${verb} by ${route.owner}${describeCall(verb, args, answer)}`)
  }

  #noteSweep({ held = 0, holdReason }: { held?: number; holdReason?: string | null }): void {
    if (held > 0) this.holds.push({ at: EPOCH_MS + this.time.nowMs, reason: holdReason ?? 'none' })
  }

  #noteAnswered(route: Route, verb: string, args: unknown[], answer: unknown): void {
    if (verb === 'heartbeatJobs')
      this.#endedLeases.noteAnswers(route.owner, (answer as HeartbeatReport).answers)
    if (verb === 'heartbeatJobs' || route.kind === 'heartbeat') return
    for (const [index, lease] of leasesOf(verb, args).entries()) {
      const outcome = (answer as { outcome: string }[])[index]?.outcome
      const at = EPOCH_MS + this.time.nowMs
      const { jobId: job, leaseId } = lease
      this.ledger.push({
        kind: 'answered',
        at,
        worker: route.owner,
        pid: 0,
        job,
        lease: leaseId,
        verb,
        outcome: outcome ?? '',
      })
    }
  }

  #noteFailed(route: Route, verb: string, reason: string): void {
    this.say(route.owner, `${verb}: ${reason}`)
    if (route.kind === 'heartbeat') this.disturb(route.owner, 'answer-lost', 0)
  }

  /** Whether some process can: nobody is late while none is. */
  #canSweep(): boolean {
    const { cutOff, lossy } = this.database.trouble
    if (this.plan.settings.reapers > 0) return true
    return this.workers.some(
      ({ isOver, main, name }) =>
        !isOver && main.blockedUntilMs <= this.time.nowMs && !cutOff.has(name) && !lossy.has(name),
    )
  }

  #sample(): void {
    const at = this.database.store.now()
    const rows = this.rows()
    const mismatched = rows.filter(
      ({ status, leaseId, leaseExpiresAt }) =>
        (status === 'running') !== (leaseId !== null) || (leaseId === null) !== (leaseExpiresAt === null),
    ).length
    const ends = rows.flatMap(({ status, leaseExpiresAt }) =>
      status === 'running' && leaseExpiresAt !== null ? [at - leaseExpiresAt.getTime()] : [],
    )
    if (!this.#canSweep()) this.disturb('*', 'reaper-keeps-locks', this.#sampleMs).from -= this.#sampleMs
    this.samples.push({ at, mismatched, overdueMs: Math.max(0, ...ends) })
    if (!this.#isClosing) this.time.after(this.#sampleMs, null, () => this.#sample())
  }
}
