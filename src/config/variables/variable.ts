import type { Policy } from '../../policy/policy.ts'
import type { ProfileName } from '../../profile/shipped.ts'
import type { CircuitConfig, Config, FlagName, GatewayConfig, HttpConfig } from '../config.ts'
import type { ValueKind } from './value-kind.ts'

export type PolicySetting = `policy.${keyof Policy}` | `policy.stageFactors.${string}`

/** The path of a value in the configuration and in the config file. */
export type Setting =
  | PolicySetting
  | keyof Pick<
      Config,
      | 'databaseUrl'
      | 'migrateUrl'
      | 'directUrl'
      | 'readUrl'
      | 'schema'
      | 'profile'
      | 'connections'
      | 'workerConcurrency'
      | 'appVersion'
      | 'maxPayloadBytes'
      | 'webhookAllowPrivate'
      | 'shards'
      | 'shardRoute'
    >
  | 'preset'
  | 'shardDirect'
  | `gateway.${keyof GatewayConfig}`
  | `circuit.${keyof CircuitConfig}`
  | `http.${keyof HttpConfig}`

/** As written in the variable; null if nothing is in force. */
export type Default = string | null

export interface Variable {
  name: string
  meaning: string
  kind: ValueKind
  profiles: readonly ProfileName[]
  /** In force if nothing is set; per profile if they differ. */
  default: Default | Partial<Record<ProfileName, Default>>
  /** Empty if it is no setting itself but locates them. */
  sets: readonly Setting[]
  requirement: string
  flag?: FlagName
  /** Printed without its secret part, or not at all. */
  isSecret?: true
  /** One part of a connection, joined with the others. */
  isPart?: true
  /** Profiles that refuse to start without it. */
  requiredBy?: readonly ProfileName[]
  /** Proposed instead of an invalid value. */
  proposal?: string
}
