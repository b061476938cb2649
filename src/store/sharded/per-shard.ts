// Verbs that exist for each shard alone: its services run there, and commands name the shard with --shard.
import { UnstuckError } from '../../errors/index.ts'
import type { StoreCapability } from '../capability.ts'
import type { DispatchStore, OperationStore, TrendStore, WebhookStore } from '../job-store.ts'

export const shardedLacks: ReadonlySet<StoreCapability> = new Set([
  'dispatch',
  'operations',
  'trends',
  'webhooks',
])

export function bindPerShard(): DispatchStore & OperationStore & TrendStore & WebhookStore {
  const refuse = (capability: StoreCapability) => async (): Promise<never> => {
    throw new UnstuckError('NOT_SUPPORTED', `${capability} run in each shard, not across them`, {
      details: { store: 'sharded', capability },
      hint: 'Name one shard: --shard 0, or q.shard(key).store.',
    })
  }
  const dispatch = refuse('dispatch')
  const operations = refuse('operations')
  const trends = refuse('trends')
  const webhooks = refuse('webhooks')
  return {
    takeDispatches: dispatch,
    finishDispatches: dispatch,
    failDispatches: dispatch,
    countDispatches: dispatch,
    beginOperation: operations,
    takeOperation: operations,
    stepOperation: operations,
    giveBackOperation: operations,
    endOperation: operations,
    abortOperation: operations,
    readOperation: operations,
    listOperations: operations,
    listOperationJobs: operations,
    recordTrends: trends,
    countTrends: trends,
    listTrends: trends,
    addWebhook: webhooks,
    listWebhooks: webhooks,
    removeWebhook: webhooks,
    switchWebhook: webhooks,
    takeDeliveries: webhooks,
    recordDelivery: webhooks,
    listDeliveries: webhooks,
    redeliver: webhooks,
  }
}
