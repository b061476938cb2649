// An engine in a distributed schema of the cluster. Unlike in other tests, all share one database: Citus creates none.
import pg from 'pg'
import { inject } from 'vitest'
import { nativeProfile } from '../../../src/profile/native.ts'
import { migrateUp } from '../../../src/store/postgres/index.ts'
import type { TestDatabase } from '../../support/test-database.ts'

export interface DistributedSchema extends TestDatabase {
  /** The node that has the tables, and their names there: Citus allows no shift of a stored time through the coordinator. */
  shards: { pool: pg.Pool; nameOf: (table: string) => string }
  /** The port of the node that has the tables. */
  node(): Promise<number>
  /** Moves them to the other worker. */
  move(): Promise<void>
}

export async function createDistributedSchema(schema: string, shard = 0): Promise<DistributedSchema> {
  const url = inject('citusUrl')
  const pool = openPool(url)
  await pool.query(`drop schema if exists ${schema} cascade`)
  await migrateUp({ databaseUrl: url, schema, shard, profile: nativeProfile(schema), distributes: true })
  const shards = await openShards(pool, url, schema)
  const clients: pg.Client[] = []
  return {
    url,
    pool,
    shards,
    node: () => nodeOf(pool, schema),
    async move() {
      const { rows } = await pool.query(
        `select nodename, nodeport from pg_dist_node where shouldhaveshards and nodeport <> $1`,
        [await nodeOf(pool, schema)],
      )
      await pool.query(`select citus_schema_move('${schema}', $1::text, $2::int)`, [
        rows[0].nodename,
        rows[0].nodeport,
      ])
    },
    async connect() {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      clients.push(client)
      return client
    },
    async drop() {
      await Promise.all(clients.map((client) => client.end()))
      await shards.pool.end()
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    },
  }
}

function openPool(connectionString: string, options?: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 8, options })
  pool.on('error', () => {})
  return pool
}

async function nodeOf(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query(
    `select nodeport from citus_shards where table_name = '${schema}.jobs'::regclass`,
  )
  return Number(rows[0]?.nodeport)
}

async function openShards(
  coordinator: pg.Pool,
  url: string,
  schema: string,
): Promise<DistributedSchema['shards']> {
  const { rows } = await coordinator.query<{ table: string; shard: string; port: number }>(
    `select table_name::text as table, shard_name as shard, nodeport as port from citus_shards
      where table_name::text like $1 || '.%'`,
    [schema],
  )
  const node = new URL(url)
  node.port = String(rows[0]?.port)
  const names = new Map(rows.map(({ table, shard }) => [table, shard]))
  const plain = (name: string) => name.replaceAll('"', '')
  return {
    pool: openPool(
      node.href,
      '-c citus.enable_manual_changes_to_shards=on -c citus.override_table_visibility=off',
    ),
    nameOf: (table) => names.get(plain(table)) ?? table,
  }
}
