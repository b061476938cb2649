// The parts of the port that this store has not: whoever calls them is told so.
import { notSupported, type StoreCapability } from '../capability.ts'
import type { DispatchStore, OperationStore, WebhookStore } from '../job-store.ts'

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
    settleDelivery: webhooks,
    listDeliveries: webhooks,
    redeliver: webhooks,
  }
}
