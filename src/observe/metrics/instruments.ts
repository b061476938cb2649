// The table of all metrics. Prometheus, OpenTelemetry and docs/reference/metrics.md are derived from it, so that they agree
// (SEE-2, REAP-10).

export interface Instrument {
  kind: 'counter' | 'histogram' | 'gauge'
  /** `recorded` by events, or `read` when the metrics are collected. */
  source: 'recorded' | 'read'
  /** Name in Prometheus; `name` is that in OpenTelemetry. */
  prometheus: string
  otel: string
  unit: '1' | 's' | 'ms'
  help: string
  /** Never a job, an owner or a worker: their number is unbounded. */
  labels: readonly string[]
  /** Upper bounds, in the unit. */
  buckets?: readonly number[]
}

const CALL_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120] as const
const JOB_BUCKETS_S = [
  0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400,
] as const
const SCAN_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const

const counter = { kind: 'counter', source: 'recorded', unit: '1' } as const
const histogram = { kind: 'histogram', source: 'recorded', unit: 's' } as const
const gauge = { kind: 'gauge', source: 'read', unit: '1' } as const

export const instruments = {
  jobsCreated: {
    ...counter,
    prometheus: 'unstuck_jobs_created_total',
    otel: 'unstuck.jobs.created',
    help: 'Jobs enqueued by this process; duplicates are not counted.',
    labels: ['table', 'type'],
  },
  jobsCompleted: {
    ...counter,
    prometheus: 'unstuck_jobs_completed_total',
    otel: 'unstuck.jobs.completed',
    help: 'Jobs that succeeded.',
    labels: ['table', 'type'],
  },
  jobsFailed: {
    ...counter,
    prometheus: 'unstuck_jobs_failed_total',
    otel: 'unstuck.jobs.failed',
    help: 'Jobs that ended dead, by error code. What the reaper ends has the code timeout.',
    labels: ['table', 'code'],
  },
  retriesScheduled: {
    ...counter,
    prometheus: 'unstuck_retries_scheduled_total',
    otel: 'unstuck.retries.scheduled',
    help: 'Failed attempts that will be retried.',
    labels: ['table', 'type'],
  },
  leasesLost: {
    ...counter,
    prometheus: 'unstuck_leases_lost_total',
    otel: 'unstuck.leases.lost',
    help: 'Attempts whose lease was lost before they ended; nothing was written.',
    labels: ['table', 'type'],
  },
  handlersHung: {
    ...counter,
    prometheus: 'unstuck_handlers_hung_total',
    otel: 'unstuck.handlers.hung',
    help: 'Handlers that kept running after their abort signal and lost their slot.',
    labels: ['table', 'type'],
  },
  jobDuration: {
    ...histogram,
    prometheus: 'unstuck_job_duration_seconds',
    otel: 'unstuck.job.duration',
    help: 'Duration of attempts, by outcome.',
    labels: ['table', 'type', 'end'],
    buckets: JOB_BUCKETS_S,
  },
  jobsRunning: {
    ...gauge,
    prometheus: 'unstuck_jobs_running',
    otel: 'unstuck.jobs.running',
    help: 'Jobs running in this process.',
    labels: ['table'],
  },
  queueDepth: {
    ...gauge,
    prometheus: 'unstuck_queue_depth',
    otel: 'unstuck.queue.depth',
    help: 'Jobs of a queue that are waiting, due (a part of the waiting ones) or running; counts of all queues stop at about 100,000.',
    labels: ['table', 'queue', 'state'],
  },
  queuePaused: {
    ...gauge,
    prometheus: 'unstuck_queue_paused',
    otel: 'unstuck.queue.paused',
    help: '1 while a queue is paused, else 0.',
    labels: ['table', 'queue'],
  },
  oldestWaiting: {
    ...gauge,
    prometheus: 'unstuck_oldest_waiting_seconds',
    otel: 'unstuck.oldest_waiting',
    unit: 's',
    help: 'How long the oldest due job has been due; 0 if there is none.',
    labels: ['table'],
  },
  overdueJobs: {
    ...gauge,
    prometheus: 'unstuck_overdue_jobs',
    otel: 'unstuck.jobs.overdue',
    help: 'Running jobs that are past their lease: what the next sweep takes.',
    labels: ['table'],
  },
  oldestOverdue: {
    ...gauge,
    prometheus: 'unstuck_oldest_overdue_seconds',
    otel: 'unstuck.oldest_overdue',
    unit: 's',
    help: 'How long the most overdue running job has been past its lease; 0 if there is none.',
    labels: ['table'],
  },
  unjudgedJobs: {
    ...gauge,
    prometheus: 'unstuck_unjudged_jobs',
    otel: 'unstuck.jobs.unjudged',
    help: 'Running rows without a lease and of unknown age; they are never requeued.',
    labels: ['table'],
  },
  releasedOftenJobs: {
    ...gauge,
    prometheus: 'unstuck_released_often_jobs',
    otel: 'unstuck.jobs.released_often',
    help: 'Waiting jobs that were released 20 times, or over a day: a limit or their handler keeps sending them back.',
    labels: ['table'],
  },
  reaperAge: {
    ...gauge,
    prometheus: 'unstuck_reaper_age_seconds',
    otel: 'unstuck.reaper.age',
    unit: 's',
    help: 'Time since the last sweep of the table; absent before the first.',
    labels: ['table'],
  },
  reaperRequeues: {
    ...counter,
    prometheus: 'unstuck_reaper_requeues_total',
    otel: 'reaper.requeues',
    help: 'Jobs requeued by sweeps of this process.',
    labels: ['table', 'stage'],
  },
  reaperFailures: {
    ...counter,
    prometheus: 'unstuck_reaper_failures_total',
    otel: 'reaper.failures',
    help: 'Jobs ended as dead by sweeps of this process.',
    labels: ['table', 'stage'],
  },
  reaperScanDuration: {
    ...histogram,
    prometheus: 'unstuck_reaper_scan_duration_ms',
    otel: 'reaper.scan_duration_ms',
    unit: 'ms',
    help: 'Duration of a whole sweep. It covers all stages, so the label stage is always all.',
    labels: ['table', 'stage'],
    buckets: SCAN_BUCKETS_MS,
  },
  sweepsFailed: {
    ...counter,
    prometheus: 'unstuck_reaper_sweeps_failed_total',
    otel: 'unstuck.reaper.sweeps_failed',
    help: 'Sweeps that failed.',
    labels: ['table'],
  },
  jobsPruned: {
    ...counter,
    prometheus: 'unstuck_jobs_pruned_total',
    otel: 'unstuck.jobs.pruned',
    help: 'Ended jobs deleted after their retention.',
    labels: ['table'],
  },
  jobsDispatched: {
    ...counter,
    prometheus: 'unstuck_jobs_dispatched_total',
    otel: 'unstuck.jobs.dispatched',
    help: 'Jobs that were published to an outside dispatcher.',
    labels: ['table'],
  },
  rescues: {
    ...gauge,
    prometheus: 'unstuck_rescues',
    otel: 'unstuck.rescues',
    help: 'Jobs of the last 24 hours that lost their worker and were claimed again, in time or not.',
    labels: ['table', 'in_time'],
  },
  rescuesByCause: {
    ...gauge,
    prometheus: 'unstuck_rescues_by_cause',
    otel: 'unstuck.rescues.by_cause',
    help: 'Rescues of the last 24 hours by cause: crash (the lease expired), worker-gone (the process ended) or timeout.',
    labels: ['table', 'cause'],
  },
  rescueTime: {
    ...gauge,
    prometheus: 'unstuck_rescue_seconds',
    otel: 'unstuck.rescue.time',
    unit: 's',
    help: 'From the last sign of life of a lost worker to the next claim, without the backoff, in the last 24 hours.',
    labels: ['table', 'quantile'],
  },
  rescuePromise: {
    ...gauge,
    prometheus: 'unstuck_rescue_promise_seconds',
    otel: 'unstuck.rescue.promise',
    unit: 's',
    help: 'Upper bound of a rescue: the default lease, a sweep interval and a poll.',
    labels: ['table'],
  },
  deliveries: {
    ...counter,
    prometheus: 'unstuck_webhook_deliveries_total',
    otel: 'unstuck.webhook.deliveries',
    help: 'Attempts to deliver an event to a webhook, by outcome.',
    labels: ['table', 'outcome'],
  },
  gatewayCallDuration: {
    ...histogram,
    prometheus: 'unstuck_gateway_call_duration_seconds',
    otel: 'unstuck.gateway.call.duration',
    help: 'Duration of calls to outside services, by outcome.',
    labels: ['dependency', 'outcome'],
    buckets: CALL_BUCKETS_S,
  },
  breakerOpen: {
    kind: 'counter',
    source: 'read',
    prometheus: 'unstuck_breaker_open_seconds_total',
    otel: 'unstuck.breaker.open',
    unit: 's',
    help: 'Time in which this process has known a breaker to be open, half-open or held.',
    labels: ['name'],
  },
  breakerState: {
    ...gauge,
    prometheus: 'unstuck_breaker_state',
    otel: 'unstuck.breaker.state',
    help: '1 for the state that a breaker is in, 0 for the others.',
    labels: ['name', 'state'],
  },
  limitReleases: {
    ...counter,
    prometheus: 'unstuck_limit_releases_total',
    otel: 'unstuck.limit.releases',
    help: 'Jobs released unstarted because a rate limit had no tokens left, by the part of its key before the first colon.',
    labels: ['key'],
  },
  heartbeats: {
    ...counter,
    prometheus: 'unstuck_heartbeats_total',
    otel: 'unstuck.heartbeats',
    help: 'Heartbeats sent; one extends all leases of the worker.',
    labels: ['table'],
  },
  heartbeatsFailed: {
    ...counter,
    prometheus: 'unstuck_heartbeats_failed_total',
    otel: 'unstuck.heartbeats.failed',
    help: 'Heartbeats that failed.',
    labels: ['table'],
  },
  claimsFailed: {
    ...counter,
    prometheus: 'unstuck_claims_failed_total',
    otel: 'unstuck.claims.failed',
    help: 'Claims that failed.',
    labels: ['table'],
  },
  loopLag: {
    ...gauge,
    prometheus: 'unstuck_loop_lag_seconds',
    otel: 'unstuck.loop.lag',
    unit: 's',
    help: 'Last measured delay of the event loop’s answer to the heartbeat thread.',
    labels: ['table'],
  },
  readsFailed: {
    ...counter,
    prometheus: 'unstuck_metrics_reads_failed_total',
    otel: 'unstuck.metrics.reads_failed',
    help: 'Reads for these metrics that failed or timed out; their values are absent.',
    labels: ['read'],
  },
} as const satisfies Record<string, Instrument>

export type InstrumentName = keyof typeof instruments

type NamesOf<Kind extends Partial<Instrument>> = {
  [Name in InstrumentName]: (typeof instruments)[Name] extends Kind ? Name : never
}[InstrumentName]

export type CounterName = NamesOf<{ kind: 'counter'; source: 'recorded' }>
export type HistogramName = NamesOf<{ kind: 'histogram' }>
export type ReadName = NamesOf<{ source: 'read' }>

export type Labels<Name extends InstrumentName> = Record<(typeof instruments)[Name]['labels'][number], string>

/** Receives recorded values: Prometheus or OpenTelemetry. */
export interface MetricSink {
  add<Name extends CounterName>(name: Name, labels: Labels<Name>, count: number): void
  observe<Name extends HistogramName>(name: Name, labels: Labels<Name>, value: number): void
}

/** One value of an instrument that is read. */
export interface Sample {
  name: ReadName
  labels: Record<string, string>
  value: number
}

export const instrumentEntries = Object.entries(instruments) as [InstrumentName, Instrument][]
