// The ports that this store lacks: their verbs throw NOT_SUPPORTED.
import { notSupported, type StoreCapability } from '../capability.ts'
import type { DispatchStore, OperationStore, WebhookStore } from '../job-store.ts'

/** Known without the driver, which is loaded only if the store is used. */
export const neo4jLacks: ReadonlySet<StoreCapability> = new Set([
  'transactions',
  'notify',
  'skip-locked',
  'audit',
  'doctor',
  'attach',
  'dispatch',
  'modes',
  'operations',
  'webhooks',
])

export function refuseTransaction(options: { tx?: unknown }): void {
  if (options.tx !== undefined) throw notSupported('Neo4j', 'transactions')
}

export function bindMissingVerbs(): DispatchStore & OperationStore & WebhookStore {
  const refuse = (capability: StoreCapability) => async (): Promise<never> => {
    throw notSupported('Neo4j', capability)
  }
  const dispatch = refuse('dispatch')
  const operations = refuse('operations')
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
