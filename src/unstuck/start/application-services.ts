// The services of an application's worker, from its configuration and options.
import { profileOf } from '../../config/index.ts'
import type { DeclaredJob } from '../../runtime/services/scheduler.ts'
import type { Worker } from '../../runtime/worker/worker.ts'
import { hasCapability } from '../../store/capability.ts'
import { enqueuePolicyOf } from '../jobs/enqueue-policy.ts'
import { type Services, startServices, startShardServices } from './services.ts'
import type { StartedParts } from './start-worker.ts'

export function startApplicationServices(
  { open, shards, config, options, table, events, handlers, policy, directUrl }: StartedParts,
  worker: Worker,
  schedules: DeclaredJob[],
): Services {
  const { store, sendHint } = open
  const listens = policy.notify === 'on' && hasCapability(store, 'notify')
  const parts = {
    store,
    schema: config.schema,
    table,
    events,
    policy: config.policy,
    enqueuePolicy: enqueuePolicyOf(config),
    worker,
    queues: handlers.map(({ type, queue = type }) => queue),
    schedules,
    dispatch: options.dispatch,
    isPruning: options.prune ?? profileOf(config).isPruned ?? false,
    sweepIntervalMs: policy.sweepIntervalMs,
    allowsPrivateWebhooks: config.webhookAllowPrivate === '1',
    appVersion: config.appVersion,
  }
  return shards === undefined
    ? startServices({ ...parts, sendHint, notifier: listens ? directUrl : null })
    : startShardServices(parts, shards, listens)
}
