// Composes a deployment from a configuration. Only this folder names concrete stores.
export { type CallersPool, requirePool, requireUrlOfPool } from '../store/postgres/connection/callers-pool.ts'
export type { PgClient, SqlClient } from '../store/postgres/connection/executor.ts'
export type { ServerAddress } from '../store/postgres/connection/schema-owners.ts'
export type { AttachPlan } from '../store/postgres/migrate/attach-plan.ts'
export type { EngineUse } from '../store/postgres/migrate/inspect/engine-use.ts'
export type { ShapedTable } from '../store/postgres/migrate/inspect/table-shapes.ts'
export { planText, statementsOf, withLimits } from '../store/postgres/migrate/statements/plan-text.ts'
export type { ScannedTable, ScanReport } from '../store/postgres/scan/scan-database.ts'
export { requireHome, requireShard } from '../store/sharded/routing/require-shard.ts'
export { findDirectUrl, openDeployment } from './deployment.ts'
export type { Deployment, DeploymentTable } from './deployment-table.ts'
export {
  type Database,
  type DevelopmentDatabase,
  openDatabase,
  openDevelopmentDatabase,
} from './development-database.ts'
export { diagnoseAll } from './diagnose-all.ts'
export { findTables, scan } from './inspect-database.ts'
export { createInstaller, type Installer } from './installer.ts'
export { type Listener, type ListenToWaitsOptions, listen, listenToWaits } from './listen.ts'
export { openStore } from './open-store.ts'
export { type OpenTable, openTable } from './open-table.ts'
export { holdPresence } from './presence/hold-presence.ts'
export { type OpenShard, type OpenShards, openShards } from './shards/open-shards.ts'
