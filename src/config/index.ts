export type {
  CircuitConfig,
  Config,
  ConfigFile,
  ConfigSource,
  ConfigSources,
  ConfigValue,
  GatewayConfig,
} from './config.ts'
export type { ConfigProblem } from './config-problem.ts'
export { renderConfigReference } from './config-reference.ts'
export { loadConfig } from './load-config.ts'
export { defineConfig, readConfigFile } from './read-config-file.ts'
