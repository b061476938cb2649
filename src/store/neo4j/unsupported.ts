// The ports that this store lacks: their verbs throw NOT_SUPPORTED.
import { deletesCompleted, type PolicyOverride } from '../../policy/policy.ts'
import { notSupported, type StoreCapability } from '../capability.ts'
import type { DispatchStore, OperationStore, TrendStore, WebhookStore } from '../job-store.ts'

/** Known without the driver, which is loaded only if the store is used. */
export const neo4jLacks: ReadonlySet<StoreCapability> = new Set([
  'transactions',
  'notify',
  'skip-locked',
  'audit',
  'attach',
  'dispatch',
  'enforce',
  'operations',
  'trends',
  'webhooks',
  'deletion',
])

export function refuseTransaction(options: { tx?: unknown }): void {
  if (options.tx !== undefined) throw notSupported('Neo4j', 'transactions')
}

/** Jobs are nodes of the application, and are never deleted by a completion. */
export function refuseDeletion(policy: PolicyOverride = {}): void {
  if (deletesCompleted(policy)) throw notSupported('Neo4j', 'deletion')
}

export function bindMissingVerbs(): DispatchStore & OperationStore & TrendStore & WebhookStore {
  const refuse = (capability: StoreCapability) => async (): Promise<never> => {
    throw notSupported('Neo4j', capability)
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
