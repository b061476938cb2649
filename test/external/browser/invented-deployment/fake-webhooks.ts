// Webhooks and audit entries of the invented deployment.
import type { AuditEntry, Delivery, Webhook } from '../../../../src/http/contract/index.ts'
import type { FakeWorld } from './fake-world.ts'
import { iso } from './iso.ts'

export interface FakeWebhooks {
  webhooks: Webhook[]
  deliveries: Delivery[]
}

export function createFakeWebhooks(world: FakeWorld): FakeWebhooks {
  const job = [...world.jobs.keys()][0]
  if (job === undefined) return { webhooks: [], deliveries: [] }
  const webhooks = [
    webhookOf(1, {
      url: 'https://hooks.example.com/unstuck',
      events: ['failed', 'reaper:requeued'],
      waiting: 1,
    }),
    webhookOf(2, {
      url: 'https://old.example.com/jobs',
      is_active: false,
      inactive_reason: 'the address answered 410 Gone',
    }),
  ]
  const statuses = ['waiting', 'delivered', 'failed'] as const
  const deliveries = statuses.map((status, index): Delivery => {
    const isFailed = status === 'failed'
    return {
      id: String(70 + index),
      table: 'jobs',
      webhook_id: webhooks[0]?.id ?? '',
      job_id: job,
      type: 'reaper:requeued',
      status,
      tries: isFailed ? 8 : index + 1,
      next_try_in_ms: status === 'waiting' ? 21_000 : null,
      last_status: status === 'delivered' ? 204 : isFailed ? 500 : null,
      last_error: status === 'waiting' ? 'no answer within 10 s' : null,
      created_at: iso(Date.now() - 60_000 * (index + 1)),
      delivered_at: status === 'delivered' ? iso(Date.now() - 59_000) : null,
    }
  })
  return { webhooks, deliveries }
}

export function webhookOf(number: number, changes: Partial<Webhook>): Webhook {
  return {
    id: `0198c1d4-6f0e-7c3a-9a51-00000000000${number}`,
    table: 'jobs',
    url: '',
    events: [],
    is_active: true,
    inactive_reason: null,
    created_at: iso(Date.now() - 86_400_000 * number),
    created_by: 'ana',
    waiting: 0,
    ...changes,
  }
}

export function auditOf(world: FakeWorld, query: URLSearchParams): AuditEntry[] {
  const job = [...world.jobs.keys()][0]
  if (job === undefined) return []
  const entry = (number: number, changes: Partial<AuditEntry>): AuditEntry => ({
    id: String(number),
    at: iso(Date.now() - number * 700_000),
    type: 'queued',
    actor: 'ana',
    reason: null,
    table: 'jobs',
    job_id: null,
    subject: null,
    details: {},
    ...changes,
  })
  return [
    entry(1, { job_id: job, reason: 'the gateway is back' }),
    entry(2, { type: 'queue-paused', actor: 'ben', subject: 'render', reason: 'new model' }),
    entry(3, { type: 'breaker-held', table: null, subject: 'converter', reason: 'INC-431' }),
    entry(4, { type: 'worker-drain', actor: 'ben', subject: 'ip-10-0-3-7:4121', reason: 'new host' }),
  ].filter(({ actor }) => [null, actor].includes(query.get('actor')))
}
