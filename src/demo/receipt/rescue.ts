// What the events of a job tell of its rescues. All times are the database's.
import type { JobEvent } from '../../job/event.ts'
import { demoPolicy } from '../demo-settings.ts'

export interface Rescue {
  jobId: string
  /** The worker that had it. */
  workerId: string
  fence: number
  isDead: boolean
  leaseEndMs: number
  takenBackAtMs: number
}

/** While it lasted nobody was there to sweep: that was the show, and no promise covers it. */
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

/** From the last sign of life, which the lease was counted from, to the moment the job was taken back. */
export function rescueMs({ leaseEndMs, takenBackAtMs }: Rescue, outages: readonly Outage[] = []): number {
  const outage = outages.find(({ fromMs, toMs }) => leaseEndMs >= fromMs && leaseEndMs <= toMs)
  const fromMs = Math.max(leaseEndMs, outage?.toMs ?? leaseEndMs)
  return demoPolicy.defaultLeaseMs + Math.max(0, takenBackAtMs - fromMs)
}
