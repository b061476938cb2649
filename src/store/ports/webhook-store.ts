// The part of the store port that tells outside systems of events. A delivery is written in the transaction of its event
// and stays until it was sent or given up: at least once, never lost (OPS-10, C22).
import type { JsonValue } from '../../job/job.ts'
import type { ActorOptions } from './dependency-store.ts'

export interface WebhookStore {
  /** Events of the table are sent from now on. */
  addWebhook(webhook: NewWebhook): Promise<Webhook>
  /** The oldest first. No secret is shown. */
  listWebhooks(): Promise<Webhook[]>
  /** What was not sent yet is not sent any more. False where there was none. */
  removeWebhook(webhookId: string, options?: ActorOptions): Promise<boolean>
  /** Switches it on or off, also one whose receiver was gone. Null where there is none. */
  switchWebhook(webhookId: string, isActive: boolean, options?: ActorOptions): Promise<Webhook | null>

  /** Takes deliveries that are due, for `leaseMs`: nobody else gets them meanwhile. Empty where none is. */
  takeDeliveries(request?: TakeDeliveriesRequest): Promise<TakenDelivery[]>
  /** What a try came to. It is made again after 5 s, then ever later, up to 10 times in about a day. */
  settleDelivery(
    taken: Pick<TakenDelivery, 'deliveryId' | 'tries'>,
    answer: DeliveryAnswer,
  ): Promise<DeliveryOutcome>

  /** The newest first. */
  listDeliveries(filter?: DeliveryFilter): Promise<Delivery[]>
  /** Once more, at once and with all its tries, whatever became of it. The receiver sees the same id. */
  redeliver(deliveryId: string): Promise<RedeliverOutcome>
}

export interface NewWebhook {
  url: string
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string
  /** Types of events; all of them where absent or empty. */
  events?: string[]
  actor?: string
  reason?: string
}

export interface Webhook {
  webhookId: string
  url: string
  events: string[]
  /** False after the receiver answered that it is gone for good, or somebody switched it off. */
  isActive: boolean
  inactiveReason: string | null
  createdAt: Date
  createdBy: string | null
  /** Deliveries that are to be sent. */
  waiting: number
}

export interface TakeDeliveriesRequest {
  /** 10 where absent. */
  limit?: number
  /** One minute where absent. What is not settled by then is taken again. */
  leaseMs?: number
}

export interface TakenDelivery {
  deliveryId: string
  webhookId: string
  url: string
  secret: string
  event: WebhookEvent
  /** With this one. */
  tries: number
}

/** What is sent: never a payload, a result or a stack. */
export interface WebhookEvent {
  type: string
  timestamp: string
  data: { job_id: string; table: string; details: { [key: string]: JsonValue } }
}

export interface DeliveryAnswer {
  isDelivered: boolean
  /** Of HTTP; null where no answer came. */
  status: number | null
  error?: string
  /** The receiver wants nothing any more: its webhook is switched off. */
  isGone?: boolean
}

/** `lost`: somebody else took it meanwhile, or it was removed. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed' | 'lost'
export type DeliveryStatus = 'waiting' | 'delivered' | 'failed'
export type RedeliverOutcome = 'due' | 'inactive' | 'not-found'

export interface DeliveryFilter {
  webhookId?: string
  status?: DeliveryStatus
  /** 1 to 1000; 100 where absent. */
  limit?: number
}

export interface Delivery {
  deliveryId: string
  webhookId: string
  jobId: string
  type: string
  status: DeliveryStatus
  tries: number
  /** Null where it is not tried again. */
  nextTryInMs: number | null
  lastStatus: number | null
  lastError: string | null
  createdAt: Date
  deliveredAt: Date | null
}
