// Generated from the contract of the HTTP API by `npm run docs:generate`. Change src/http/contract and the routes.

export interface Schemas {
  Probe: { status: "ok" | "unavailable" }
  Problem: { type: string; title: string; status: number; code: string; detail: string; hint?: string; is_retryable: boolean; errors?: { path: string; message: string }[]; token?: { text: string; position: number }; why?: { code: string; message: string }[]; catalog_code?: string }
  SessionRequest: { token: string }
  JobList: { db_now: string; table: string; jobs: Schemas['Job'][]; next_cursor: string | null; searched_to: string | null }
  Job: { id: string; table: string; type: string; queue: string; status: "waiting" | "running" | "succeeded" | "dead" | "cancelled"; priority: number; owner: string | null; group: string | null; dedupe_key: string | null; stage: string | null; expected_duration_ms: number | null; created_at: string; updated_at: string | null; queued_at: string | null; run_at: string | null; started_at: string | null; finished_at: string | null; last_attempt_at: string | null; worker_id: string | null; lease_expires_at: string | null; lease_remaining_ms: number | null; heartbeat_at: string | null; deadline_at: string | null; fence: string; attempt: number; failures: number; crashes: number; timeouts: number; releases: number; interruptions: number; max_attempts: number | null; generation: number; cancel_requested_at: string | null; reaped_at: string | null; error: { code: string | null; reason: string | null; category: string | null; attempt: number | null } | null; error_detail?: { code: string | null; reason: string | null; stack?: string | null } | null; cause_id?: string | null; traceparent: string | null; backoff_steps_ms: number[] | null; expires_at: string | null; progress: { value: number; text: string | null } | null; payload?: unknown; result?: unknown }
  JobAnswer: { db_now: string; job: Schemas['Job']; retry: { is_allowed: boolean; reason: string | null } }
  EventList: { db_now: string; events: Schemas['JobEvent'][] }
  JobEvent: { id: string; job_id: string; table: string; type: string; at: string; details: Record<string, unknown> }
  AttemptList: { db_now: string; attempts: Schemas['Attempt'][] }
  Attempt: { attempt: number; worker_id: string | null; stage: string | null; started_at: string | null; ended_at: string | null; duration_ms: number | null; outcome: string; code: string | null; category: string | null; reason: string | null; last_heartbeat_at: string | null; next_run_at: string | null }
  WhyAnswer: { db_now: string; id: string; table: string; verdict: "ended" | "running" | "overdue" | "blocked" | "runnable"; sentence: string; runs_in_ms: number | null; attempt: number; max_attempts: number; reasons: ({ code: string; is_blocking: boolean; message: string; until_ms: number | null; remedies: Schemas['Remedy'][] })[] }
  Remedy: { act: "sweep" | "resume-queue" | "resume-breaker" | "retry" | "raise-attempts" | "run-now" | "cancel" | "drain-worker" | "start-worker" | "start-reaper" | "set-mode" | "end-session"; subject: string; effect: string; command: string }
  EnqueueAnswer: { db_now: string; id: string; table: string; outcome: "created" | "duplicate" | "replaced" }
  NewJob: { type: string; payload?: unknown; queue?: string; priority?: number; delay_ms?: number; run_at?: string; stage?: string; expected_duration_ms?: number; max_attempts?: number; backoff_steps_ms?: number[]; expires_at?: string; ttl_ms?: number; owner?: string; group?: string; dedupe_key?: string; dedupe_for_ms?: number; dedupe_replace?: boolean; traceparent?: string; table?: string }
  ChangeAnswer: { db_now: string; id: string; table: string; outcome: string; next: string | null }
  RetryRequest: { reset_attempts?: boolean; now?: boolean; reason?: string }
  ChangeRequest: { reason?: string }
  LeaseList: { db_now: string; leases: Schemas['RunningJob'][]; is_complete: boolean }
  RunningJob: { id: string; table: string; type: string; queue: string; stage: string | null; owner: string | null; worker_id: string | null; fence: string; attempt: number; started_at: string | null; heartbeat_at: string | null; lease_expires_at: string | null; lease_remaining_ms: number | null; deadline_at: string | null }
  ClaimAnswer: { db_now: string; table: string; jobs: Schemas['ClaimedJob'][] }
  ClaimedJob: { id: string; lease_id: string; type: string; queue: string; payload?: unknown; priority: number; stage: string; owner: string | null; fence: string; attempt: number; failures: number; crashes: number; timeouts: number; max_attempts: number; generation: number; created_at: string; started_at: string; expected_duration_ms: number | null; lease_ms: number; deadline_ms: number | null; traceparent: string | null; is_rescue: boolean }
  ClaimRequest: { worker_id: string; queues: string[]; limit?: number; types?: string[]; lease_ms?: number; table?: string }
  HeartbeatAnswer: { db_now: string; answers: ({ id: string; lease_id: string; answer: "kept" | "busy" | "cancel-asked" | "past-deadline" | "finished" | "lost" })[]; reaper_age_ms: number | null }
  HeartbeatRequest: { leases: { id: string; lease_id: string }[]; lease_ms?: number; table?: string }
  ProgressAnswer: { db_now: string; answers: { id: string; lease_id: string; is_kept: boolean }[] }
  ProgressRequest: { reports: ({ id: string; lease_id: string; value: number; text?: string | null })[]; table?: string }
  OutcomeAnswer: { db_now: string; id: string; outcome: string; retry_in_ms?: number | null }
  CompleteRequest: { id: string; lease_id: string; result?: unknown; table?: string }
  FailRequest: { id: string; lease_id: string; code?: string; reason?: string; category?: "TRANSIENT" | "PERMANENT" | "CRITICAL"; stack?: string; is_retryable?: boolean; retry_in_ms?: number; cause?: "failure" | "timeout"; table?: string }
  ReleaseRequest: { id: string; lease_id: string; delay_ms?: number; cause?: "release" | "interruption"; reason?: string; table?: string }
  DeadLetterList: { db_now: string; groups: Schemas['DeadLetterGroup'][]; is_complete: boolean }
  DeadLetterGroup: { cause_id: string; table: string; code: string | null; category: string | null; jobs: number; first_at: string; last_at: string; example_reason: string | null; example_job_id: string; max_crashes: number; state: "new" | "investigating" | "resolved" | "ignored"; changed_by: string | null; changed_at: string | null; state_reason: string | null; back_since: string | null }
  DeadLetterAnswer: { db_now: string; group: Schemas['DeadLetterGroup'] }
  MarkCauseRequest: { state: "new" | "investigating" | "resolved" | "ignored"; reason?: string }
  OperationAnswer: { db_now: string; operation: Schemas['Operation'] }
  Operation: { id: string; action: "retry" | "run-now" | "cancel" | "discard" | "redrive"; table: string; q: string; cause_id: string | null; actor: string; reason: string | null; state: "planned" | "running" | "done" | "stopped" | "failed"; phase: "canary" | "rest" | null; total: number; at_least: string[]; changed: number; refused: number; succeeded: number; failed: number; stopped: string | null; as_of: string; began_at: string; ended_at: string | null; ends?: Schemas['OperationEnds'] }
  OperationEnds: { waiting: number; running: number; succeeded: number; dead: number; cancelled: number; deleted: number; is_complete: boolean }
  RedriveRequest: { canary?: number; rate_per_s?: number; limit?: number; expect?: number; keep_attempts?: boolean; reason?: string; dry_run?: boolean }
  OperationRequest: { action: "retry" | "run-now" | "cancel" | "discard" | "redrive"; q: string; table?: string; as_of?: string; canary?: number; rate_per_s?: number; limit?: number; expect?: number; keep_attempts?: boolean; reason?: string; dry_run?: boolean }
  OperationList: { db_now: string; operations: Schemas['Operation'][]; next_cursor: string | null }
  OperationJobList: { db_now: string; jobs: Schemas['OperationJob'][]; next_cursor: string | null }
  OperationJob: { job_id: string; position: number; outcome: string | null; status: "waiting" | "running" | "succeeded" | "dead" | "cancelled" | "deleted" }
  QueueList: { db_now: string; queues: Schemas['Queue'][]; is_complete: boolean }
  Queue: { queue: string; table: string; waiting: number; due: number; running: number; oldest_due_ms: number | null; released_often: number; is_paused: boolean; paused_at: string | null; paused_for_ms: number | null; paused_by: string | null; pause_reason: string | null; dependency: string | null; breaker_state: string | null; concurrency: number | null; group_concurrency: number | null; group_order: "fifo" | null; remedy: Schemas['Remedy'] & (Record<string, unknown> | null); at_least: string[] }
  BreakerList: { db_now: string; breakers: Schemas['Breaker'][] }
  Breaker: { name: string; state: "closed" | "open" | "half-open" | "held"; since: string; changed_by: string | null; reason: string | null; calls: number; failures: number; successes: number; probing: number; reopens: number; unheard: number; next_probe_in_ms: number | null; held_for_ms: number | null; last_calls: ({ is_failure: boolean; at: string | null })[]; settings: Record<string, unknown>; queues: { attachment: string; queue: string }[]; banner: string | null; resumes: boolean; remedy: Schemas['Remedy'] & (Record<string, unknown> | null) }
  ScheduleList: { db_now: string; schedules: Schemas['Schedule'][] }
  Schedule: { name: string; table: string; cron: string; timezone: string; overlap: string; type: string; queue: string | null; next_run_at: string | null; due_in_ms: number | null; last_run_at: string | null; last_job_id: string | null; last_skipped_at: string | null }
  PauseAnswer: { db_now: string; queue: string; table: string; is_paused: boolean; is_changed: boolean }
  HoldRequest: { reason?: string; duration_ms?: number }
  LimitAnswer: { db_now: string; queue: string; table: string; is_changed: boolean }
  LimitRequest: { concurrency?: number; group_concurrency?: number; group_order?: "fifo"; reason?: string }
  BreakerAnswer: { db_now: string; breaker: Schemas['Breaker'] }
  SweepAnswer: { db_now: string; table: string; dry_run: boolean; requeuedIds: string[]; failedIds: string[]; reaped: Schemas['ReapedJob'][]; held: number; hold_reason: string | null }
  ReapedJob: { id: string; action: "requeued" | "dead" | "cancelled" | "held" | "reported"; reason: string; stage: string | null; attempt: number; worker_id: string | null; retry_in_ms: number | null }
  SweepRequest: { dry_run?: boolean; reason?: string; table?: string }
  TrendList: { db_now: string; trends: Schemas['Trend'][] }
  Trend: { table: string; at: string; queue: string; type: string; enqueued: number; completed: number; failed: number; rescued: number; wait_p50_ms: number | null; wait_p95_ms: number | null; run_p50_ms: number | null; run_p95_ms: number | null; is_bounded: boolean }
  Health: { db_now: string; is_healthy: boolean; tables: Schemas['TableHealth'][] }
  TableHealth: { table: string; waiting: number; due: number; running: number; overdue: number; oldest_overdue_ms: number | null; oldest_due_ms: number | null; unjudged: number; released_often: number; reaper_age_ms: number | null; sweep_interval_ms: number; hold_reason: string | null; hidden: { role: string; table: string; is_all: boolean; fix: string } | null; silent_shards: string[]; is_healthy: boolean; is_reaper_late: boolean; remedies: Schemas['Remedy'][]; at_least: string[] }
  Me: { db_now: string; id: string; scopes: string[]; owner: string | null; is_read_only: boolean; commands: Record<string, { is_allowed: boolean; reason: string | null }> }
  ConfigAnswer: { db_now: string; version: string; profile: string; schema: string; tables: string[]; environment: string | null; is_read_only: boolean; values: { name: string; value?: unknown; source: string }[] }
  DoctorAnswer: { db_now: string; problems: number; warnings: number; findings: ({ check: string; level: "fine" | "warning" | "problem"; message: string; fix: string | null })[] }
  TokenList: { db_now: string; tokens: Schemas['Token'][] }
  Token: { name: string; scopes: string[]; owner: string | null; created_at: string; created_by: string | null; expires_at: string | null; revoked_at: string | null }
  NewTokenAnswer: { db_now: string; token: Schemas['Token']; secret: string }
  NewToken: { name: string; role?: "viewer" | "support" | "operator" | "admin"; scopes?: string[]; owner?: string; expires_in_ms?: number }
  TokenAnswer: { db_now: string; token: Schemas['Token'] }
  WorkerList: { db_now: string; fleet: Schemas['Fleet']; workers: Schemas['Worker'][] }
  Fleet: { workers: number; draining: number; starting: number; versions: ({ app_version: string | null; workers: number })[]; is_deploying: boolean; text: string | null }
  Worker: { id: string; table: string; state: "live" | "late" | "silent" | "gone" | "draining" | "stopped" | "zombie"; host: string | null; pid: number | null; version: string | null; app_version: string | null; types: string[]; concurrency: number; running: number; leases: number; claimed_ahead: number; loop_lag_ms: number | null; seen_ms: number; started_at: string; seen_at: string; draining_at: string | null; stopped_at: string | null; exit_code: number | null; drain_requested_at: string | null; drain_requested_by: string | null; drain_reason: string | null; presence: "present" | "absent" | "gone" | "pooled" | "off"; report_times: string[] }
  DrainAnswer: { db_now: string; id: string; table: string; outcome: "asked" | "already-asked" }
  SloAnswer: { db_now: string; tables: Schemas['Slo'][] }
  Slo: { table: string; rescued: number; in_time: number; share: number | null; is_kept: boolean; p50_ms: number | null; p95_ms: number | null; worst_ms: number | null; promise_ms: number; oldest_stuck_ms: number | null; stale_leases: number; by_cause: { crash: number; timeout: number; 'worker-gone': number } }
  WebhookList: { db_now: string; webhooks: Schemas['Webhook'][] }
  Webhook: { id: string; table: string; url: string; events: string[]; is_active: boolean; inactive_reason: string | null; created_at: string; created_by: string | null; waiting: number }
  NewWebhookAnswer: { db_now: string; webhook: Schemas['Webhook']; secret: string }
  NewWebhook: { url: string; events?: string[]; reason?: string; table?: string }
  WebhookAnswer: { db_now: string; webhook: Schemas['Webhook'] }
  WebhookChange: { is_active: boolean; reason?: string }
  WebhookRemovedAnswer: { db_now: string; id: string; table: string }
  DeliveryList: { db_now: string; deliveries: Schemas['Delivery'][] }
  Delivery: { id: string; table: string; webhook_id: string; job_id: string; type: string; status: "waiting" | "delivered" | "failed"; tries: number; next_try_in_ms: number | null; last_status: number | null; last_error: string | null; created_at: string; delivered_at: string | null }
  RedeliverAnswer: { db_now: string; id: string; table: string }
  ReclaimList: { db_now: string; reclaims: Schemas['Reclaim'][]; next_cursor: string | null }
  Reclaim: { id: string; job_id: string; table: string; type: string | null; stage: string | null; attempt: number; worker_id: string | null; reaped_at: string; action: "requeued" | "dead" | "cancelled"; reason: string; last_heartbeat_at: string | null; lease_expires_at: string | null; lateness_ms: number | null; dark_ms: number | null; claimed_again_at: string | null; claimed_by: string | null; next_run_at: string | null }
  StaleList: { db_now: string; jobs: Schemas['StaleJob'][]; count: number; is_complete: boolean }
  StaleJob: { id: string; table: string; type: string; stage: string | null; worker_id: string | null; attempt: number; heartbeat_at: string | null; ended_at: string | null; overdue_ms: number | null; lease_ms: number; is_past_twice_lease: boolean; why: { code: "ROW_LOCKED" | "LEASE_UNKNOWN" | "TYPE_WITHOUT_TTL" | "NO_REAPER" | "HELD" | "OBSERVED" | "LEASE_OVER_AWAITING_REAPER"; message: string }; remedy: Schemas['Remedy'] & (Record<string, unknown> | null); locked_by: { pid: number; application: string | null; state: string | null; open_ms: number | null } | null }
  StaleValidation: { db_now: string; is_valid: boolean; count: number; jobs: Schemas['StaleJob'][] }
  SweepList: { db_now: string; last: Schemas['LastSweep'][]; sweeps: Schemas['Sweep'][]; next_cursor: string | null }
  LastSweep: { table: string; reaper_id: string | null; swept_at: string; duration_ms: number; found: number; requeued: number; dead: number; cancelled: number; skipped: number; held: number }
  Sweep: { id: string; table: string; began_at: string; reaper_id: string | null; actor: string | null; note: string | null; duration_ms: number; found: number; requeued: number; dead: number; cancelled: number; skipped: number; held: number; hold_reason: string | null }
  RateLimitList: { db_now: string; rate_limits: Schemas['RateLimit'][]; is_complete: boolean }
  RateLimit: { key: string; name: string; owner: string | null; rate_per_s: number | null; burst: number | null; tokens: number | null; next_token_in_ms: number | null; full_in_ms: number; used_at: string | null }
  AuditList: { db_now: string; entries: Schemas['AuditEntry'][]; next_cursor: string | null }
  AuditEntry: { id: string; at: string; type: string; actor: string; reason: string | null; table: string | null; job_id: string | null; subject: string | null; details: Record<string, unknown> }
  ProfileList: { db_now: string; profiles: Schemas['TableProfile'][] }
  TableProfile: { table: string; profile: string; relation: string; mode: "observe" | "reap" | "enforce"; on_foreign_settle: "record" | "refuse"; mode_since: string | null; attached_at: string }
}

