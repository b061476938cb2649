export type {
  CircuitConfig,
  Config,
  ConfigFile,
  ConfigSource,
  ConfigSources,
  ConfigValue,
  GatewayConfig,
  ShardConfig,
  ShardOptions,
} from './config.ts'
export { configOfShard } from './config-of-shard.ts'
export type { ConfigProblem } from './config-problem.ts'
export { renderConfigReference } from './config-reference.ts'
export { defineConfig, findConfigFile, readConfigFile, readsTypeScript } from './file/read-config-file.ts'
export { loadConfig } from './load/load-config.ts'
export { profileOf } from './profile-of.ts'
