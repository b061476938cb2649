import type { JobEvent } from '../../job/event.ts'

/** Without the ids of its leases, which are credentials, as in the HTTP API. */
export function withoutLease<Fields extends object>(
  job: Fields,
): Omit<Fields, 'leaseId' | 'finishedLeaseId'> {
  const {
    leaseId: _held,
    finishedLeaseId: _finished,
    ...shown
  } = job as Fields & {
    leaseId?: unknown
    finishedLeaseId?: unknown
  }
  return shown
}

export function eventWithoutLease(event: JobEvent): JobEvent {
  const { lease_id: _credential, ...details } = event.data.details
  return { ...event, data: { ...event.data, details } }
}
