export { readRoute } from './connection/connection-identity.ts'
export {
  type ConnectionPool,
  type ConnectionPoolOptions,
  openConnectionPool,
} from './connection/connection-pool.ts'
export { type Executor, type PgClient, type SqlClient, toExecutor } from './connection/executor.ts'
export { inTransaction } from './connection/transaction.ts'
export type { TransactionLimits } from './connection/transaction-limits.ts'
export {
  type DoctorReader,
  type DoctorReaderOptions,
  withDoctorReader,
} from './doctor-reader.ts'
export { type AttachPlan, type PlanStep, planAttach } from './migrate/attach-plan.ts'
export { type EngineUse, readEngineUse } from './migrate/inspect/engine-use.ts'
export { readTableShapes, type ShapedTable } from './migrate/inspect/table-shapes.ts'
export { type MigrateDownOptions, migrateDown } from './migrate/migrate-down.ts'
export {
  type MigrateStatusOptions,
  type MigrationStatus,
  migrateStatus,
  type TableStatus,
} from './migrate/migrate-status.ts'
export { type MigrateOptions, migrateUp } from './migrate/migrate-up.ts'
export { migrationSql } from './migrate/statements/migration-sql.ts'
export { planText, statementsOf, withLimits } from './migrate/statements/plan-text.ts'
export { rolesSql, supabaseSql } from './migrate/statements/roles-sql.ts'
export { createPostgresAccess } from './ports/access.ts'
export { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export {
  type RunningCounts,
  type ScannedTable,
  type ScanReport,
  scanDatabase,
} from './scan/scan-database.ts'
