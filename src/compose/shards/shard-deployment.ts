// All shards of an installation as one table, for people who look at it.
import type { Config, ShardConfig } from '../../config/index.ts'
import type { SqlClient } from '../../store/postgres/connection/executor.ts'
import { createPostgresAccess } from '../../store/postgres/ports/access.ts'
import { createShardedAccess } from '../../store/sharded/access/sharded-access.ts'
import { createShardedStore } from '../../store/sharded/sharded-store.ts'
import type { Deployment, DeploymentTable } from '../deployment-table.ts'
import { countWatchers } from '../presence/count-watchers.ts'
import { watchGoneWorkers } from '../presence/gone-workers.ts'
import { openShard } from './open-shards.ts'
import { openShardConnections } from './shard-connections.ts'

export function openShardDeployment(config: Config, shards: ShardConfig[]): Deployment {
  const connections = openShardConnections(shards, { connections: config.connections })
  const watches: { stop(): Promise<void> }[] = []
  const live = joinShards(config, shards, (shard) => connections.of(shard).reader)
  const parts = shards.map((shard): DeploymentTable => {
    const { client, server } = connections.of(shard)
    const { table, shard: own } = openShard(shard, client)
    const watch = watchGoneWorkers({ server, schema: shard.schema, table })
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
    ...joinShards(config, shards, (shard) => connections.of(shard).client),
    parts: parts as Deployment['parts'],
    live,
    reading: live,
    async close() {
      await Promise.all(watches.map((watch) => watch.stop()))
      await connections.close()
    },
  }
}

function joinShards(
  config: Config,
  shards: ShardConfig[],
  clientOf: (shard: ShardConfig) => SqlClient,
): Pick<Deployment, 'tables' | 'access'> {
  const opened = shards.map((shard) => {
    const client = clientOf(shard)
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
