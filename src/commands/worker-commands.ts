// Workers, how well lost jobs are rescued, and the webhooks that tell of it.
import type {
  Delivery,
  DeliveryStatus,
  DrainOutcome,
  Slo,
  Webhook,
  WorkerStatus,
} from '../store/job-store.ts'
import { command, done, findTable, fromTables, type InTable, policyOf, refused } from './command.ts'

export const listWorkers = command('listWorkers', (context, input: InTable) =>
  fromTables<WorkerStatus>(context, input, ({ store }) => store.listWorkers()),
)

export interface DrainInput extends InTable {
  workerId: string
  reason?: string | undefined
}

export interface Drain {
  table: string
  workerId: string
  outcome: DrainOutcome
}

/** In every table where it is known: a worker may serve several. */
export const drainWorker = command('drainWorker', async (context, input: DrainInput) => {
  const { workerId, reason } = input
  const options = { actor: context.actor.id, ...(reason === undefined ? {} : { reason }) }
  const named = findTable(context, input.table)
  if (!named.isDone) return named
  const drains: Drain[] = []
  for (const { name, store } of input.table === undefined ? context.tables : [named.value])
    drains.push({ table: name, workerId, outcome: await store.drainWorker(workerId, options) })
  const asked = drains.find(({ outcome }) => outcome !== 'not-found' && outcome !== 'stopped')
  if (asked !== undefined) return done<Drain>(asked)
  if (drains.some(({ outcome }) => outcome === 'stopped'))
    return refused('STATE_CONFLICT', `worker ${workerId}: it has left already`)
  return refused('NOT_FOUND', `no worker has the id ${workerId}`)
})

export const readSlo = command(
  'readSlo',
  (context, { windowMs, ...input }: InTable & { windowMs?: number | undefined }) =>
    fromTables<Slo>(context, input, async ({ store }) => [
      await store.readSlo({ ...policyOf(context), ...(windowMs === undefined ? {} : { windowMs }) }),
    ]),
)

export const listWebhooks = command('listWebhooks', (context, input: InTable) =>
  fromTables<Webhook>(context, input, ({ store }) => store.listWebhooks()),
)

export interface DeliveriesInput extends InTable {
  webhookId?: string | undefined
  status?: DeliveryStatus | undefined
  limit: number
}

export const listDeliveries = command('listDeliveries', (context, input: DeliveriesInput) => {
  const { webhookId, status, limit } = input
  const filter = {
    limit,
    ...(webhookId === undefined ? {} : { webhookId }),
    ...(status === undefined ? {} : { status }),
  }
  return fromTables<Delivery>(context, input, ({ store }) => store.listDeliveries(filter))
})

export const redeliver = command('redeliver', async (context, input: InTable & { deliveryId: string }) => {
  const { deliveryId } = input
  const named = findTable(context, input.table)
  if (!named.isDone) return named
  for (const table of input.table === undefined ? context.tables : [named.value]) {
    const outcome = await table.store.redeliver(deliveryId)
    if (outcome === 'inactive')
      return refused('STATE_CONFLICT', `delivery ${deliveryId}: its webhook is switched off`)
    if (outcome === 'due')
      return done<{ table: string; deliveryId: string }>({ table: table.name, deliveryId })
  }
  return refused('NOT_FOUND', `no delivery has the id ${deliveryId}`)
})
