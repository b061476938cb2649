// Whether enough heartbeats fit into each lease (LEASE-4): checked when a worker starts, on the stored policy with this
// process's overrides.
import type { Policy } from '../policy.ts'

export const MIN_BEATS = 2
export const ADVISED_BEATS = 3

export interface BeatVerdict {
  /** Why a worker may not start. Absent if it may. */
  refusal?: string
  warnings: string[]
}

/** Expected durations only lengthen a lease, so the minimums decide. */
export function judgeBeat(policy: Policy): BeatVerdict {
  const { heartbeatMs, defaultLeaseMs, stageLeasesMs } = policy
  const leases: [name: string, ms: number][] = [
    ['defaultLeaseMs', defaultLeaseMs],
    ...Object.entries(stageLeasesMs).map(([stage, ms]): [string, number] => [`stage ${stage}`, ms]),
  ]
  const refusals: string[] = []
  const warnings: string[] = []
  for (const [name, leaseMs] of leases) {
    const beats = leaseMs / heartbeatMs
    if (beats < MIN_BEATS) refusals.push(describe(name, leaseMs, heartbeatMs, MIN_BEATS))
    else if (beats < ADVISED_BEATS) {
      warnings.push(
        `${describe(name, leaseMs, heartbeatMs, ADVISED_BEATS)}; one lost heartbeat may lose a job`,
      )
    }
  }
  return { ...(refusals.length === 0 ? {} : { refusal: refusals.join('\n') }), warnings }
}

function describe(name: string, leaseMs: number, heartbeatMs: number, beats: number): string {
  const most = inSeconds(Math.floor(leaseMs / beats))
  const least = inSeconds(heartbeatMs * beats)
  return (
    `${name}: a lease of ${inSeconds(leaseMs)} has fewer than ${beats} heartbeats of ${inSeconds(heartbeatMs)}: ` +
    `set heartbeatMs (HEARTBEAT_SEC) to at most ${most}, or the lease to at least ${least}`
  )
}

function inSeconds(ms: number): string {
  return `${ms / 1000} s`
}
