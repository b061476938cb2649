// Looks at all rows every few moments, as chaos does: whether status and lease agree, and how late the latest lease is.
import type { Simulation } from './simulation.ts'

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
    const { database, evidence } = this.#simulation
    const at = database.store.now()
    let mismatched = 0
    let overdueMs = 0
    for (const { status, leaseId, leaseExpiresAt } of database.rows()) {
      const isRunning = status === 'running'
      if (isRunning !== (leaseId !== null) || isRunning !== (leaseExpiresAt !== null)) mismatched++
      if (isRunning && leaseExpiresAt !== null) overdueMs = Math.max(overdueMs, at - leaseExpiresAt.getTime())
    }
    if (!this.#canSweep())
      evidence.disturb('*', 'reaper-keeps-locks', this.intervalMs).from -= this.intervalMs
    evidence.samples.push({ at, mismatched, overdueMs })
  }

  /** Whether some process can: nobody is late while none is. */
  #canSweep(): boolean {
    const { database, plan, time, workers } = this.#simulation
    const { reapers, policy } = plan.settings
    const isLate = (name: string) => database.isSweepLate(name, policy.sweepIntervalMs / 2)
    if (reapers > 0 && !isLate('reaper')) return true
    return workers.some(
      ({ isOver, main, name }) =>
        !isOver &&
        main.blockedUntilMs <= time.nowMs &&
        !database.network.isCutOff(name) &&
        !database.network.lossy.has(name) &&
        !isLate(name),
    )
  }
}
