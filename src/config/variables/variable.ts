import type { ProfileName } from '../../profile/profile.ts'
import type { ValueKind } from './value-kind.ts'

/** The shipped profiles and those that the documents describe. */
export const documentedProfiles = ['native', 'clip', 'embedding', 'executor', 'converter'] as const
export type DocumentedProfile = ProfileName | (typeof documentedProfiles)[number]

/** Where a value goes: the path of a field of the configuration, and of the config file. */
export type Setting = PolicySetting | OtherSetting

export type PolicySetting =
  | 'policy.sweepIntervalMs'
  | 'policy.heartbeatMs'
  | 'policy.defaultLeaseMs'
  | 'policy.maxRuntimeMs'
  | 'policy.stageFactors.clip'
  | 'policy.stageFactors.asr'
  | 'policy.stageFactors.burnin'
  | 'policy.maxAttempts'
  | 'policy.reapBackoffBaseMs'
  | 'policy.reapBackoffMaxMs'
  | 'policy.failureBackoffBaseMs'
  | 'policy.failureBackoffMaxMs'
  | 'policy.failureBackoffJitterMs'
  | 'policy.retentionDays'
  | 'policy.notify'

type OtherSetting =
  | 'databaseUrl'
  | 'migrateUrl'
  | 'directUrl'
  | 'schema'
  | 'profile'
  | 'preset'
  | 'workerConcurrency'
  | 'maxPayloadBytes'
  | 'webhookAllowPrivate'
  | 'gateway.url'
  | 'gateway.timeoutMs'
  | 'gateway.probeUrl'
  | 'gateway.uploadsDir'
  | 'gateway.resultsDir'
  | 'circuit.window'
  | 'circuit.windowMs'
  | 'circuit.failThreshold'
  | 'circuit.cooldownMs'
  | HttpSetting

type HttpSetting =
  | 'http.host'
  | 'http.port'
  | 'http.readOnly'
  | 'http.environment'
  | 'http.publicMetrics'
  | 'http.jwtIssuer'
  | 'http.jwtAudience'
  | 'http.jwtJwksUrl'
  | 'http.jwtSecret'
  | 'http.jwtOwnerClaim'
  | 'http.proxyHeader'
  | 'http.proxyFrom'
  | 'http.proxyRoles'

/** The command line's options, which win over every variable. */
export type FlagName = 'databaseUrl' | 'directUrl' | 'schema' | 'profile' | 'intervalSec' | 'concurrency'

/** As one would write it in the variable; null where nothing is in force. */
export type Default = string | null

export interface Variable {
  name: string
  meaning: string
  kind: ValueKind
  profiles: readonly DocumentedProfile[]
  /** What is in force where nothing is set; per profile where they differ. */
  default: Default | Partial<Record<DocumentedProfile, Default>>
  /** Empty where it is no setting, but says where settings are. */
  sets: readonly Setting[]
  requirement: string
  flag?: FlagName
  /** Shown without its secret part, or not at all. */
  isSecret?: true
  /** Not a value of its own: one part of a connection, joined with the others. */
  isPart?: true
  /** Profiles that refuse to start without it. */
  requiredBy?: readonly DocumentedProfile[]
  /** A value to propose where a bad one was set. */
  proposal?: string
}
