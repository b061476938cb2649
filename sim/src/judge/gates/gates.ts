// Rate limits and breakers, which keep due jobs from starting, and schedules, with their judges. Most runs have none.
import type { History } from '../../../../chaos/src/judge/history.ts'
import type { ClaimedJob, Lease } from '../../../../src/job/lease.ts'
import type { DependencyCall } from '../../../../src/policy/dependency/breaker.ts'
import type { RateLimit, TokenGrant } from '../../../../src/policy/dependency/rate-limit.ts'
import type {
  Breaker,
  Failure,
  Schedule,
  ScheduleList,
  ScheduleRun,
} from '../../../../src/store/job-store.ts'
import type { Occurrence } from '../../../../src/store/ports/schedule-store.ts'
import { isCallType } from '../../plan/breakers.ts'
import { SERVICE } from '../../world/service.ts'
import type { SimWorker } from '../../world/sim-worker.ts'
import type { Simulation } from '../../world/simulation.ts'
import { EPOCH_MS } from '../../world/virtual-time.ts'
import { Circumstances } from '../circumstances.ts'
import { BreakerJudge } from './breakers.ts'
import { RateJudge } from './rates.ts'
import { ScheduleJudge } from './schedules.ts'

/** After everything is healed: leases that expire, processes that start again, handlers that block. */
const RECOVERY_LEASES = 12

type World = Pick<Simulation, 'plan' | 'evidence' | 'database' | 'time'>

export class Gates {
  readonly #world: World
  readonly #rates: RateJudge | undefined
  readonly #breaker: BreakerJudge | undefined
  readonly #schedules: ScheduleJudge | undefined
  /** Workers that may still enqueue a recurring job, at the end of the schedules. */
  #ending: { worker: SimWorker; isEnded: boolean }[] = []

  constructor(world: World) {
    const { plan, evidence, database } = world
    this.#world = world
    const failovers = () => evidence.failovers
    if (plan.rates !== undefined)
      this.#rates = new RateJudge({ rates: plan.rates, failovers, onViolation: evidence.reporter('rate') })
    if (plan.breaker !== undefined)
      this.#breaker = new BreakerJudge({
        planned: plan.breaker,
        facts: () => database.tables.breakers.get(SERVICE)?.facts,
        failovers,
        onViolation: evidence.reporter('breaker'),
      })
    if (plan.schedules !== undefined)
      this.#schedules = new ScheduleJudge({
        planned: plan.schedules,
        startedAt: EPOCH_MS,
        read: (name) => database.tables.schedules.get(name),
        rows: () => database.rows(),
        failovers,
        onViolation: evidence.reporter('schedule'),
      })
  }

  noteExecuted(worker: string, verb: string, args: unknown[], answer: unknown, at: number): void {
    if (verb === 'takeTokens')
      this.#rates?.noteTaken(args[0] as RateLimit[], (answer as TokenGrant).granted, at)
    this.#noteSchedule(worker, verb, args, answer, at)
    const breaker = this.#breaker
    if (breaker === undefined) return
    if (verb === 'claimJobs') breaker.noteClaims(worker, answer as ClaimedJob[], at)
    if (verb === 'recordCalls') breaker.noteCalls(args[1] as DependencyCall[], answer as Breaker, at)
    if (verb === 'recordProbe') breaker.noteProbe(args[1] as boolean, answer as Breaker, at)
    if (verb === 'writeBreaker') breaker.noteWritten(answer as Breaker, at)
    if (verb === 'failJobs')
      breaker.noteFailures(args[0] as (Failure & Lease)[], answer as { outcome: string }[])
  }

  #noteSchedule(worker: string, verb: string, args: unknown[], answer: unknown, at: number): void {
    const schedules = this.#schedules
    if (schedules === undefined) return
    if (verb === 'listSchedules') schedules.noteListed(worker, (answer as ScheduleList).now)
    if (verb === 'writeSchedule') schedules.noteWritten(answer as Schedule)
    if (verb === 'runSchedule')
      schedules.noteRun(worker, args[0] as string, args[1] as Occurrence, answer as ScheduleRun, at)
  }

  /** Every worker enqueues what it has begun. */
  endSchedules(workers: readonly SimWorker[]): void {
    this.#schedules?.noteEnd(EPOCH_MS + this.#world.time.nowMs)
    const scheduling = workers.filter(({ isOver }) => !isOver)
    this.#ending = scheduling.map((worker) => {
      const ending = { worker, isEnded: false }
      worker.endSchedules(() => {
        ending.isEnded = true
      })
      return ending
    })
  }

  get isScheduling(): boolean {
    return this.#ending.some(({ worker, isEnded }) => !isEnded && !worker.isOver)
  }

  noteAnswered(worker: string, verb: string, args: unknown[], answer: unknown, at: number): void {
    if (verb === 'takeTokens')
      this.#rates?.noteGranted(worker, args[0] as RateLimit[], (answer as TokenGrant).granted)
    if (verb === 'claimJobs') this.#rates?.noteClaimed(worker, answer as ClaimedJob[], at)
  }

  noteFailed(worker: string, verb: string, at: number): void {
    if (verb.endsWith('Schedule') || verb === 'listSchedules') this.#schedules?.noteFailed(worker, at)
    if (verb === 'recordCalls') this.#breaker?.noteFailedCall(worker)
  }

  noteStart(worker: string, job: ClaimedJob): void {
    this.#rates?.noteStart(worker, job)
  }

  /** At the end of the run. */
  check(run: Simulation, history: History): void {
    this.#rates?.check()
    this.#checkBreaker(history)
    if (this.#schedules === undefined) return
    const { evidence } = this.#world
    const circumstances = new Circumstances(run, history)
    const found = this.#schedules.check(
      history.events,
      evidence.startedAt.keys(),
      (worker, from, to) => circumstances.isFree(worker, from, to),
      (at) => evidence.isLost(at),
    )
    for (const message of found) evidence.violations.push({ invariant: 'schedule', message })
  }

  #checkBreaker({ events, jobs }: History): void {
    if (this.#breaker === undefined) return
    const { plan, evidence, time } = this.#world
    const types = new Map(jobs.map(({ id, type }) => [id, type]))
    const healed = { from: EPOCH_MS + plan.durationMs, to: EPOCH_MS + time.nowMs }
    const slackMs = RECOVERY_LEASES * plan.settings.policy.defaultLeaseMs
    for (const message of this.#breaker.check(events, types, healed, slackMs))
      evidence.violations.push({ invariant: 'breaker', message })
  }

  /** When the gates of a job that waited opened for good; null if one may have been closed until the end. */
  openSince(job: Pick<ClaimedJob, 'owner' | 'type'>, from: number, to: number): number | null {
    if (this.#rates?.hadToken(job, from, to) === false) return null
    return this.#breaker !== undefined && isCallType(job.type) ? this.#breaker.openSince(from, to) : from
  }

  /** Whether jobs of this type have any. */
  has(type: string): boolean {
    return this.#rates?.limits(type) === true || (this.#breaker !== undefined && isCallType(type))
  }
}
