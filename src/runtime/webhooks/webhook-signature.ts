// Standard Webhooks (standardwebhooks.com): the receiver verifies the sender and the age of a delivery.
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

export function createWebhookSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64')}`
}

export function signWebhook(secret: string, id: string, atMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}
