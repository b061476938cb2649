import { type Config, loadConfig, readConfigFile } from '../../config/index.ts'
import type { UnstuckOptions } from '../options.ts'

/** The configuration of an application: its options, the environment, its config file. */
export function configOf(options: UnstuckOptions): Config {
  const { databaseUrl, directUrl, schema, profile, shards, route, direct, appVersion } = options
  return loadConfig({
    env: process.env,
    flags: {
      databaseUrl,
      directUrl,
      schema,
      profile,
      appVersion,
      ...(shards === undefined ? {} : { shards: JSON.stringify(shards) }),
      ...(route === undefined ? {} : { shardRoute: route }),
      ...(direct === undefined ? {} : { shardDirect: direct ? 'on' : 'off' }),
    },
    file: readConfigFile(process.cwd(), options.config),
  })
}
