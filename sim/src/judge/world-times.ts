// Events date what happened by the server's clock. If it stepped, the judge needs the times of the world: when each was recorded,
// when a heartbeat was, since when a lease was over, and when a job was due.
import type { EventRow } from '../../../chaos/src/judge/history.ts'
import type { ServerClock } from '../database/server-clock.ts'

export function inWorldTime(events: EventRow[], clock: ServerClock): EventRow[] {
  if (!clock.hasStepped) return events
  /** By job. */
  const claimedAt = new Map<string, number>()
  return events.map((event) => {
    const at = clock.recordedMs(Number(event.id), event.at)
    if (event.type === 'processing') claimedAt.set(event.jobId, at)
    return {
      ...event,
      at,
      details: translate(event, { at, clock, claimedAt: claimedAt.get(event.jobId) ?? at }),
    }
  })
}

interface Moment {
  at: number
  /** When the attempt began that ended with this event. */
  claimedAt: number
  clock: ServerClock
}

function translate({ at: dated, details }: EventRow, { at, claimedAt, clock }: Moment): EventRow['details'] {
  const world = { ...details }
  const beat = timeOf(details['last_heartbeat_at'])
  const end = timeOf(details['lease_expires_at'])
  const due = timeOf(details['next_run_at'])
  const delayMs = details['delay_ms']
  if (beat !== null) world['last_heartbeat_at'] = iso(clock.shownMs(beat, claimedAt, at))
  if (end !== null) world['lease_expires_at'] = iso(clock.sinceMs(end, at))
  if (due !== null) world['next_run_at'] = iso(clock.firstMs(due, at))
  if (typeof delayMs === 'number') world['delay_ms'] = clock.firstMs(dated + delayMs, at) - at
  return world
}

const timeOf = (value: unknown) => (typeof value === 'string' ? Date.parse(value) : null)
const iso = (ms: number) => new Date(ms).toISOString()
