import type { PolicyOverride } from '../policy/policy.ts'
import type { OwnProfile } from '../profile/own-profile.ts'
import type { Profile } from '../profile/profile.ts'
import type { ProfileName } from '../profile/shipped.ts'

/** Command-line options, which win over variables. */
export type FlagName = 'databaseUrl' | 'directUrl' | 'schema' | 'profile' | 'intervalSec' | 'concurrency'

export interface ConfigSources {
  /** `process.env` of the caller; nothing else is read. */
  env: Readonly<Record<string, string | undefined>>
  flags?: { [Flag in FlagName]?: string | undefined }
  file?: ConfigFile | undefined
}

/** What `unstuck.config.ts` exports as its default. */
export interface ConfigFile {
  databaseUrl?: string | undefined
  migrateUrl?: string | undefined
  directUrl?: string | undefined
  schema?: string | undefined
  /** The name of a shipped one, or one of your own. */
  profile?: ProfileName | OwnProfile | undefined
  /** Times of leases, heartbeats and sweeps, under everything that is set one by one. */
  preset?: 'brisk' | undefined
  policy?: PolicyOverride | undefined
  workerConcurrency?: number | undefined
  maxPayloadBytes?: number | undefined
  webhookAllowPrivate?: '0' | '1' | undefined
  gateway?: { [Field in keyof GatewayConfig]?: NonNullable<GatewayConfig[Field]> | undefined } | undefined
  circuit?: { [Field in keyof CircuitConfig]?: CircuitConfig[Field] | undefined } | undefined
  http?: { [Field in keyof HttpConfig]?: NonNullable<HttpConfig[Field]> | undefined } | undefined
}

export interface Config {
  databaseUrl: string | null
  /** The same as `databaseUrl` where nothing else is set. */
  migrateUrl: string | null
  /** For heartbeats and hints of new work. Default: `databaseUrl`. */
  directUrl: string | null
  schema: string
  /** The name of the profile. `profileOf` answers the profile itself. */
  profile: string
  /** The config file's own; null where a shipped one is in force. */
  ownProfile: Profile | null
  /** Only what the environment or the file set: sent with each call over the stored policy, never written back. */
  policy: PolicyOverride
  /** For rows that bring none of their own, or a column default would make the setting inert (OPS-8). */
  enqueueMaxAttempts: number | null
  /** From `policy`, else from the profile. A policy stored in the database comes between the two. */
  heartbeatMs: number
  /** As `heartbeatMs`. */
  sweepIntervalMs: number
  workerConcurrency: number
  /** Of the JSON of one payload, in UTF-8. */
  maxPayloadBytes: number
  /** `1` where webhooks may go to private addresses and over plain HTTP. */
  webhookAllowPrivate: string
  gateway: GatewayConfig
  circuit: CircuitConfig
  http: HttpConfig
  /** Every setting of the profile with its source, secrets masked. */
  values: ConfigValue[]
  /** One line each; none of them stops the start. */
  warnings: string[]
}

export interface GatewayConfig {
  url: string | null
  timeoutMs: number
  /** What the breaker's health probe asks instead of `url`. */
  probeUrl: string | null
  uploadsDir: string | null
  resultsDir: string | null
}

export interface CircuitConfig {
  /** The last so many calls. */
  window: number
  /** Older calls count no more; null looks at no age. */
  windowMs: number | null
  /** Above 0 and up to 1. */
  failThreshold: number
  cooldownMs: number
}

export interface HttpConfig {
  host: string
  port: number
  /** `0` or `1`, as `publicMetrics`. */
  readOnly: string
  environment: string | null
  publicMetrics: string
  jwtIssuer: string | null
  jwtAudience: string | null
  jwtJwksUrl: string | null
  jwtSecret: string | null
  jwtOwnerClaim: string | null
  proxyHeader: string | null
  proxyFrom: string | null
  proxyRoles: string | null
}

export interface ConfigValue {
  /** The path in `Config`, such as `policy.heartbeatMs`. */
  name: string
  value: string | number | null
  source: ConfigSource
  requirement: string
}

export type ConfigSource = 'flag' | `env ${string}` | 'file' | 'preset' | 'profile' | 'default'
