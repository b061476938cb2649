// `unstuck/http`: the API as a fetch handler inside an application.
import { diagnoseAll, openDeployment } from '../compose/index.ts'
import { type Config, loadConfig, readConfigFile } from '../config/index.ts'
import { sourceCheckOf } from '../runtime/operations/source-exists.ts'
import { buildApp } from './app.ts'
import type { App, AppOptions } from './app-options.ts'

export { type Actor, type Role, roles, type Scope, scopes } from '../commands/actor.ts'
export type { App, AppOptions, Authorize, JwtOptions, TrustedProxyOptions } from './app-options.ts'
export type * from './contract/index.ts'
export { type NodeListener, toNodeListener } from './node-listener.ts'

export interface CreateAppOptions
  extends Omit<AppOptions, 'tables' | 'access' | 'reading' | 'live' | 'policy' | 'config' | 'runDoctor'> {
  /** Default: the environment and the config file. */
  config?: Config
}

/** Opens its own connections; `close` ends them. Without a token, JWT or `authorize` every request is refused. */
export function createApp(options: CreateAppOptions = {}): App {
  const config =
    options.config ?? loadConfig({ env: process.env, file: readConfigFile(process.cwd(), undefined) })
  const deployment = openDeployment(config)
  const { tables, access, reading, live } = deployment
  const app = buildApp({
    ...sourceCheckOf(config.gateway),
    ...options,
    config,
    tables,
    access,
    reading,
    live,
    policy: config.policy,
    runDoctor: () => diagnoseAll(config),
  })
  if (options.isReadOnly !== true) app.runOperations()
  return {
    fetch: app.fetch,
    async close() {
      await app.close()
      await deployment.close()
    },
  }
}