export interface Operations {
  healthz: { answer: Schemas['Probe'] }
  readyz: { answer: Schemas['Probe'] }
  beginSession: { body: Schemas['SessionRequest']; answer: { db_now: string; id: string; scopes: string[]; owner: string | null } }
  endSession: { answer: null }
  readMetrics: { answer: string }
  listJobs: { query?: { q?: string; cursor?: string; limit?: number; table?: string; with_payload?: string }; answer: Schemas['JobList'] }
  enqueueJob: { headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body: Schemas['NewJob']; answer: Schemas['EnqueueAnswer'] }
  readJob: { params: { id: string }; query?: { table?: string }; answer: Schemas['JobAnswer'] }
  discardJob: { params: { id: string }; query?: { table?: string; reason?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; answer: Schemas['ChangeAnswer'] }
  listEvents: { params: { id: string }; query?: { table?: string }; answer: Schemas['EventList'] }
  listAttempts: { params: { id: string }; query?: { table?: string }; answer: Schemas['AttemptList'] }
  explainJob: { params: { id: string }; query?: { table?: string }; answer: Schemas['WhyAnswer'] }
  retryJob: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['RetryRequest']; answer: Schemas['ChangeAnswer'] }
  retryOwnJob: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['ChangeRequest']; answer: Schemas['ChangeAnswer'] }
  cancelJob: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['ChangeRequest']; answer: Schemas['ChangeAnswer'] }
  listLeases: { query?: { limit?: number; table?: string }; answer: Schemas['LeaseList'] }
  claimJobs: { body: Schemas['ClaimRequest']; answer: Schemas['ClaimAnswer'] }
  heartbeatJobs: { body: Schemas['HeartbeatRequest']; answer: Schemas['HeartbeatAnswer'] }
  reportProgress: { body: Schemas['ProgressRequest']; answer: Schemas['ProgressAnswer'] }
  completeJob: { body: Schemas['CompleteRequest']; answer: Schemas['OutcomeAnswer'] }
  failJob: { body: Schemas['FailRequest']; answer: Schemas['OutcomeAnswer'] }
  releaseJob: { body: Schemas['ReleaseRequest']; answer: Schemas['OutcomeAnswer'] }
  listDeadLetters: { query?: { limit?: number; table?: string }; answer: Schemas['DeadLetterList'] }
  readDeadLetters: { params: { cause_id: string }; query?: { table?: string }; answer: Schemas['DeadLetterAnswer'] }
  markCause: { params: { cause_id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body: Schemas['MarkCauseRequest']; answer: Schemas['DeadLetterAnswer'] }
  redrive: { params: { cause_id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body: Schemas['RedriveRequest']; answer: Schemas['OperationAnswer'] }
  beginOperation: { headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body: Schemas['OperationRequest']; answer: Schemas['OperationAnswer'] }
  listOperations: { query?: { limit?: number; cursor?: string; table?: string }; answer: Schemas['OperationList'] }
  readOperation: { params: { id: string }; answer: Schemas['OperationAnswer'] }
  listOperationJobs: { params: { id: string }; query?: { limit?: number; cursor?: string }; answer: Schemas['OperationJobList'] }
  abortOperation: { params: { id: string }; answer: Schemas['OperationAnswer'] }
  listQueues: { query?: { table?: string }; answer: Schemas['QueueList'] }
  listBreakers: { answer: Schemas['BreakerList'] }
  listSchedules: { query?: { table?: string }; answer: Schemas['ScheduleList'] }
  pauseQueue: { params: { name: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['HoldRequest']; answer: Schemas['PauseAnswer'] }
  resumeQueue: { params: { name: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['HoldRequest']; answer: Schemas['PauseAnswer'] }
  limitQueue: { params: { name: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['LimitRequest']; answer: Schemas['LimitAnswer'] }
  holdBreaker: { params: { name: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['HoldRequest']; answer: Schemas['BreakerAnswer'] }
  resumeBreaker: { params: { name: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['HoldRequest']; answer: Schemas['BreakerAnswer'] }
  sweep: { headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['SweepRequest']; answer: Schemas['SweepAnswer'] }
  listTrends: { query?: { table?: string; hours?: number; span?: "minute" | "hour" | "total"; queue?: string; type?: string; limit?: number }; answer: Schemas['TrendList'] }
  readHealth: { query?: { table?: string }; answer: Schemas['Health'] }
  readMe: { answer: Schemas['Me'] }
  readConfig: { answer: Schemas['ConfigAnswer'] }
  runDoctor: { answer: Schemas['DoctorAnswer'] }
  listTokens: { answer: Schemas['TokenList'] }
  createToken: { body: Schemas['NewToken']; answer: Schemas['NewTokenAnswer'] }
  revokeToken: { params: { name: string }; answer: Schemas['TokenAnswer'] }
  listWorkers: { query?: { table?: string }; answer: Schemas['WorkerList'] }
  drainWorker: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body?: Schemas['ChangeRequest']; answer: Schemas['DrainAnswer'] }
  readSlo: { query?: { table?: string; window_ms?: number }; answer: Schemas['SloAnswer'] }
  listWebhooks: { query?: { table?: string }; answer: Schemas['WebhookList'] }
  addWebhook: { body: Schemas['NewWebhook']; answer: Schemas['NewWebhookAnswer'] }
  switchWebhook: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; body: Schemas['WebhookChange']; answer: Schemas['WebhookAnswer'] }
  removeWebhook: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; answer: Schemas['WebhookRemovedAnswer'] }
  listDeliveries: { query?: { table?: string; webhook_id?: string; status?: "waiting" | "delivered" | "failed"; limit?: number }; answer: Schemas['DeliveryList'] }
  redeliver: { params: { id: string }; query?: { table?: string }; headers?: { 'if-match'?: string; 'idempotency-key'?: string }; answer: Schemas['RedeliverAnswer'] }
  listReclaims: { query?: { table?: string; worker_id?: string; stage?: string; cursor?: string; limit?: number }; answer: Schemas['ReclaimList'] }
  listStaleJobs: { query?: { table?: string; limit?: number }; answer: Schemas['StaleList'] }
  validateStale: { query?: { table?: string; limit?: number }; answer: Schemas['StaleValidation'] }
  listSweeps: { query?: { table?: string; cursor?: string; limit?: number }; answer: Schemas['SweepList'] }
  listRateLimits: { query?: { prefix?: string; limit?: number }; answer: Schemas['RateLimitList'] }
  listAuditEntries: { query?: { table?: string; actor?: string; cursor?: string; limit?: number }; answer: Schemas['AuditList'] }
  listProfiles: { query?: { table?: string }; answer: Schemas['ProfileList'] }
  stream: { query?: { topics?: string }; headers?: { 'last-event-id'?: string }; answer: string }
}

export const routes = {
  healthz: ['GET', '/healthz'],
  readyz: ['GET', '/readyz'],
  beginSession: ['POST', '/v1/session'],
  endSession: ['DELETE', '/v1/session'],
  readMetrics: ['GET', '/metrics'],
  listJobs: ['GET', '/v1/jobs'],
  enqueueJob: ['POST', '/v1/jobs'],
  readJob: ['GET', '/v1/jobs/{id}'],
  discardJob: ['DELETE', '/v1/jobs/{id}'],
  listEvents: ['GET', '/v1/jobs/{id}/events'],
  listAttempts: ['GET', '/v1/jobs/{id}/attempts'],
  explainJob: ['GET', '/v1/jobs/{id}/why'],
  retryJob: ['POST', '/v1/jobs/{id}/retry'],
  retryOwnJob: ['POST', '/api/jobs/{id}/retry'],
  cancelJob: ['POST', '/v1/jobs/{id}/cancel'],
  listLeases: ['GET', '/v1/leases'],
  claimJobs: ['POST', '/v1/leases/claim'],
  heartbeatJobs: ['POST', '/v1/leases/heartbeat'],
  reportProgress: ['POST', '/v1/leases/progress'],
  completeJob: ['POST', '/v1/leases/complete'],
  failJob: ['POST', '/v1/leases/fail'],
  releaseJob: ['POST', '/v1/leases/release'],
  listDeadLetters: ['GET', '/v1/dead-letters'],
  readDeadLetters: ['GET', '/v1/dead-letters/{cause_id}'],
  markCause: ['PATCH', '/v1/dead-letters/{cause_id}'],
  redrive: ['POST', '/v1/dead-letters/{cause_id}/redrive'],
  beginOperation: ['POST', '/v1/operations'],
  listOperations: ['GET', '/v1/operations'],
  readOperation: ['GET', '/v1/operations/{id}'],
  listOperationJobs: ['GET', '/v1/operations/{id}/jobs'],
  abortOperation: ['POST', '/v1/operations/{id}/abort'],
  listQueues: ['GET', '/v1/queues'],
  listBreakers: ['GET', '/v1/breakers'],
  listSchedules: ['GET', '/v1/schedules'],
  pauseQueue: ['POST', '/v1/queues/{name}/pause'],
  resumeQueue: ['POST', '/v1/queues/{name}/resume'],
  limitQueue: ['POST', '/v1/queues/{name}/limit'],
  holdBreaker: ['POST', '/v1/breakers/{name}/hold'],
  resumeBreaker: ['POST', '/v1/breakers/{name}/resume'],
  sweep: ['POST', '/v1/reaper/run'],
  listTrends: ['GET', '/v1/trends'],
  readHealth: ['GET', '/v1/health'],
  readMe: ['GET', '/v1/me'],
  readConfig: ['GET', '/v1/config'],
  runDoctor: ['GET', '/v1/doctor'],
  listTokens: ['GET', '/v1/tokens'],
  createToken: ['POST', '/v1/tokens'],
  revokeToken: ['DELETE', '/v1/tokens/{name}'],
  listWorkers: ['GET', '/v1/workers'],
  drainWorker: ['POST', '/v1/workers/{id}/drain'],
  readSlo: ['GET', '/v1/slo'],
  listWebhooks: ['GET', '/v1/webhooks'],
  addWebhook: ['POST', '/v1/webhooks'],
  switchWebhook: ['PATCH', '/v1/webhooks/{id}'],
  removeWebhook: ['DELETE', '/v1/webhooks/{id}'],
  listDeliveries: ['GET', '/v1/webhooks/deliveries'],
  redeliver: ['POST', '/v1/webhooks/deliveries/{id}/redeliver'],
  listReclaims: ['GET', '/v1/reclaims'],
  listStaleJobs: ['GET', '/v1/stale'],
  validateStale: ['GET', '/v1/stale/validation'],
  listSweeps: ['GET', '/v1/reaper/sweeps'],
  listRateLimits: ['GET', '/v1/rate-limits'],
  listAuditEntries: ['GET', '/v1/audit'],
  listProfiles: ['GET', '/v1/profiles'],
  stream: ['GET', '/v1/stream'],
} as const satisfies Record<keyof Operations, readonly [string, string]>
