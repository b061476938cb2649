export { createInstaller, type Deployment, type Installer, openDeployment } from './compose/index.ts'
export {
  type CircuitConfig,
  type Config,
  type ConfigFile,
  type ConfigProblem,
  type ConfigSource,
  type ConfigSources,
  type ConfigValue,
  defineConfig,
  type GatewayConfig,
  loadConfig,
} from './config/index.ts'
export {
  type CatalogEntry,
  type CodeSet,
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
  type ReleaseCause,
  type RetryableOptions,
  toPublicCode,
  transientError,
  UnstuckError,
  type UnstuckErrorOptions,
} from './errors/index.ts'
export {
  defineJobs,
  type JobDeclaration,
  type JobDeclarations,
  type JobToEnqueue,
  type JobType,
  job,
  type PayloadInputOf,
  type PayloadOf,
  type ResultInputOf,
  type ResultOf,
} from './job/declared-jobs.ts'
export type { EventData, EventType, JobEvent } from './job/event.ts'
export type {
  ErrorCategory,
  Job,
  JobErrorRecord,
  JobProgress,
  JobStatus,
  JsonValue,
  NewJob,
  NewJobFields,
  PayloadValue,
} from './job/job.ts'
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
export type { SchemaIssue, SchemaResult, StandardSchema } from './job/standard-schema.ts'
export type { AttemptEnd, EventListener, EventName, OutsideCall, RuntimeEvents } from './observe/events.ts'
export type { Logger } from './observe/logs/log-events.ts'
export type {
  BreakerReading,
  HealthReading,
  MetricReaders,
  MetricsOptions,
  QueueReading,
} from './observe/metrics/metric-readings.ts'
export { createMetrics, type Metrics } from './observe/metrics/metrics.ts'
export { type OtelMetrics, openOtelMetrics } from './observe/metrics/otel-metrics.ts'
export type { RuntimeEventSource } from './observe/metrics/record-events.ts'
export { openTracing, type Tracing } from './observe/tracing.ts'
export { type Explanation, explainJob } from './policy/explain/explain-job.ts'
export type { JobFacts } from './policy/explain/job-facts.ts'
export { nativePolicy, type Policy, type PolicyOverride } from './policy/policy.ts'
export { type ClassifiedError, type ClassifyOptions, classifyError } from './policy/retry/classify-error.ts'
export type { ExtendedProfile, TableDifferences } from './profile/extend-profile.ts'
export { nativeProfile } from './profile/native.ts'
export type { OwnProfile, OwnTable } from './profile/own-profile.ts'
export type { IdType, LogicalColumn, Profile, TableProfile, TeamEvents } from './profile/profile.ts'
export type {
  AbortCause,
  Handler,
  HandlerOptions,
  JobContext,
  ReleaseRequest,
} from './runtime/attempt/handler.ts'
export { JobAborted } from './runtime/attempt/handler.ts'
export type { BatchContext, BatchedJob, BatchHandler, BatchOptions } from './runtime/batch/batch-handler.ts'
export type { ProgressListener } from './runtime/calls/job-waiter.ts'
export { type FileHandlerOptions, fileHandler } from './runtime/child/child-handler.ts'
export {
  type DispatchAdapter,
  type Dispatcher,
  type DispatcherOptions,
  startDispatcher,
} from './runtime/dispatch/dispatcher.ts'
export type { DrainOptions, DrainReport } from './runtime/in-place/drain.ts'
export type { RunOnceOptions } from './runtime/in-place/run-once.ts'
export type { DependencyOptions } from './runtime/limits/dependencies.ts'
export {
  createGateway,
  type Gateway,
  type GatewayCall,
  type GatewayInit,
  type GatewayOptions,
  type GatewayOutcome,
} from './runtime/limits/gateway.ts'
export type { HandlerLimit } from './runtime/limits/token-limiter.ts'
export { type RunOperationOptions, runOperation } from './runtime/operations/run-operation.ts'
export { type SourceCheck, sourceExists } from './runtime/operations/source-exists.ts'
export {
  createJobService,
  type FinishDetails,
  type JobService,
  type ServiceResult,
} from './runtime/services/job-service.ts'
export { type Pruner, type PrunerOptions, startPruner } from './runtime/services/pruner.ts'
export { type Reaper, type ReaperOptions, type ReaperTable, startReaper } from './runtime/services/reaper.ts'
export { type RunPruneOptions, runPrune } from './runtime/services/run-prune.ts'
export { type ReaperResult, runSweep, type SweepReport } from './runtime/services/run-sweep.ts'
export type { RecurringJob } from './runtime/services/scheduler.ts'
export type * from './store/job-store.ts'
export type { LocalStore } from './store/local-store.ts'
export type { WaitOptions } from './unstuck/jobs/job-waits.ts'
export type {
  BatchHandlerOf,
  EventFields,
  FileHandler,
  HandlerOf,
  JobToSchedule,
} from './unstuck/typed-methods.ts'
export { type ShardHandle, type Unstuck, type UnstuckOptions, unstuck } from './unstuck/unstuck.ts'
