// One store over several complete engines (docs/adr/0038).
import type { JobStore } from '../job-store.ts'
import { bindDependencies } from './dependencies.ts'
import { bindLifecycle } from './lifecycle.ts'
import { bindModes } from './modes.ts'
import { bindOperating } from './operating.ts'
import { bindPerShard, shardedLacks } from './per-shard.ts'
import { bindReading } from './reading.ts'
import { bindReaping } from './reaping.ts'
import { bindSchedules } from './schedules.ts'
import { ShardSet, type ShardSetOptions } from './shard-set.ts'
import { bindWaits } from './waits.ts'
import { bindWorkers } from './workers.ts'

export function createShardedStore<Tx>(
  options: ShardSetOptions<Tx>,
): JobStore<Tx> & { readonly shards: ShardSet<Tx> } {
  const shards = new ShardSet(options)
  return {
    ...bindLifecycle(shards),
    ...bindReaping(shards),
    ...bindReading(shards),
    ...bindWaits(shards),
    ...bindOperating(shards),
    ...bindDependencies(shards),
    ...bindSchedules(shards),
    ...bindWorkers(shards),
    ...bindModes(shards),
    ...bindPerShard(),
    lacks: shardedLacks,
    shards,
  }
}
