// The conformance suite's view of several shards: time moves in all of them, and a planted row goes to the shard of its id.
import { randomUUID } from 'node:crypto'
import { nativeProfile } from '../../src/profile/native.ts'
import type { StoreHarness } from '../../src/store/conformance/harness.ts'
import type { SqlClient } from '../../src/store/postgres/connection/executor.ts'
import { createShardedStore } from '../../src/store/sharded/sharded-store.ts'
import { type ShardRoute, shardNumberOf } from '../../src/store/shards.ts'
import { createPostgresBench, type PostgresBench } from './postgres-harness.ts'
import type { TestDatabase } from './test-database.ts'

export interface ShardedBench {
  open(): Promise<StoreHarness<SqlClient>>
  close(): Promise<void>
}

/** Shard 0 in a database of its own, shard 1 in schema `unstuck_b` of the given one, or of the same. */
export async function createShardedBench(route: ShardRoute, second?: TestDatabase): Promise<ShardedBench> {
  const first = await createPostgresBench({
    profile: nativeProfile('unstuck'),
    table: nativeProfile('unstuck').tables[0],
  })
  const profile = nativeProfile('unstuck_b')
  const other = await createPostgresBench({
    profile,
    table: profile.tables[0],
    schema: 'unstuck_b',
    database: second ?? first.database,
    shard: 1,
  })
  const benches: PostgresBench[] = [first, other]
  return {
    async open() {
      const harnesses = await Promise.all(benches.map((bench) => bench.open()))
      const store = createShardedStore({
        route,
        shards: harnesses.map(({ store }, number) => ({
          number,
          name: `shard ${number}`,
          store,
          isDraining: false,
          canClaim: () => true,
        })),
      })
      return {
        store,
        elapse: async (ms) => void (await Promise.all(harnesses.map(({ elapse }) => elapse(ms)))),
        plantJob(fields) {
          const { type = 'planted', queue = type } = fields
          const id = fields.id ?? idOf(store.shards?.forJob({ type, queue }).number ?? 0)
          const harness = harnesses[shardNumberOf(id)] ?? harnesses[0]
          if (harness === undefined) throw new Error('no shard is open')
          return harness.plantJob({ ...fields, id })
        },
        hasTransactions: false,
        close: async () => {},
      }
    },
    async close() {
      await other.close()
      await first.close()
    },
  }
}

/** A random id of the shard. */
function idOf(shard: number): string {
  const id = randomUUID()
  return `${id.slice(0, 19)}8${shard.toString(16).padStart(3, '0')}${id.slice(23)}`
}
