// Looks at all rows every few moments, as chaos does: whether status and lease agree, and how late the latest lease is.
import type { Simulation } from './simulation.ts'
import { EPOCH_MS } from './virtual-time.ts'

export class Sampler {
  readonly intervalMs: number
  readonly #simulation: Simulation
  #isStopped = false

  constructor(simulation: Simulation) {
    const { defaultLeaseMs, sweepIntervalMs } = simulation.plan.settings.policy
    this.intervalMs = Math.min(defaultLeaseMs / 4, sweepIntervalMs / 2)
    this.#simulation = simulation
  }

  start(): void {
    this.#sample()
    if (!this.#isStopped) this.#simulation.time.after(this.intervalMs, null, () => this.start())
  }

  stop(): void {
    this.#isStopped = true
  }

  #sample(): void {
    const { database, evidence, time } = this.#simulation
    const at = EPOCH_MS + time.nowMs
    let mismatched = 0
    let overdueMs = 0
    for (const { status, leaseId, leaseExpiresAt } of database.rows()) {
      const isRunning = status === 'running'
      if (isRunning !== (leaseId !== null) || isRunning !== (leaseExpiresAt !== null)) mismatched++
      if (isRunning && leaseExpiresAt !== null)
        overdueMs = Math.max(overdueMs, at - database.clock.sinceMs(leaseExpiresAt.getTime(), at))
    }
    if (!this.#canSweep())
      evidence.disturb('*', 'reaper-keeps-locks', this.intervalMs).from -= this.intervalMs
    evidence.samples.push({ at, mismatched, overdueMs })
  }

  /** Whether some process can: nobody is late while none is. */
  #canSweep(): boolean {
    const { database, plan, reapers, time, workers } = this.#simulation
    const lateMs = plan.settings.policy.sweepIntervalMs / 2
    if (reapers.canSweep(lateMs)) return true
    return workers.some(
      ({ isOver, main, name }) =>
        !isOver && main.blockedUntilMs <= time.nowMs && database.reaches(name, lateMs),
    )
  }
}
