export { createInstaller, type Deployment, type Installer, openDeployment } from './compose.ts'
export {
  type CircuitConfig,
  type Config,
  type ConfigFile,
  type ConfigProblem,
  type ConfigSource,
  type ConfigSources,
  type ConfigValue,
  type GatewayConfig,
  loadConfig,
} from './config/index.ts'
export {
  type CatalogEntry,
  type ErrorCode,
  type ExitCode,
  errorCatalog,
  isUnstuckError,
  UnstuckError,
  type UnstuckErrorOptions,
} from './errors/index.ts'
export type { EventData, EventType, JobEvent } from './job/event.ts'
export type { ErrorCategory, Job, JobErrorRecord, JobStatus, JsonValue, NewJob } from './job/job.ts'
export type { ClaimedJob, HeartbeatAnswer, Lease } from './job/lease.ts'
export type {
  CancelOutcome,
  CompleteOutcome,
  EnqueueOutcome,
  FailOutcome,
  ReapAction,
  ReleaseOutcome,
  RetryOutcome,
} from './job/outcome.ts'
export { nativePolicy, type Policy, type PolicyOverride } from './policy/policy.ts'
export { clipProfile } from './profile/clip.ts'
export { nativeProfile } from './profile/native.ts'
export type { IdType, LogicalColumn, Profile, TableProfile, TeamEvents } from './profile/profile.ts'
export {
  createJobService,
  type FinishDetails,
  type JobService,
  type ServiceResult,
} from './runtime/job-service.ts'
export { type Reaper, type ReaperOptions, type ReaperTable, startReaper } from './runtime/reaper.ts'
export { type ReaperResult, runSweep, type SweepReport } from './runtime/run-sweep.ts'
export type * from './store/job-store.ts'
