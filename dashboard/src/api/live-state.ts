// State of the stream. Pure: a message in, the next state out.
import type {
  Breaker,
  BreakersMessage,
  CountsMessage,
  EventMessage,
  JobEvent,
  LeasesMessage,
  Queue,
  RunningJob,
  StaleMessage,
  TableHealth,
} from '../../../src/http/contract/index.ts'

const KEPT_EVENTS = 200
export const KEPT_BEATS_MS = 300_000

/** A running job, and the monotonic time at which its lease was read. */
export interface LiveLease extends RunningJob {
  readAtMs: number
}

export interface LiveState {
  leases: LiveLease[] | null
  hasMoreLeases: boolean
  tables: TableHealth[] | null
  queues: Queue[] | null
  breakers: Breaker[] | null
  /** Newest first. */
  events: JobEvent[]
  /** Heartbeats seen since the page was opened, by worker; database times in milliseconds, oldest first. */
  beats: ReadonlyMap<string, number[]>
  stale: StaleMessage | null
  connection: 'connecting' | 'live' | 'polling' | 'lost'
  /** Monotonic time of the last message. */
  heardAtMs: number | null
}

export const emptyLiveState: LiveState = {
  leases: null,
  hasMoreLeases: false,
  tables: null,
  queues: null,
  breakers: null,
  events: [],
  beats: new Map(),
  stale: null,
  connection: 'connecting',
  heardAtMs: null,
}

export type LiveMessage =
  | { topic: 'leases'; data: LeasesMessage }
  | { topic: 'events'; data: EventMessage }
  | { topic: 'counts'; data: CountsMessage }
  | { topic: 'breakers'; data: BreakersMessage }
  | { topic: 'stale'; data: StaleMessage }

export function applyMessage(state: LiveState, message: LiveMessage, nowMs: number): LiveState {
  if (message.topic === 'stale') return { ...state, stale: message.data }
  const heard = { ...state, stale: null, heardAtMs: nowMs }
  switch (message.topic) {
    case 'leases':
      return {
        ...heard,
        leases: message.data.leases.map((lease) => ({ ...lease, readAtMs: nowMs })),
        hasMoreLeases: !message.data.is_complete,
        beats: addBeats(state.beats, message.data),
      }
    case 'counts':
      return { ...heard, tables: message.data.tables, queues: message.data.queues }
    case 'breakers':
      return { ...heard, breakers: message.data.breakers }
    case 'events':
      return { ...heard, events: addEvent(state.events, message.data.event) }
  }
}

function addEvent(events: JobEvent[], event: JobEvent): JobEvent[] {
  if (events.some(({ id, table }) => id === event.id && table === event.table)) return events
  return [event, ...events].slice(0, KEPT_EVENTS)
}

function addBeats(beats: LiveState['beats'], { leases, db_now }: LeasesMessage): LiveState['beats'] {
  const since = Date.parse(db_now) - KEPT_BEATS_MS
  const next = new Map<string, number[]>()
  for (const [worker, times] of beats) {
    const kept = times.filter((time) => time >= since)
    if (kept.length > 0) next.set(worker, kept)
  }
  for (const { worker_id, heartbeat_at, started_at } of leases) {
    const time = Date.parse(heartbeat_at ?? started_at ?? '')
    if (worker_id === null || Number.isNaN(time)) continue
    const times = next.get(worker_id) ?? []
    if (!times.includes(time))
      next.set(
        worker_id,
        [...times, time].toSorted((a, b) => a - b),
      )
  }
  return next
}

/** The state of one table. Tables share breakers, heartbeats and the connection. */
export function liveOfTable(state: LiveState, table: string): LiveState {
  const isOfTable = (one: { table: string }) => one.table === table
  return {
    ...state,
    leases: state.leases?.filter(isOfTable) ?? null,
    tables: state.tables?.filter(isOfTable) ?? null,
    queues: state.queues?.filter(isOfTable) ?? null,
    events: state.events.filter(isOfTable),
  }
}

/** Time until the lease expires, by the monotonic clock; negative after. */
export function leaseLeftMs(lease: LiveLease, nowMs: number): number | null {
  return lease.lease_remaining_ms === null ? null : lease.lease_remaining_ms - (nowMs - lease.readAtMs)
}

/** Length of a lease, from two database times. */
export function leaseLengthMs(lease: RunningJob): number | null {
  const from = lease.heartbeat_at ?? lease.started_at
  if (from === null || lease.lease_expires_at === null) return null
  const length = Date.parse(lease.lease_expires_at) - Date.parse(from)
  return length > 0 ? length : null
}
