import { type Config, loadConfig, readConfigFile } from '../../config/index.ts'
import { printProgress } from '../terminal/output.ts'

/** The flags that every command with a connection has. */
export interface ConnectionFlags {
  databaseUrl?: string
  store?: string
  schema?: string
  profile?: string
  config?: string
  json?: boolean
}

/** Flags over the environment over the config file; warnings go to stderr, so that stdout stays data. */
export function loadCommandConfig(
  flags: ConnectionFlags,
  more: { intervalSec?: string; concurrency?: string } = {},
): Config {
  const { schema } = flags
  const databaseUrl = flags.store ?? flags.databaseUrl
  // The jobs in Neo4j are those of one document.
  const profile = flags.profile ?? (flags.store === undefined ? undefined : 'embedding')
  const config = loadConfig({
    env: process.env,
    flags: { databaseUrl, schema, profile, ...more },
    file: readConfigFile(process.cwd(), flags.config),
  })
  for (const warning of config.warnings) printProgress(`unstuck: warning: ${warning}`)
  return config
}
