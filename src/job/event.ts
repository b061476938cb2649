// Events record recovery; ordinary transitions are written only with the policy `events: 'all'`.
import type { JsonValue } from './job.ts'

export type EventType =
  | 'queued'
  | 'processing'
  | 'retry'
  | 'complete'
  | 'failed'
  | 'expired'
  | 'released'
  | 'cancelled'
  | 'cancel-requested'
  | 'discarded'
  | 'late_result'
  | 'reaper:requeued'
  | 'reaper:failed(timeout)'
  | 'reaper:cancelled'
  | 'foreign_settle'
  | 'foreign_claim'

export interface JobEvent {
  id: string
  jobId: string
  type: EventType
  at: Date
  data: EventData
}

export interface EventData {
  type: EventType
  table: string
  details: { [key: string]: JsonValue }
  at: string
}
