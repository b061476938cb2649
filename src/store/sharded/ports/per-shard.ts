// Verbs that exist for each shard alone: its services run there, and commands name the shard with --shard.
import { UnstuckError } from '../../../errors/index.ts'
import type { StoreCapability } from '../../capability.ts'
import { bindRefusedPorts } from '../../refused-ports.ts'

export const shardedLacks: ReadonlySet<StoreCapability> = new Set([
  'dispatch',
  'operations',
  'trends',
  'webhooks',
])

export const bindPerShard = () =>
  bindRefusedPorts((capability) => async () => {
    throw new UnstuckError('NOT_SUPPORTED', `${capability} run in each shard, not across them`, {
      details: { store: 'sharded', capability },
      hint: 'Name one shard: --shard 0, or q.shard(key).store.',
    })
  })
