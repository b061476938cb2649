export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './embedded-postgres-error.ts'
export type { PostgresServer, StopOptions } from './server/postgres-server.ts'
export { type StartPostgresOptions, startPostgres } from './start-postgres.ts'
