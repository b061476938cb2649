// Rescues of a job, from its events. All times are database times.
import type { JobEvent } from '../../job/event.ts'
import { demoPolicy } from '../demo-settings.ts'

export interface Rescue {
  jobId: string
  /** The worker that lost it. */
  workerId: string
  fence: number
  isDead: boolean
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
      leaseEndMs: Date.parse(details['lease_expires_at'] as string),
      takenBackAtMs: at.getTime(),
    }))
}

/** From the last heartbeat, when the lease started, to the rescue. */
export function rescueMs({ leaseEndMs, takenBackAtMs }: Rescue, outages: readonly Outage[] = []): number {
  const outage = outages.find(({ fromMs, toMs }) => leaseEndMs >= fromMs && leaseEndMs <= toMs)
  const fromMs = Math.max(leaseEndMs, outage?.toMs ?? leaseEndMs)
  return demoPolicy.defaultLeaseMs + Math.max(0, takenBackAtMs - fromMs)
}
