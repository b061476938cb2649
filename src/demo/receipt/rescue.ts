// Rescues of a job, from its events. All times are database times.
import type { JobEvent } from '../../job/event.ts'
import { demoPolicy } from '../demo-settings.ts'

export interface Rescue {
  jobId: string
  /** The worker that lost it. */
  workerId: string
  fence: number
  isDead: boolean
  /** Its process had ended: the lease had not. */
  isGone: boolean
  /** Last heartbeat. */
  seenAtMs: number
  leaseEndMs: number
  takenBackAtMs: number
}

/** The act killed every sweeper: no promise covers that time. */
export interface Outage {
  fromMs: number
  toMs: number
}

export function rescuesOf(events: readonly JobEvent[]): Rescue[] {
  return events
    .filter(({ type }) => type === 'reaper:requeued' || type === 'reaper:failed(timeout)')
    .map(({ jobId, type, at, data: { details } }) => ({
      jobId,
      workerId: details['locked_by'] as string,
      fence: Number(details['fence']),
      isDead: type !== 'reaper:requeued',
      isGone: details['cause'] === 'worker-gone',
      seenAtMs: Date.parse(details['last_heartbeat_at'] as string),
      leaseEndMs: Date.parse(details['lease_expires_at'] as string),
      takenBackAtMs: at.getTime(),
    }))
}

/** From the last heartbeat, when the lease started, to the rescue. */
export function rescueMs(rescue: Rescue, outages: readonly Outage[] = []): number {
  const { isGone, seenAtMs, leaseEndMs, takenBackAtMs } = rescue
  if (isGone) {
    const outage = outages.find(
      ({ fromMs, toMs }) => takenBackAtMs >= toMs && seenAtMs >= fromMs && seenAtMs <= toMs,
    )
    return takenBackAtMs - Math.max(seenAtMs, outage?.toMs ?? seenAtMs)
  }
  const outage = outages.find(({ fromMs, toMs }) => leaseEndMs >= fromMs && leaseEndMs <= toMs)
  const fromMs = Math.max(leaseEndMs, outage?.toMs ?? leaseEndMs)
  return demoPolicy.defaultLeaseMs + Math.max(0, takenBackAtMs - fromMs)
}
