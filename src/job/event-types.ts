import type { EventType } from './event.ts'

// A record, so that a missing type does not compile.
const known: Record<EventType, true> = {
  queued: true,
  processing: true,
  retry: true,
  complete: true,
  failed: true,
  expired: true,
  released: true,
  cancelled: true,
  'cancel-requested': true,
  discarded: true,
  late_result: true,
  'reaper:requeued': true,
  'reaper:failed(timeout)': true,
  'reaper:cancelled': true,
  foreign_settle: true,
  foreign_claim: true,
}

export const eventTypes = Object.keys(known) as EventType[]
