// Deliveries to webhooks, written together with their event.
import type { JsonValue } from '../../job/job.ts'
import type { DeliveryStatus, WebhookEvent } from '../ports/webhook-store.ts'

export interface MemoryWebhook {
  webhookId: string
  url: string
  secret: string
  events: string[]
  isActive: boolean
  inactiveReason: string | null
  createdAt: Date
  createdBy: string | null
}

export interface MemoryDelivery {
  deliveryId: string
  webhookId: string
  event: WebhookEvent
  status: DeliveryStatus
  tries: number
  nextTryAtMs: number
  lastStatus: number | null
  lastError: string | null
  createdAtMs: number
  deliveredAtMs: number | null
}

interface Outbox {
  readonly createUuid: () => string
  readonly table: string
  readonly webhooks: Map<string, MemoryWebhook>
  readonly deliveries: Map<string, MemoryDelivery>
}

interface SentEvent {
  jobId: string
  type: string
  details: { [key: string]: JsonValue }
}

/** Event details that are never sent. */
const KEPT_HERE = ['payload', 'result', 'stack']

export function recordDeliveries(outbox: Outbox, nowMs: number, sent: SentEvent): void {
  if (outbox.webhooks.size === 0) return
  const { jobId, type } = sent
  const details = Object.fromEntries(
    Object.entries(sent.details).filter(([name]) => !KEPT_HERE.includes(name)),
  )
  for (const { webhookId, isActive, events } of outbox.webhooks.values()) {
    if (!isActive || (events.length > 0 && !events.includes(type))) continue
    const deliveryId = outbox.createUuid()
    outbox.deliveries.set(deliveryId, {
      deliveryId,
      webhookId,
      event: {
        type,
        timestamp: new Date(nowMs).toISOString(),
        data: structuredClone({ job_id: jobId, table: outbox.table, details }),
      },
      status: 'waiting',
      tries: 0,
      nextTryAtMs: nowMs,
      lastStatus: null,
      lastError: null,
      createdAtMs: nowMs,
      deliveredAtMs: null,
    })
  }
}
