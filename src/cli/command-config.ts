import { type Config, loadConfig, readConfigFile } from '../config/index.ts'

/** The flags that every command with a connection has. */
export interface ConnectionFlags {
  databaseUrl?: string
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
  const { databaseUrl, schema, profile } = flags
  // A flag for the database is meant for migrations too.
  const config = loadConfig({
    env: process.env,
    flags: { databaseUrl, migrateUrl: databaseUrl, schema, profile, ...more },
    file: readConfigFile(process.cwd(), flags.config),
  })
  for (const warning of config.warnings) process.stderr.write(`unstuck: warning: ${warning}\n`)
  return config
}
