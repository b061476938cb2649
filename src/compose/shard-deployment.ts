// All shards of an installation as one table, for people who look at it.
import type { Config, ShardConfig } from '../config/index.ts'
import type { SqlClient } from '../store/postgres/connection/executor.ts'
import { createPostgresAccess } from '../store/postgres/ports/access.ts'
import { createShardedAccess } from '../store/sharded/access/sharded-access.ts'
import { createShardedStore } from '../store/sharded/sharded-store.ts'
import type { Deployment, DeploymentTable } from './deployment-table.ts'
import { openServerPools, openShard } from './open-shards.ts'
import { countWatchers } from './presence/count-watchers.ts'
import { watchGoneWorkers } from './presence/gone-workers.ts'

export function openShardDeployment(config: Config, shards: ShardConfig[]): Deployment {
  const pools = openServerPools({ connections: config.connections })
  const watches: { stop(): Promise<void> }[] = []
  const live = joinShards(config, shards, (url) => pools.of(url).reader)
  const parts = shards.map((shard): DeploymentTable => {
    const { client } = pools.of(shard.url)
    const { table, shard: own } = openShard(shard, client)
    const watch = watchGoneWorkers({ databaseUrl: shard.url, schema: shard.schema, table })
    watches.push(watch)
    return {
      name: `${table.table}:${shard.number}`,
      table,
      store: own.store,
      presence: watch,
      countWatchers: () => countWatchers(client, shard.schema, table),
    }
  })
  return {
    ...joinShards(config, shards, (url) => pools.of(url).client),
    parts: parts as Deployment['parts'],
    live,
    reading: live,
    async close() {
      await Promise.all(watches.map((watch) => watch.stop()))
      await pools.close()
    },
  }
}

function joinShards(
  config: Config,
  shards: ShardConfig[],
  clientOf: (url: string) => SqlClient,
): Pick<Deployment, 'tables' | 'access'> {
  const opened = shards.map((shard) => {
    const client = clientOf(shard.url)
    const { shard: own, table } = openShard(shard, client)
    return { own, table, access: createPostgresAccess({ client, table, schema: shard.schema }) }
  })
  const [first] = opened
  if (first === undefined) throw new Error('an installation has no shard')
  const store = createShardedStore({ shards: opened.map(({ own }) => own), route: config.shardRoute })
  const access = createShardedAccess(
    store.shards,
    (shard) => (opened.find(({ own }) => own === shard) ?? first).access,
  )
  return { tables: [{ name: first.table.table, table: first.table, store }], access }
}
