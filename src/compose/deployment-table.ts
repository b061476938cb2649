// The tables of a deployment, and the state of a server beside them.
import type { TableProfile } from '../profile/profile.ts'
import type { GoneWorkers } from '../runtime/services/reaper.ts'
import type { AccessStore } from '../store/access-store.ts'
import type { JobStore } from '../store/job-store.ts'
import type { SqlClient } from '../store/postgres/connection/executor.ts'

export interface DeploymentTable {
  name: string
  table: TableProfile
  store: JobStore<SqlClient>
  /** Watches for workers that are gone, for a reaper (LEASE-10). Absent for stores without sessions. */
  presence?: GoneWorkers
  /** Sessions that watch for workers that are gone. Absent for stores without sessions. */
  countWatchers?: () => Promise<number>
}

export interface Deployment {
  tables: [DeploymentTable, ...DeploymentTable[]]
  /** The tables of each database alone, for reapers: those of a shard are named `jobs:1`. */
  parts: [DeploymentTable, ...DeploymentTable[]]
  /** Access to the whole install, for the HTTP API. */
  access: AccessStore
  /** The same in read-only transactions of 2 s at most, for people who look: on a standby if one is configured. */
  reading: Pick<Deployment, 'tables' | 'access'>
  /** The same on the database of the jobs: the live view must not lag behind. */
  live: Pick<Deployment, 'tables' | 'access'>
  close(): Promise<void>
}
