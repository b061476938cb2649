export { type Executor, type SqlClient, toExecutor } from './executor.ts'
export { type MigrateDownOptions, migrateDown } from './migrate/migrate-down.ts'
export {
  type MigrateStatusOptions,
  type MigrationStatus,
  migrateStatus,
  type TableStatus,
} from './migrate/migrate-status.ts'
export { type MigrateOptions, migrateUp } from './migrate/migrate-up.ts'
export { migrationSql } from './migrate/migration-sql.ts'
export { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export { inTransaction } from './transaction.ts'
