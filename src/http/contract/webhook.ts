// Adding, switching and removing webhooks over HTTP.
import { z } from '../openapi/zod.ts'
import { envelope, reasonSchema, tableQuery } from './base.ts'
import { webhookSchema } from './worker.ts'

export const newWebhookBody = z
  .strictObject({
    /** https://…, without a password. */
    url: z.string().min(1).max(2000),
    /** Event types. Default: all. */
    events: z.array(z.string().min(1).max(100)).max(100).optional(),
    reason: reasonSchema.optional(),
    table: tableQuery,
  })
  .openapi('NewWebhook')

/** The secret is in this answer only. */
export const newWebhookAnswer = z
  .object({ ...envelope, webhook: webhookSchema, secret: z.string() })
  .openapi('NewWebhookAnswer')

export const webhookChangeBody = z
  .strictObject({ is_active: z.boolean(), reason: reasonSchema.optional() })
  .openapi('WebhookChange')

export const uuidParam = z.object({ id: z.uuid('must be a UUID') })

export const webhookAnswer = z.object({ ...envelope, webhook: webhookSchema }).openapi('WebhookAnswer')

export const webhookRemovedAnswer = z
  .object({ ...envelope, id: z.string(), table: z.string() })
  .openapi('WebhookRemovedAnswer')

export type NewWebhookAnswer = z.infer<typeof newWebhookAnswer>
export type WebhookAnswer = z.infer<typeof webhookAnswer>
