// Connections of shards: to their addresses, or on Citus directly to the nodes that have their schemas. Shards of one server share
// its pool.
import type { ShardConfig } from '../../config/index.ts'
import {
  type ConnectionPool,
  type ConnectionPoolOptions,
  openConnectionPool,
} from '../../store/postgres/connection/connection-pool.ts'
import { SchemaOwners, type ServerAddress } from '../../store/postgres/connection/schema-owners.ts'

export type PoolOptions = Omit<ConnectionPoolOptions, 'databaseUrl'>

export interface ShardConnection extends Omit<ConnectionPool, 'close'> {
  /** For sessions: heartbeats, presence, notifications. */
  server: ServerAddress
}

export interface ShardConnections {
  of(shard: ShardConfig): ShardConnection
  close(): Promise<void>
}

export function openShardConnections(shards: readonly ShardConfig[], options: PoolOptions): ShardConnections {
  const pools = openServerPools(options)
  const clusters = new Map<string, SchemaOwners>()
  const ownersOf = (coordinatorUrl: string): SchemaOwners => {
    const known = clusters.get(coordinatorUrl)
    if (known !== undefined) return known
    const { client } = pools.of(coordinatorUrl)
    const direct = shards.filter(({ url, isDirect }) => isDirect === true && url === coordinatorUrl)
    const schemas = direct.map(({ schema }) => schema)
    const owners = new SchemaOwners({ coordinatorUrl, client, schemas })
    clusters.set(coordinatorUrl, owners)
    return owners
  }
  return {
    of({ url, schema, isDirect }) {
      if (isDirect !== true) return { ...pools.of(url), server: url }
      const server = ownersOf(url).addressOf(schema)
      const pool = async () => pools.of(await server.find())
      return {
        server,
        client: { query: async (text, params) => (await pool()).client.query(text, params) },
        reader: { query: async (text, params) => (await pool()).reader.query(text, params) },
        transaction: async (work, limits) => (await pool()).transaction(work, limits),
      }
    },
    async close() {
      for (const owners of clusters.values()) owners.stop()
      await pools.close()
    },
  }
}

/** One pool for each server, whatever the number of its shards. The pool of a node that a schema has left has no connections soon. */
function openServerPools(options: PoolOptions) {
  const pools = new Map<string, ConnectionPool>()
  return {
    of(url: string): ConnectionPool {
      const pool = pools.get(url) ?? openConnectionPool({ ...options, databaseUrl: url })
      pools.set(url, pool)
      return pool
    },
    async close() {
      await Promise.all(Array.from(pools.values(), (pool) => pool.close()))
    },
  }
}
