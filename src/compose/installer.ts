// Installs, inspects and removes the engine's schema.
import { type Config, profileOf } from '../config/index.ts'
import type { Feature } from '../profile/profile.ts'
import { deferNeo4jInstaller, isNeo4jUrl } from '../store/neo4j/deferred-store.ts'
import type { AttachPlan } from '../store/postgres/migrate/attach-plan.ts'
import type { EngineUse } from '../store/postgres/migrate/inspect/engine-use.ts'
import type { MigrateDownOptions } from '../store/postgres/migrate/migrate-down.ts'
import type { MigrationStatus } from '../store/postgres/migrate/migrate-status.ts'
import { migrationSql } from '../store/postgres/migrate/statements/migration-sql.ts'
import { rolesSql } from '../store/postgres/migrate/statements/roles-sql.ts'
import { loadPostgres } from './load-postgres.ts'
import { requireUrl } from './require-url.ts'

export interface Installer {
  /** Describes where it installs. */
  place: string
  /** Describes what remains of the jobs after `down`. */
  keptJobs: string
  /** `phases` are steps of the profile's own plan, if it has one. Default: all. */
  up(onStep?: (step: string) => void, phases?: number[], options?: UpOptions): Promise<void>
  /** The statements `up` would run on this database. Read-only. */
  plan(options?: AdditionOptions & { isConcurrent?: boolean }): Promise<AttachPlan>
  /** Returns false if nothing was installed. */
  down(options: Pick<MigrateDownOptions, 'isPurge' | 'only' | 'onStep'>): Promise<boolean>
  /** Who depends on the engine and would be affected by `down`. Read-only. */
  readUse(): Promise<EngineUse>
  status(): Promise<MigrationStatus>
  /** The statements `up` would run on an empty database. Needs no connection. */
  sql(): string
  /** The worker role and its grants, or the grants of another role. Needs no connection. */
  rolesSql(role?: string): string
}

export interface AdditionOptions {
  /** Also creates the indexes that the team's document names. */
  hasDocumentIndexes?: boolean
  /** Features whose columns are added, beside those that the profile uses. */
  features?: readonly Feature[]
}

export interface UpOptions extends AdditionOptions {
  /** Tables attached by this run start in observe mode instead of reap. */
  startsObserved?: boolean
  /** Distributes the schema over a Citus cluster. */
  distributes?: boolean
}

export function createInstaller(config: Config, url?: string, profile = profileOf(config)): Installer {
  const { schema } = config
  const address = () => url ?? requireUrl(config.migrateUrl)
  const target = () => ({ databaseUrl: address(), schema, profile })
  const numbered = config.shard === null ? {} : { shard: config.shard }
  if (isNeo4jUrl(url ?? config.migrateUrl)) return deferNeo4jInstaller(address(), profile.tables[0])
  return {
    place: config.shard === null ? `schema ${schema}` : `schema ${schema} of shard ${config.shard}`,
    keptJobs: 'Native jobs, if there are any, were kept: unstuck migrate down --purge drops them.',
    up: async (onStep, phases, options) =>
      (await loadPostgres()).migrateUp({
        ...target(),
        ...numbered,
        ...(onStep === undefined ? {} : { onStep }),
        ...(phases === undefined ? {} : { phases }),
        ...options,
      }),
    plan: async (options) => (await loadPostgres()).planAttach({ ...target(), ...options }),
    down: async (options) => (await loadPostgres()).migrateDown({ ...target(), ...options }),
    readUse: async () => (await loadPostgres()).readEngineUse(address(), schema),
    status: async () => (await loadPostgres()).migrateStatus(target()),
    sql: () => migrationSql(schema, profile, config.shard ?? 0),
    rolesSql: (role) => rolesSql(schema, profile, role),
  }
}
