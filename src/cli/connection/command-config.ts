import { type Config, configOfShard, loadConfig, readConfigFile } from '../../config/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import { printProgress } from '../terminal/output.ts'

/** Flags of every command with a connection. */
export interface ConnectionFlags {
  databaseUrl?: string
  store?: string
  schema?: string
  shards?: string
  shard?: string
  profile?: string
  config?: string
  json?: boolean
}

/** Flags override the environment, which overrides the config file. Warnings go to stderr: stdout is data. */
export function loadCommandConfig(
  flags: ConnectionFlags,
  more: {
    intervalSec?: string
    concurrency?: string
    appVersion?: string
    readUrl?: string | undefined
  } = {},
): Config {
  const { schema } = flags
  const databaseUrl = flags.store ?? flags.databaseUrl
  const file = readConfigFile(process.cwd(), flags.config)
  // Jobs in Neo4j belong to the embedding profile, or to one of the file that extends it.
  const isOwn = typeof file?.profile === 'object'
  const profile = flags.profile ?? (flags.store === undefined || isOwn ? undefined : 'embedding')
  const config = loadConfig({
    env: process.env,
    flags: { databaseUrl, schema, profile, shards: flags.shards, ...more },
    file,
  })
  for (const warning of config.warnings) printProgress(`unstuck: warning: ${warning}`)
  return flags.shard === undefined ? config : oneShard(config, flags.shard)
}

/** For commands that work on one database at a time. */
export function loadOneShard(flags: ConnectionFlags): Config {
  const config = loadCommandConfig(flags)
  if (config.shards === null) return config
  throw invalidArgument('--shard', undefined, config.shards.map(({ number }) => number).join(', '))
}

function oneShard(config: Config, given: string): Config {
  const shards = config.shards ?? []
  const shard = shards.find(({ number }) => String(number) === given)
  if (shard !== undefined) return configOfShard(config, shard)
  const numbers = shards.map(({ number }) => number).join(', ')
  throw invalidArgument(
    '--shard',
    given,
    numbers === '' ? 'a shard of UNSTUCK_SHARDS, which is not set' : numbers,
  )
}
