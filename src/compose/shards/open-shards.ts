// Opens the native table of several shards behind one store. Shards of one server share its connections.
import type { ShardConfig } from '../../config/index.ts'
import { isUnstuckError, UnstuckError } from '../../errors/index.ts'
import { nativeProfile } from '../../profile/native.ts'
import type { TableProfile } from '../../profile/profile.ts'
import type { JobStore, Shard, ShardRoute, Shards } from '../../store/job-store.ts'
import { createCallQuery } from '../../store/postgres/connection/call-query.ts'
import type { SqlClient } from '../../store/postgres/connection/executor.ts'
import type { ServerAddress } from '../../store/postgres/connection/schema-owners.ts'
import { createPostgresStore } from '../../store/postgres/postgres-store.ts'
import { requireSchemaVersion } from '../../store/postgres/schema-version.ts'
import { createShardedStore } from '../../store/sharded/sharded-store.ts'
import type { OpenTable } from '../open-table.ts'
import { openShardConnections, type PoolOptions } from './shard-connections.ts'

export interface OpenShardsOptions extends PoolOptions {
  shards: ShardConfig[]
  route: ShardRoute
  /** A shard stopped answering, or, with null, answers again. */
  onReach?: (shard: string, error: unknown) => void
}

export interface OpenShard extends ShardConfig {
  server: ServerAddress
  shard: Shard<SqlClient>
  table: TableProfile
  sendHint: (payload: string) => Promise<unknown>
  sendWaitHint: (payload: string) => Promise<unknown>
}

export interface OpenShards extends OpenTable {
  store: JobStore<SqlClient> & { readonly shards: Shards<SqlClient> }
  shards: OpenShard[]
}

export function openShards({ shards, route, onReach, ...options }: OpenShardsOptions): OpenShards {
  const connections = openShardConnections(shards, options)
  const opened = shards.map((config): OpenShard & { check: () => Promise<void> } => {
    const { client, server } = connections.of(config)
    const { schema, number } = config
    const { shard, table } = openShard(config, client)
    const call = createCallQuery(client, { schema, table })
    return {
      ...config,
      server,
      table,
      shard,
      sendHint: (payload) => call('test_hints', [payload]),
      sendWaitHint: (payload) => call('test_waits', [payload]),
      async check() {
        await requireSchemaVersion(call, schema)
        const [row] = await call('installed_shard', [])
        if (Number(row?.['shard']) !== number) throw otherNumber(shard.name, Number(row?.['shard']), number)
      },
    }
  })
  const store = createShardedStore({
    shards: opened.map(({ shard }) => shard),
    route,
    ...(onReach === undefined ? {} : { onReach: ({ name }, error) => onReach(name, error) }),
  })
  return {
    store,
    shards: opened,
    checkSchema: () => checkAll(opened.map(({ check }) => check)),
    transaction: (work, { jobId, ...limits } = {}) => {
      const { number } = jobId === undefined ? { number: undefined } : store.shards.of(jobId)
      const found = shards.find((config) => config.number === number) ?? shards[0]
      if (found === undefined) throw new Error('an installation has no shard')
      return connections.of(found).transaction(work, limits)
    },
    close: () => connections.close(),
  }
}

export function openShard(
  config: ShardConfig,
  client: SqlClient,
): { shard: Shard<SqlClient>; table: TableProfile } {
  const [table] = nativeProfile(config.schema).tables
  const { schema, number, isDraining } = config
  const store = createPostgresStore({ client, table, schema })
  return { shard: { number, name: shardName(config), store, isDraining, canClaim: () => true }, table }
}

/** A shard that is down keeps no worker from starting for the others. */
async function checkAll(checks: (() => Promise<void>)[]): Promise<void> {
  const results = await Promise.allSettled(checks.map((check) => check()))
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
  const refusal = errors.find((error) => !isUnstuckError(error, 'DATABASE_UNREACHABLE'))
  if (refusal !== undefined) throw refusal
  const [first] = errors
  if (first !== undefined && errors.length === checks.length) throw first
}

/** Without user and password. */
function shardName({ number, url, schema }: ShardConfig): string {
  const { host, pathname } = new URL(url)
  return `shard ${number} (${host}${pathname} ${schema})`
}

function otherNumber(name: string, installed: number, wanted: number): UnstuckError {
  return new UnstuckError(
    'INVALID_CONFIG',
    `${name} is installed as shard ${installed}, not shard ${wanted}`,
    {
      hint: 'A shard keeps its number. Correct the order of the shards, or set number.',
    },
  )
}
