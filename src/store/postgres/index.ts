export { type Executor, type SqlClient, toExecutor } from './executor.ts'
export { type MigrateDownOptions, migrateDown } from './migrate/migrate-down.ts'
export {
  type MigrateStatusOptions,
  type MigrationStatus,
  migrateStatus,
  migrationSql,
  type TableStatus,
} from './migrate/migrate-status.ts'
export { type MigrateOptions, migrateUp } from './migrate/migrate-up.ts'
export { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
