// Events sent to outside systems. A delivery is written in the transaction of its event and kept until it was sent or given
// up: at least once, never lost (OPS-10, C22).
import type { JsonValue } from '../../job/job.ts'
import type { ActorOptions } from './call-options.ts'

export interface WebhookStore {
  /** Sends events of the table from now on. */
  addWebhook(webhook: NewWebhook): Promise<Webhook>
  /** Oldest first, without secrets. */
  listWebhooks(): Promise<Webhook[]>
  /** Drops pending deliveries too. False if there was none. */
  removeWebhook(webhookId: string, options?: ActorOptions): Promise<boolean>
  /** Enables or disables it, even after its receiver answered that it is gone. Null if there is none. */
  switchWebhook(webhookId: string, isActive: boolean, options?: ActorOptions): Promise<Webhook | null>

  /** Takes due deliveries. For `leaseMs` nobody else gets them. */
  takeDeliveries(request?: TakeDeliveriesRequest): Promise<TakenDelivery[]>
  /** Records the answer to a delivery. Retries start after 5 s and slow down, up to 10 times in about a day. */
  recordDelivery(
    taken: Pick<TakenDelivery, 'deliveryId' | 'tries'>,
    answer: DeliveryAnswer,
  ): Promise<DeliveryOutcome>

  /** Newest first. */
  listDeliveries(filter?: DeliveryFilter): Promise<Delivery[]>
  /** Sends it again at once, with all its tries, whatever its outcome was. The receiver sees the same id. */
  redeliver(deliveryId: string): Promise<RedeliverOutcome>
}

export interface NewWebhook extends ActorOptions {
  url: string
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string
  /** Types of events. Default: all. */
  events?: string[]
}

export interface Webhook {
  webhookId: string
  url: string
  events: string[]
  /** False after the receiver answered that it is gone for good, or after it was disabled. */
  isActive: boolean
  inactiveReason: string | null
  createdAt: Date
  createdBy: string | null
  /** Number of pending deliveries. */
  waiting: number
}

export interface TakeDeliveriesRequest {
  /** Default: 10. */
  limit?: number
  /** Deliveries without an outcome by then are taken again. Default: 1 minute. */
  leaseMs?: number
}

export interface TakenDelivery {
  deliveryId: string
  webhookId: string
  url: string
  secret: string
  event: WebhookEvent
  /** Including this one. */
  tries: number
}

/** The body: never a payload, a result or a stack. */
export interface WebhookEvent {
  type: string
  timestamp: string
  data: { job_id: string; table: string; details: { [key: string]: JsonValue } }
}

export interface DeliveryAnswer {
  isDelivered: boolean
  /** HTTP status; null without an answer. */
  status: number | null
  error?: string
  /** The receiver is gone for good: disables its webhook. */
  isGone?: boolean
}

/** `lost`: another process took the delivery meanwhile, or it was removed. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed' | 'lost'
export type DeliveryStatus = 'waiting' | 'delivered' | 'failed'
export type RedeliverOutcome = 'due' | 'inactive' | 'not-found'

export interface DeliveryFilter {
  webhookId?: string
  status?: DeliveryStatus
  /** 1 to 1000. Default: 100. */
  limit?: number
}

export interface Delivery {
  deliveryId: string
  webhookId: string
  jobId: string
  type: string
  status: DeliveryStatus
  tries: number
  /** Null if it is not retried. */
  nextTryInMs: number | null
  lastStatus: number | null
  lastError: string | null
  createdAt: Date
  deliveredAt: Date | null
}
