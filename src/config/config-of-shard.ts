import type { Config, ShardConfig } from './config.ts'

/** The configuration of one shard alone, as if it were the only database. */
export function configOfShard(config: Config, { url, schema, number }: ShardConfig): Config {
  const urls = { databaseUrl: url, migrateUrl: url, directUrl: url, readUrl: url }
  return { ...config, ...urls, schema, shards: null, shard: number }
}
