import type { StoreCapability } from './capability.ts'
import type { DispatchStore, OperationStore, TrendStore, WebhookStore } from './job-store.ts'

/** The verbs of ports that a store may lack. `refuse` makes the verb that throws NOT_SUPPORTED for a capability. */
export function bindRefusedPorts(
  refuse: (capability: StoreCapability) => () => Promise<never>,
): DispatchStore & OperationStore & TrendStore & WebhookStore {
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
    countOperationEnds: operations,
    listOperationJobs: operations,
    recordTrends: trends,
    countTrends: trends,
    listTrends: trends,
    sumTrends: trends,
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
