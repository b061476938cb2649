import type { PolicyOverride, PresetName } from '../policy/policy.ts'
import type { ExtendedProfile } from '../profile/extend-profile.ts'
import type { OwnProfile } from '../profile/own-profile.ts'
import type { Profile } from '../profile/profile.ts'
import type { ProfileName } from '../profile/shipped.ts'

/** Command-line options, which win over variables. */
export type FlagName =
  | 'databaseUrl'
  | 'directUrl'
  | 'readUrl'
  | 'schema'
  | 'profile'
  | 'intervalSec'
  | 'shards'
  | 'shardRoute'
  | 'shardDirect'
  | 'concurrency'
  | 'appVersion'

export interface ConfigSources {
  /** The caller's `process.env`; nothing else is read. */
  env: Readonly<Record<string, string | undefined>>
  flags?: { [Flag in FlagName]?: string | undefined }
  file?: ConfigFile | undefined
}

/** The default export of `unstuck.config.ts`. */
export interface ConfigFile {
  databaseUrl?: string | undefined
  migrateUrl?: string | undefined
  directUrl?: string | undefined
  readUrl?: string | undefined
  schema?: string | undefined
  /** Several servers or schemas in place of `databaseUrl`. The first is that of an existing installation. */
  shards?: ShardOptions[] | undefined
  shardRoute?: 'owner' | 'queue' | 'spread' | undefined
  /** On Citus: connect to the node that has each schema. */
  shardDirect?: 'on' | 'off' | undefined
  /** Name of a shipped profile, or your own. */
  profile?: ProfileName | OwnProfile | ExtendedProfile | undefined
  /** Matching times. Individual settings override it. */
  preset?: PresetName | undefined
  policy?: PolicyOverride | undefined
  connections?: number | undefined
  workerConcurrency?: number | undefined
  appVersion?: string | undefined
  maxPayloadBytes?: number | undefined
  webhookAllowPrivate?: '0' | '1' | undefined
  gateway?: { [Field in keyof GatewayConfig]?: NonNullable<GatewayConfig[Field]> | undefined } | undefined
  circuit?: { [Field in keyof CircuitConfig]?: CircuitConfig[Field] | undefined } | undefined
  http?: { [Field in keyof HttpConfig]?: NonNullable<HttpConfig[Field]> | undefined } | undefined
}

export interface ShardOptions {
  url: string
  /** Default: the schema of the configuration. */
  schema?: string | undefined
  /** In the ids of its jobs, never changed. Default: the position in the list, from 0. */
  number?: number | undefined
  /** Its jobs are run, and no new ones are enqueued there. */
  isDraining?: boolean | undefined
}

export interface ShardConfig {
  url: string
  schema: string
  number: number
  isDraining: boolean
  /** `url` is the coordinator of Citus: connections go to the node that has the schema. */
  isDirect?: boolean
}

export interface Config {
  /** Null for a single database. `databaseUrl` and `schema` are those of the first otherwise. */
  shards: ShardConfig[] | null
  /** The number of this database as one of several shards; null if it is the only one. */
  shard: number | null
  /** Where jobs without a dedupe key are enqueued. */
  shardRoute: 'owner' | 'queue' | 'spread'
  databaseUrl: string | null
  /** Default: `databaseUrl`. */
  migrateUrl: string | null
  /** For heartbeats and notifications of new jobs. Default: `databaseUrl`. */
  directUrl: string | null
  /** A standby for reads of the HTTP API. Default: `databaseUrl`. */
  readUrl: string | null
  schema: string
  /** Name of the profile. `profileOf` returns the profile itself. */
  profile: string
  /** The config file's own profile; null if a shipped one is in force. */
  ownProfile: Profile | null
  /** Only settings of the environment and the file: sent with each call over the stored policy, never written back. */
  policy: PolicyOverride
  /** For rows without `max_attempts`: a column default would otherwise hide the setting (OPS-8). */
  enqueueMaxAttempts: number | null
  /** From `policy`, else from the profile. A stored policy takes precedence over the profile. */
  heartbeatMs: number
  /** Same precedence as `heartbeatMs`. */
  sweepIntervalMs: number
  /** Most connections of a process for its calls. */
  connections: number
  workerConcurrency: number
  /** Version of the application, which its workers report. */
  appVersion: string | null
  /** Limit on one payload as JSON in UTF-8. */
  maxPayloadBytes: number
  /** `1` allows webhooks to private addresses and over plain HTTP. */
  webhookAllowPrivate: string
  gateway: GatewayConfig
  circuit: CircuitConfig
  http: HttpConfig
  /** Every setting of the profile with its source, secrets masked. */
  values: ConfigValue[]
  /** One line each; none prevents the start. */
  warnings: string[]
}

export interface GatewayConfig {
  url: string | null
  timeoutMs: number
  /** Address of the breaker's health probe. Default: `url`. */
  probeUrl: string | null
  uploadsDir: string | null
  resultsDir: string | null
}

export interface CircuitConfig {
  /** Number of last calls. */
  window: number
  /** Maximum age of calls; null for any age. */
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
