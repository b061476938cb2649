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
  type CodeSet,
  converterCodes,
  criticalError,
  type ErrorCode,
  type ExitCode,
  errorCatalog,
  isJobError,
  isRetryableCode,
  isUnstuckError,
  JobError,
  type JobErrorCategory,
  type JobErrorOptions,
  type PublicCode,
  type PublicCodeOptions,
  permanentError,
  publicCodes,
  type RetryableOptions,
  toPublicCode,
  transientError,
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
export type { AttemptEnd, EventListener, EventName, RuntimeEvents } from './observe/events.ts'
export type { Logger } from './observe/log-events.ts'
export { type ClassifiedError, type ClassifyOptions, classifyError } from './policy/classify-error.ts'
export { nativePolicy, type Policy, type PolicyOverride } from './policy/policy.ts'
export { clipProfile } from './profile/clip.ts'
export { nativeProfile } from './profile/native.ts'
export type { IdType, LogicalColumn, Profile, TableProfile, TeamEvents } from './profile/profile.ts'
export {
  createGateway,
  type Gateway,
  type GatewayCall,
  type GatewayInit,
  type GatewayOptions,
  type GatewayOutcome,
} from './runtime/gateway.ts'
export type { AbortCause, Handler, HandlerOptions, JobContext } from './runtime/handler.ts'
export { JobAborted } from './runtime/handler.ts'
export {
  createJobService,
  type FinishDetails,
  type JobService,
  type ServiceResult,
} from './runtime/job-service.ts'
export { type Reaper, type ReaperOptions, type ReaperTable, startReaper } from './runtime/reaper.ts'
export { type RunPruneOptions, runPrune } from './runtime/run-prune.ts'
export { type ReaperResult, runSweep, type SweepReport } from './runtime/run-sweep.ts'
export type * from './store/job-store.ts'
export { type Unstuck, type UnstuckOptions, unstuck } from './unstuck.ts'
