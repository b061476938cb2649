// Configurations read from variables alone, and the problems of those that are refused.
import { expect } from 'vitest'
import type { Config, ConfigSources } from '../../src/config/config.ts'
import type { ConfigProblem } from '../../src/config/config-problem.ts'
import { loadConfig } from '../../src/config/load/load-config.ts'
import { isUnstuckError } from '../../src/errors/index.ts'

export type Env = Record<string, string>

export function load(env: Env, others: Omit<ConfigSources, 'env'> = {}): Config {
  return loadConfig({ env, ...others })
}

/** The problems of a configuration that must be refused. */
export function refuse(env: Env, others: Omit<ConfigSources, 'env'> = {}): ConfigProblem[] {
  try {
    load(env, others)
  } catch (error) {
    if (isUnstuckError(error, 'INVALID_CONFIG')) return error.details['problems'] as ConfigProblem[]
    throw error
  }
  return expect.unreachable('was not refused')
}

export function valueOf(config: Config, name: string) {
  const found = config.values.find((value) => value.name === name)
  return found && [found.value, found.source]
}
