// The store port: every verb is one atomic step. Verbs that end an attempt take the lease and report a lost one as a value.
// It is composed of the ports in ./ports; each has its part of the suite in ./conformance, which every store passes.
import type { NewJob } from '../job/job.ts'
import type { StoreCapability } from './capability.ts'
import type { DependencyStore } from './ports/dependency-store.ts'
import type { DispatchStore } from './ports/dispatch-store.ts'
import type { LifecycleStore } from './ports/lifecycle-store.ts'
import type { ModeStore } from './ports/mode-store.ts'
import type { OperatingStore } from './ports/operating-store.ts'
import type { OperationStore } from './ports/operation-store.ts'
import type { ReadingStore } from './ports/reading-store.ts'
import type { ReapingStore } from './ports/reaping-store.ts'
import type { ScheduleStore } from './ports/schedule-store.ts'
import type { TrendStore } from './ports/trend-store.ts'
import type { WaitStore } from './ports/wait-store.ts'
import type { WebhookStore } from './ports/webhook-store.ts'
import type { WorkerStore } from './ports/worker-store.ts'

export type {
  BreakerMode,
  BreakerSettings,
  BreakerState,
  DependencyCall,
} from '../policy/dependency/breaker.ts'
export type { RateLimit, TokenGrant } from '../policy/dependency/rate-limit.ts'
export type { StoreCapability } from './capability.ts'
export type * from './ports/call-options.ts'
export type * from './ports/dependency-store.ts'
export type * from './ports/dispatch-store.ts'
export type * from './ports/lifecycle-store.ts'
export type * from './ports/mode-store.ts'
export type * from './ports/operating-store.ts'
export type * from './ports/operation-store.ts'
export type * from './ports/reading-store.ts'
export type * from './ports/reaping-store.ts'
export type * from './ports/schedule-store.ts'
export type * from './ports/trend-store.ts'
export type * from './ports/wait-store.ts'
export type * from './ports/webhook-store.ts'
export type * from './ports/worker-store.ts'
export type * from './shards.ts'

/** `Tx` is the caller's transaction that a verb may join; `never` for stores without transactions. */
export interface JobStore<Tx = never>
  extends LifecycleStore<Tx>,
    ReapingStore,
    ReadingStore<Tx>,
    OperatingStore<Tx>,
    DependencyStore,
    ScheduleStore,
    WorkerStore,
    ModeStore,
    DispatchStore,
    OperationStore,
    TrendStore,
    WaitStore,
    WebhookStore {
  /** Capabilities that this store lacks: their verbs throw NOT_SUPPORTED. Default: none. */
  readonly lacks?: ReadonlySet<StoreCapability>
  /** Absent if one engine holds all jobs. */
  readonly shards?: Shards<Tx>
}

/** The verbs of the heartbeat thread. */
export interface HeartbeatStore extends Pick<JobStore, 'heartbeatJobs' | 'readPolicy'> {
  /** A sign of life of a worker that has lost its session (LEASE-10). Absent for stores without sessions. */
  showLife?(workerId: string): Promise<void>
}

export interface Shard<Tx = never> {
  /** In the ids of its jobs: 0 to 4095, never changed. */
  readonly number: number
  /** For people, without a password. */
  readonly name: string
  readonly store: JobStore<Tx>
  /** Its jobs are run, and no new ones are enqueued there. */
  readonly isDraining: boolean
  /** False while a worker cannot extend leases there (C6). */
  canClaim: () => boolean
}

export interface Shards<Tx = never> {
  readonly all: readonly Shard<Tx>[]
  /** The shard of a job, by its id. */
  of(jobId: string): Shard<Tx>
  /** The shard where a new job belongs: by its dedupe key, else by the configured route. */
  forJob(job: NewJob): Shard<Tx>
  /** The shard of a key of the application's choice: always the same one, unless shards are added or drained. */
  forKey(key: string): Shard<Tx>
}
