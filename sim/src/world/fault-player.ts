// Plays the faults of a plan, and logs each as a disturbance, so that the judge can distinguish a false reap from a deserved one.
import { type Coverage, cellOf, isOfWorker } from '../coverage.ts'
import type { Fault, FaultKind } from '../plan/plan.ts'
import { serverStepMs } from '../plan/server-clock.ts'
import type { Arrival } from './places.ts'
import type { SimWorker } from './sim-worker.ts'
import type { Simulation } from './simulation.ts'
import { EPOCH_MS } from './virtual-time.ts'

/** How far a replica may be behind, in leases. */
const BEHIND_LEASES = 2
/** An hour in either direction. */
const STEP_MS = 3_600_000
/** A fault that waits for a place hits so long after a job has arrived there, at most: about two round trips. */
const NEAR_MS = 4

interface Replica {
  restore: () => void
  atMs: number
  /** How many failovers came before. */
  failovers: number
}

/** Whom a fault hits, if it hits one. */
interface Target {
  worker: SimWorker | undefined
  jobId: string | undefined
}

export class FaultPlayer {
  readonly #simulation: Simulation
  /** How often each fault met a job at each place. */
  readonly coverage: Coverage = {}
  /** Ends of faults that last. */
  readonly #ends = new Set<() => void>()
  readonly #replicas = new Map<Fault, Replica>()
  /** As the last failover left it. */
  #replica: Replica = { restore: () => {}, atMs: 0, failovers: 0 }

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  schedule(fault: Fault): void {
    const { time, places } = this.#simulation
    const { atMs, kind, place, size } = fault
    if (kind === 'failover')
      time.after(atMs - this.#behindMs(fault), null, () => this.#replicas.set(fault, this.#keepReplica()))
    time.after(atMs, null, () => {
      if (place === null) return this.#strike(fault)
      places.await(place, (arrival) =>
        time.after(NEAR_MS * size, null, () => {
          if (!this.#simulation.isHealed) this.#strike(fault, arrival)
        }),
      )
    })
  }

  healAll(): void {
    for (const end of this.#ends) end()
  }

  #strike(fault: Fault, arrival?: Arrival): void {
    const target = this.#targetOf(fault, arrival)
    if (isOfWorker(fault.kind) && target.worker === undefined) return
    this.#cover(fault.kind, target)
    this.#play[fault.kind](fault, target)
  }

  #targetOf({ target }: Fault, arrival?: Arrival): Target {
    const { workers, evidence } = this.#simulation
    const worker =
      arrival === undefined
        ? workers[target % workers.length]
        : workers.find(({ name }) => name === arrival.worker)
    const { enqueuedIds } = evidence
    const jobId = arrival?.jobId ?? enqueuedIds[target % Math.max(1, enqueuedIds.length)]
    return { worker: worker?.isOver === false ? worker : undefined, jobId }
  }

  #cover(kind: FaultKind, { worker, jobId }: Target): void {
    const isOperator = kind === 'cancel' || kind === 'retry'
    for (const job of this.#simulation.rows()) {
      if (isOfWorker(kind) && (job.status !== 'running' || job.workerId !== worker?.name)) continue
      if (isOperator && job.id !== jobId) continue
      const cell = cellOf(kind, this.#simulation.placeOf(job))
      this.coverage[cell] = (this.coverage[cell] ?? 0) + 1
    }
  }

  #behindMs({ atMs, size }: Fault): number {
    return Math.min(atMs, size * BEHIND_LEASES * this.#simulation.plan.settings.policy.defaultLeaseMs)
  }

  /** Begins something that ends after a time, or when everything is healed. */
  #last(durationMs: number, end: () => void): void {
    const endOnce = () => {
      if (this.#ends.delete(endOnce)) end()
    }
    this.#ends.add(endOnce)
    this.#simulation.time.after(durationMs, null, endOnce)
  }

  #begin(who: string, kind: string, durationMs: number, end: () => void): void {
    const { evidence, time } = this.#simulation
    const disturbance = evidence.disturb(who, kind, Number.POSITIVE_INFINITY)
    this.#simulation.say(who, `${kind} begins`)
    this.#last(durationMs, () => {
      disturbance.to = EPOCH_MS + time.nowMs
      this.#simulation.say(who, `${kind} ends`)
      end()
    })
  }

  /** Nobody can end it early. */
  #stall(who: string, kind: string, durationMs: number): void {
    this.#simulation.evidence.disturb(who, kind, durationMs)
    this.#simulation.say(who, `${kind} for ${Math.round(durationMs)} ms`)
  }

  readonly #play: Record<FaultKind, (fault: Fault, target: Target) => void> = {
    kill: (_, { worker }) => worker?.kill(),
    deploy: (_, { worker }) => worker?.stop(),
    drain: (_, { worker }) => {
      if (worker !== undefined) void this.#drain(worker.name)
    },
    pause: ({ durationMs }, { worker }) => {
      if (worker === undefined) return
      worker.pause(durationMs)
      this.#stall(worker.name, 'pause', durationMs)
    },
    block: ({ durationMs }, { worker }) => {
      if (worker === undefined) return
      worker.block(durationMs)
      this.#stall(worker.name, 'block', durationMs)
    },
    'cut-off': ({ durationMs }, { worker }) => {
      if (worker !== undefined) this.#cutOff(worker, durationMs)
    },
    'workers-cut-off': ({ durationMs }) => {
      this.#begin('*', 'workers-cut-off', durationMs, () => {})
      for (const worker of this.#simulation.workers) if (!worker.isOver) this.#cutOff(worker, durationMs)
    },
    lossy: ({ durationMs, size }, { worker }) => {
      if (worker === undefined) return
      const { lossy } = this.#simulation.database.network
      lossy.set(worker.name, size)
      this.#simulation.say(worker.name, `loses ${Math.round(100 * size)} % of its answers`)
      this.#begin(worker.name, 'lossy', durationMs, () => lossy.delete(worker.name))
    },
    'session-end': (_, { worker }) => {
      if (worker === undefined) return
      this.#simulation.database.endSessions(worker.name)
      this.#simulation.say(worker.name, 'loses its session')
      this.#simulation.evidence.noteSessionEnd(worker.name)
    },
    'database-stop': ({ durationMs }) => {
      const { database } = this.#simulation
      database.stop()
      this.#begin('*', 'database-stopped', durationMs, () => database.start())
    },
    failover: (fault) => this.#failOver(fault),
    lock: ({ durationMs }) => {
      const { database } = this.#simulation
      database.lock()
      this.#begin('*', 'table-locked', durationMs, () => database.unlock())
    },
    'slots-full': ({ durationMs }) => {
      const { database } = this.#simulation
      database.areSlotsFull = true
      this.#begin('*', 'slots-full', durationMs, () => {
        database.areSlotsFull = false
      })
    },
    slow: ({ durationMs, size }) => {
      const { network } = this.#simulation.database
      network.slowDown(1 + 300 * size)
      this.#begin('*', 'delay', durationMs, () => network.speedUp())
    },
    'clock-step': ({ size }, { worker }) => {
      if (worker === undefined) return
      const stepMs = (2 * size - 1) * STEP_MS
      for (const loop of [worker.main, worker.heart]) loop.skewMs += stepMs
      this.#begin(worker.name, 'clock-stepped', 0, () => {})
    },
    'server-clock-step': (fault) => {
      const { database, evidence, plan } = this.#simulation
      const stepMs = serverStepMs(fault, plan.settings.policy.defaultLeaseMs)
      this.#simulation.say('database', `its clock steps by ${stepMs} ms`)
      database.stepClock(stepMs)
      evidence.noteServerStep(stepMs)
    },
    cancel: (_, { jobId }) => this.#operate(jobId, 'cancelJobs'),
    retry: (_, { jobId }) => this.#operate(jobId, 'retryJobs'),
    'hints-lost': ({ durationMs, size }) => {
      const { notifications } = this.#simulation.database
      const { defaultLeaseMs } = this.#simulation.plan.settings.policy
      notifications.trouble = { share: size, mostMs: defaultLeaseMs }
      this.#begin('*', 'hints-lost', durationMs, () => {
        notifications.trouble = null
      })
    },
    'dependency-down': ({ durationMs, size }) => {
      const { service } = this.#simulation
      service?.fail(size)
      this.#begin('service', 'dependency-down', durationMs, () => service?.recover())
    },
    'reaper-kill': ({ target }) =>
      this.#hitReaper(target, (name) => {
        this.#simulation.say(name, 'is killed')
        this.#simulation.reapers.kill(name)
      }),
    'reaper-pause': ({ target, durationMs }) =>
      this.#hitReaper(target, (name) => {
        this.#simulation.reapers.pause(name, durationMs)
        this.#stall(name, 'pause', durationMs)
      }),
    'reaper-cut-off': ({ target, durationMs }) =>
      this.#hitReaper(target, (name) => this.#cutOff({ name }, durationMs)),
  }

  #hitReaper(target: number, hit: (name: string) => void): void {
    const name = this.#simulation.reapers.nameOf(target)
    if (name !== undefined) hit(name)
  }

  #cutOff({ name }: Pick<SimWorker, 'name'>, durationMs: number): void {
    const { network } = this.#simulation.database
    network.cutOff(name)
    this.#begin(name, 'blackhole', durationMs, () => network.reconnect(name))
  }

  async #drain(worker: string): Promise<void> {
    const { database, departures, time } = this.#simulation
    const answer = await database.store.drainWorker(worker)
    if (answer === 'asked') departures.noteAsked(worker, EPOCH_MS + time.nowMs)
  }

  #operate(jobId: string | undefined, verb: 'cancelJobs' | 'retryJobs'): void {
    const { database, evidence } = this.#simulation
    if (jobId === undefined || !database.isUp) return
    this.#simulation.say('operator', `${verb} ${jobId.slice(-6)}`)
    if (verb === 'retryJobs') evidence.retriedIds.add(jobId)
    void database.operate(verb, jobId)
  }

  #keepReplica(): Replica {
    const { database, time } = this.#simulation
    return { restore: database.store.keep(), atMs: time.nowMs, failovers: this.#replica.failovers }
  }

  /** A replica without the last commits takes over. What was acknowledged since is excused. */
  #failOver(fault: Fault): void {
    const { database, evidence, transactions } = this.#simulation
    const replica = this.#replicas.get(fault)
    // One from before the last failover does not have the commits that survived it.
    const isCurrent = replica?.failovers === this.#replica.failovers
    const { restore, atMs } = isCurrent ? replica : this.#replica
    database.stop()
    restore()
    evidence.noteLost(atMs)
    // The extension of the lease may be lost with it, and nobody extends it again before the transaction ends: the fence protects.
    for (const owner of transactions.owners()) evidence.disturb(owner, 'extension-lost', 0)
    this.#replica = { ...this.#keepReplica(), failovers: this.#replica.failovers + 1 }
    this.#begin('*', 'database-stopped', fault.durationMs, () => database.start())
  }
}
