// Rescues: stored by the server, and from later events.
import type { JobEvent, Reclaim, RunningJob } from '../../../src/http/contract/index.ts'

export interface Rescue {
  key: string
  jobId: string
  at: string
  /** Null if the job was deleted, or only its event is known. */
  type: string | null
  stage: string | null
  worker: string | null
  outcome: 'requeued' | 'dead' | 'cancelled'
  silentMs: number | null
  backoffMs: number | null
  /** The next worker, if known. */
  back: Return | null
}

const OUTCOMES: Readonly<Record<string, Rescue['outcome']>> = {
  'reaper:requeued': 'requeued',
  'reaper:failed(timeout)': 'dead',
  'reaper:cancelled': 'cancelled',
}

const text = (value: unknown) => (typeof value === 'string' ? value : null)

/** Null if the event is not a rescue. */
export function rescueOf(event: JobEvent): Rescue | null {
  const outcome = OUTCOMES[event.type]
  if (outcome === undefined) return null
  const { details } = event
  const backoff = details['backoff_ms']
  return {
    key: `${event.table}/${event.id}`,
    jobId: event.job_id,
    at: event.at,
    type: null,
    stage: text(details['stage']),
    worker: text(details['locked_by']),
    outcome,
    silentMs: distanceMs(text(details['last_heartbeat_at']), event.at),
    backoffMs: typeof backoff === 'number' ? backoff : null,
    back: null,
  }
}

function rescueOfReclaim(reclaim: Reclaim): Rescue {
  const { id, table, job_id, reaped_at, stage, worker_id, action, claimed_by, claimed_again_at } = reclaim
  return {
    key: `${table}/${id}`,
    jobId: job_id,
    at: reaped_at,
    type: reclaim.type,
    stage,
    worker: worker_id,
    outcome: action,
    silentMs: distanceMs(reclaim.last_heartbeat_at, reaped_at),
    backoffMs: reclaim.next_run_at === null ? null : distanceMs(reaped_at, reclaim.next_run_at),
    back:
      claimed_by === null || claimed_again_at === null
        ? null
        : { worker: claimed_by, afterMs: distanceMs(reaped_at, claimed_again_at) },
  }
}

/** Each once, newest first. The server's record has more data than the event. */
export function mergeRescues(reclaims: Reclaim[], events: JobEvent[]): Rescue[] {
  const remembered = reclaims.map(rescueOfReclaim)
  const keys = new Set(remembered.map(({ key }) => key))
  const live = events
    .map(rescueOf)
    .filter((rescue) => rescue !== null)
    .filter(({ key }) => !keys.has(key))
  return [...live, ...remembered].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

export interface Return {
  worker: string
  /** From the rescue to the claim; null if only the running lease shows it. */
  afterMs: number | null
}

/** The worker of the job now, or null. Claims are visible only if the policy records all events. */
export function returnOf(
  { jobId, at, back }: Rescue,
  leases: RunningJob[],
  events: JobEvent[],
): Return | null {
  if (back !== null) return back
  const rescuedMs = Date.parse(at)
  const isLater = (time: string | null) => time !== null && Date.parse(time) > rescuedMs
  const lease = leases.find(({ id, heartbeat_at }) => id === jobId && isLater(heartbeat_at))
  if (lease?.worker_id == null) return null
  const claim = events.findLast(
    (event) => event.type === 'processing' && event.job_id === jobId && isLater(event.at),
  )
  return { worker: lease.worker_id, afterMs: claim === undefined ? null : distanceMs(at, claim.at) }
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
