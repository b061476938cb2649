// One store over several complete engines (docs/adr/0038).
import type { JobStore } from '../job-store.ts'
import { bindDependencies } from './ports/dependencies.ts'
import { bindLifecycle } from './ports/lifecycle.ts'
import { bindModes } from './ports/modes.ts'
import { bindOperating } from './ports/operating.ts'
import { bindPerShard, shardedLacks } from './ports/per-shard.ts'
import { bindReading } from './ports/reading.ts'
import { bindReaping } from './ports/reaping.ts'
import { bindSchedules } from './ports/schedules.ts'
import { bindWaits } from './ports/waits.ts'
import { bindWorkers } from './ports/workers.ts'
import { ShardSet, type ShardSetOptions } from './routing/shard-set.ts'

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
