// Rescues, read from the events that the reaper writes.
import type { JobEvent, RunningJob } from '../../src/http/contract.ts'

export interface Rescue {
  key: string
  jobId: string
  at: string
  stage: string | null
  worker: string | null
  outcome: 'requeued' | 'dead' | 'cancelled'
  silentMs: number | null
  backoffMs: number | null
}

const OUTCOMES: Readonly<Record<string, Rescue['outcome']>> = {
  'reaper:requeued': 'requeued',
  'reaper:failed(timeout)': 'dead',
  'reaper:cancelled': 'cancelled',
}

const text = (value: unknown) => (typeof value === 'string' ? value : null)

/** Null where the event is no rescue. */
export function rescueOf(event: JobEvent): Rescue | null {
  const outcome = OUTCOMES[event.type]
  if (outcome === undefined) return null
  const { details } = event
  const backoff = details['backoff_ms']
  return {
    key: `${event.table}/${event.id}`,
    jobId: event.job_id,
    at: event.at,
    stage: text(details['stage']),
    worker: text(details['locked_by']),
    outcome,
    silentMs: distanceMs(text(details['last_heartbeat_at']), event.at),
    backoffMs: typeof backoff === 'number' ? backoff : null,
  }
}

export interface Return {
  worker: string
  /** From the rescue to the claim; null where only the running lease tells of it. */
  afterMs: number | null
}

/** Who has the job now; null while nobody does. Claims are told only where the policy writes all events. */
export function returnOf({ jobId, at }: Rescue, leases: RunningJob[], events: JobEvent[]): Return | null {
  const rescuedMs = Date.parse(at)
  const isLater = (time: string | null) => time !== null && Date.parse(time) > rescuedMs
  const lease = leases.find(({ id, heartbeat_at }) => id === jobId && isLater(heartbeat_at))
  if (lease?.worker_id == null) return null
  const claim = events.findLast(
    (event) => event.type === 'processing' && event.job_id === jobId && isLater(event.at),
  )
  return { worker: lease.worker_id, afterMs: claim === undefined ? null : distanceMs(at, claim.at) }
}

/** From the end of the lease to the rescue; null where the event does not say. */
export function latenessMs(event: JobEvent): number | null {
  return rescueOf(event) === null ? null : distanceMs(text(event.details['lease_expires_at']), event.at)
}

function distanceMs(from: string | null, to: string): number | null {
  if (from === null) return null
  const distance = Date.parse(to) - Date.parse(from)
  return Number.isNaN(distance) ? null : Math.max(0, distance)
}

export function percentile(values: number[], share: number): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null
}
