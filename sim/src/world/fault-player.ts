// Plays the faults of a plan, and logs each as a disturbance, so that the judge can distinguish a false reap from a deserved one.
import type { Fault, FaultKind } from '../plan/plan.ts'
import type { Simulation } from './simulation.ts'
import { EPOCH_MS } from './virtual-time.ts'

/** How far a replica may be behind, in leases. */
const BEHIND_LEASES = 2
/** An hour in either direction. */
const STEP_MS = 3_600_000

interface Replica {
  restore: () => void
  atMs: number
  /** How many failovers came before. */
  failovers: number
}

export class FaultPlayer {
  readonly #simulation: Simulation
  /** Ends of faults that last. */
  readonly #ends = new Set<() => void>()
  /** As the last failover left it. */
  #replica: Replica = { restore: () => {}, atMs: 0, failovers: 0 }

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  schedule(fault: Fault): void {
    const { time, database } = this.#simulation
    const { kind } = fault
    if (kind === 'failover') {
      const behindMs = this.#behindMs(fault)
      let replica = this.#replica
      time.after(fault.atMs - behindMs, null, () => {
        replica = { restore: database.store.keep(), atMs: time.nowMs, failovers: this.#replica.failovers }
      })
      time.after(fault.atMs, null, () => this.#failOver(fault, replica))
    } else time.after(fault.atMs, null, () => this.#play[kind](fault))
  }

  healAll(): void {
    for (const end of this.#ends) end()
  }

  #behindMs({ atMs, size }: Fault): number {
    return Math.min(atMs, size * BEHIND_LEASES * this.#simulation.plan.settings.policy.defaultLeaseMs)
  }

  #worker({ target }: Fault) {
    const { workers } = this.#simulation
    const worker = workers[target % workers.length]
    return worker === undefined || worker.isOver ? undefined : worker
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
    const { say, disturb } = this.#bound
    const disturbance = disturb(who, kind, Number.POSITIVE_INFINITY)
    say(who, `${kind} begins`)
    this.#last(durationMs, () => {
      disturbance.to = EPOCH_MS + this.#simulation.time.nowMs
      say(who, `${kind} ends`)
      end()
    })
  }

  /** Nobody can end it early. */
  #stall(who: string, kind: string, durationMs: number): void {
    this.#simulation.disturb(who, kind, durationMs)
    this.#simulation.say(who, `${kind} for ${Math.round(durationMs)} ms`)
  }

  get #bound() {
    const simulation = this.#simulation
    return {
      say: simulation.say.bind(simulation),
      disturb: simulation.disturb.bind(simulation),
    }
  }

  readonly #play: Record<Exclude<FaultKind, 'failover'>, (fault: Fault) => void> = {
    kill: (fault) => this.#worker(fault)?.kill(),
    deploy: (fault) => this.#worker(fault)?.stop(),
    drain: (fault) => {
      const worker = this.#worker(fault)
      if (worker !== undefined) void this.#simulation.database.store.drainWorker(worker.name)
    },
    pause: (fault) => {
      const worker = this.#worker(fault)
      if (worker === undefined) return
      worker.pause(fault.durationMs)
      this.#stall(worker.name, 'pause', fault.durationMs)
    },
    block: (fault) => {
      const worker = this.#worker(fault)
      if (worker === undefined) return
      worker.block(fault.durationMs)
      this.#stall(worker.name, 'block', fault.durationMs)
    },
    'cut-off': (fault) => {
      const worker = this.#worker(fault)
      if (worker === undefined) return
      const { cutOff } = this.#simulation.database.trouble
      cutOff.add(worker.name)
      this.#begin(worker.name, 'blackhole', fault.durationMs, () => cutOff.delete(worker.name))
    },
    lossy: (fault) => {
      const worker = this.#worker(fault)
      if (worker === undefined) return
      const { lossy } = this.#simulation.database.trouble
      lossy.set(worker.name, fault.size)
      this.#simulation.say(worker.name, `loses ${Math.round(100 * fault.size)} % of its answers`)
      this.#last(fault.durationMs, () => lossy.delete(worker.name))
    },
    'database-stop': ({ durationMs }) => {
      const { database } = this.#simulation
      database.stop()
      this.#begin('*', 'database-stopped', durationMs, () => database.start())
    },
    lock: ({ durationMs }) => {
      const { trouble } = this.#simulation.database
      trouble.isLocked = true
      this.#begin('*', 'table-locked', durationMs, () => {
        trouble.isLocked = false
      })
    },
    'slots-full': ({ durationMs }) => {
      const { trouble } = this.#simulation.database
      trouble.areSlotsFull = true
      this.#begin('*', 'slots-full', durationMs, () => {
        trouble.areSlotsFull = false
      })
    },
    slow: ({ durationMs, size }) => {
      const { trouble } = this.#simulation.database
      trouble.slowness = 1 + 300 * size
      this.#begin('*', 'delay', durationMs, () => {
        trouble.slowness = 1
      })
    },
    'clock-step': (fault) => {
      const worker = this.#worker(fault)
      if (worker === undefined) return
      const stepMs = (2 * fault.size - 1) * STEP_MS
      for (const loop of [worker.main, worker.heart]) loop.skewMs += stepMs
      this.#begin(worker.name, 'clock-stepped', 0, () => {})
    },
    cancel: ({ target }) => this.#operate(target, 'cancelJobs'),
    retry: ({ target }) => this.#operate(target, 'retryJobs'),
    'reaper-kill': () => {
      this.#simulation.say('reaper', 'is killed')
      if (this.#simulation.plan.settings.reapers > 0) this.#simulation.startReaper()
    },
  }

  #operate(target: number, verb: 'cancelJobs' | 'retryJobs'): void {
    const { database, enqueuedIds } = this.#simulation
    const jobId = enqueuedIds[target % Math.max(1, enqueuedIds.length)]
    if (jobId === undefined || database.trouble.downs > 0) return
    this.#simulation.say('operator', `${verb} ${jobId.slice(-6)}`)
    if (verb === 'retryJobs') this.#simulation.retriedIds.add(jobId)
    void database.store[verb]([jobId], { actor: 'operator' })
  }

  /** A replica without the last commits takes over. What was acknowledged since is excused. */
  #failOver({ durationMs }: Fault, replica: Replica): void {
    const { database, time } = this.#simulation
    // One from before the last failover does not have the commits that survived it.
    const { restore, atMs } = replica.failovers === this.#replica.failovers ? replica : this.#replica
    database.stop()
    restore()
    this.#simulation.noteLost(atMs)
    this.#replica = {
      restore: database.store.keep(),
      atMs: time.nowMs,
      failovers: this.#replica.failovers + 1,
    }
    this.#begin('*', 'database-stopped', durationMs, () => database.start())
  }
}
