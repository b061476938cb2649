// Workers that fall silent together are an outage, not deaths (C9): the first sweep that meets their expired leases takes none.
import type { SweepCall } from '../../database/sweeps.ts'

export interface MassListener {
  /** All workers were silent, whatever hit each of them: sweeps hold their jobs, as after any outage. */
  onSilence(fromMs: number, toMs: number): void
  onViolation(message: string): void
}

export class MassExpiries {
  readonly #listener: MassListener

  constructor(listener: MassListener) {
    this.#listener = listener
  }

  noteSweep({ request, nowMs, sweptAtMs, outageEndMs, running, gone, step }: SweepCall): void {
    const { reaper, cursor } = request
    // A reaper without a past cannot judge.
    if (cursor !== undefined || reaper?.lastSweptAt === undefined) return
    const judgedMs = Math.max(Math.min(Date.parse(reaper.lastSweptAt), sweptAtMs ?? nowMs), outageEndMs ?? 0)
    const silent = running.filter(({ deadlineAt, leaseExpiresAt }) => {
      const endMs = leaseExpiresAt?.getTime() ?? nowMs
      return endMs < nowMs && endMs >= judgedMs && !(deadlineAt !== null && deadlineAt.getTime() <= nowMs)
    })
    const workers = new Set(silent.map(({ workerId }) => workerId))
    if (workers.size < 2) return
    const beatMs = (job: (typeof running)[number]) => job.heartbeatAt?.getTime() ?? 0
    // Two heartbeats fall into every lease.
    const missedMs = Math.max(
      ...silent.map((job) => (beatMs(job) + (job.leaseExpiresAt?.getTime() ?? 0)) / 2),
    )
    if (running.some((job) => beatMs(job) >= missedMs)) return
    this.#listener.onSilence(judgedMs, nowMs)
    // One whose sweeps failed may have met an outage that began later, and take what expired before.
    if (reaper.failingForMs !== undefined) return
    const ids = new Set(silent.map(({ id }) => id))
    const taken = step.reaped.filter(({ jobId, workerId }) => ids.has(jobId) && !gone.has(workerId ?? ''))
    if (taken.length > 0)
      this.#listener.onViolation(
        `job ${taken[0]?.jobId}: reaped by the sweep that found ${workers.size} workers silent, and none that was heard`,
      )
  }
}
