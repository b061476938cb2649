// The API for applications: register handlers, start, enqueue.
import type { Database, OpenShards, OpenTable, PgClient, SqlClient } from '../compose/index.ts'
import { type Config, profileOf } from '../config/index.ts'
import { invalidArgument, showValue, UnstuckError } from '../errors/index.ts'
import { checkNewJob } from '../job/check-new-job.ts'
import type { JobDeclarations } from '../job/declared-jobs.ts'
import type { JsonValue, NewJob } from '../job/job.ts'
import { requireEventName } from '../observe/event-names.ts'
import { type EventListener, type EventName, RuntimeEventEmitter } from '../observe/events.ts'
import { createMetrics, type Metrics } from '../observe/metrics/metrics.ts'
import { openOtelMetrics } from '../observe/metrics/otel-metrics.ts'
import { openTracing, type Tracing } from '../observe/tracing.ts'
import { judgeBeat } from '../policy/lease/beat-check.ts'
import { type Policy, withOverride } from '../policy/policy.ts'
import type { TableProfile } from '../profile/profile.ts'
import type { Handler, HandlerOptions } from '../runtime/attempt/handler.ts'
import type { BatchHandler, BatchOptions } from '../runtime/batch/batch-handler.ts'
import { createEnqueuer, createShardedEnqueuer } from '../runtime/calls/enqueuer.ts'
import type { DrainOptions, DrainReport } from '../runtime/in-place/drain.ts'
import type { RunOnceOptions } from '../runtime/in-place/run-once.ts'
import type { DeclaredJob, RecurringJob } from '../runtime/services/scheduler.ts'
import type { Worker } from '../runtime/worker/worker.ts'
import { hasCapability } from '../store/capability.ts'
import type { EnqueuedJob, JobStore } from '../store/job-store.ts'
import { requireOptions } from './check-arguments.ts'
import { declareRecurring } from './jobs/declare-recurring.ts'
import { emitEnqueued } from './jobs/emit-enqueued.ts'
import { enqueuePolicyOf } from './jobs/enqueue-policy.ts'
import { drainApplication, runOnceOf } from './jobs/in-place.ts'
import { JobSchemas } from './jobs/job-schemas.ts'
import { type JobWaits, openJobWaits, type WaitOptions } from './jobs/job-waits.ts'
import { RegisteredHandlers } from './jobs/registered-handlers.ts'
import { shardHandle } from './jobs/shard-handle.ts'
import { configOf } from './open/config-of.ts'
import { openJobs } from './open/open-jobs.ts'
import { directUrlOf } from './open/own-pool.ts'
import { tableOf } from './open/table-of.ts'
import { checkOptions, type UnstuckOptions } from './options.ts'
import { metricsOptionsOf } from './start/metrics-options.ts'
import { type Services, startServices, startShardServices } from './start/services.ts'
import { showEvents } from './start/show-events.ts'
import { StartLimit } from './start/start-limit.ts'
import { type ApplicationParts, startApplicationWorker } from './start/start-worker.ts'
import { stopOnSignals } from './start/stop-on-signals.ts'
import type { FileHandler } from './typed-methods.ts'
import type { EnqueueOptions, RecurringOptions, ShardHandle, Unstuck } from './unstuck-api.ts'

export type { UnstuckOptions } from './options.ts'
export type { ShardHandle, Unstuck } from './unstuck-api.ts'

/** Opens no connection yet: the first call does. With `jobs`, types, payloads and results are those that they declare. */
export function unstuck<const Jobs extends JobDeclarations = JobDeclarations>(
  options: UnstuckOptions<Jobs> = {},
): Unstuck<Jobs> {
  checkOptions(options)
  return new Application(options) as unknown as Unstuck<Jobs>
}

class Application implements Unstuck {
  readonly #options: UnstuckOptions
  readonly #config: Config
  readonly #table: TableProfile
  readonly #events = new RuntimeEventEmitter()
  readonly #handlers: RegisteredHandlers
  readonly #schedules: DeclaredJob[] = []
  readonly #schemas: JobSchemas
  readonly #database: Database
  readonly #open: OpenTable
  /** Undefined for a single database. */
  readonly #shards: OpenShards | undefined
  readonly #enqueueOne: (job: NewJob) => Promise<EnqueuedJob>
  readonly ended: Promise<number>
  #end: (exitCode: number) => void = () => {}
  #starting: Promise<void> | undefined
  #worker: Worker | undefined
  #services: Services | undefined
  #tracing: Promise<Tracing | null> | undefined
  #metrics: Promise<Metrics> | undefined
  readonly #waits: JobWaits

  constructor(options: UnstuckOptions) {
    this.#options = options
    this.#schemas = new JobSchemas(options.jobs)
    this.#config = configOf(options)
    const slots = options.concurrency ?? this.#config.workerConcurrency
    this.#handlers = new RegisteredHandlers(options, this.#schemas, slots)
    this.#table = tableOf(this.#config, options.table)
    showEvents(this.#events, options)
    const opened = openJobs(options, this.#config, this.#table, this.#events)
    this.#open = opened.open
    this.#database = opened.database
    this.#shards = opened.shards
    this.#enqueueOne =
      opened.shards === undefined
        ? createEnqueuer((jobs) => this.#send(jobs))
        : createShardedEnqueuer(opened.shards.store.shards, (shard, jobs) =>
            this.#send(jobs, {}, shard.store),
          )
    this.#waits = openJobWaits({
      open: this.#open,
      config: this.#config,
      table: this.#table,
      shards: opened.shards?.shards,
      directUrl: () => this.#directUrl(new StartLimit(options.startTimeoutMs)),
    })
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  get store(): JobStore<SqlClient> {
    return this.#open.store
  }

  shard(key: string): ShardHandle {
    if (typeof key !== 'string') throw invalidArgument('key', key, 'a text')
    const { shards } = this.store
    if (shards === undefined)
      return { number: 0, store: this.store, enqueue: (job, options) => this.enqueue(job, options) }
    return shardHandle(shards, key, (job, send) => this.#traced([job], send), this.#send.bind(this))
  }

  handle<Payload = JsonValue, Result = unknown>(
    type: string,
    given: Handler<PgClient, Payload, Result> | FileHandler,
    options: HandlerOptions = {},
  ): this {
    this.#requireNotStarted('handle', type)
    this.#handlers.add(type, given, options)
    return this
  }

  handleMany<Payload = JsonValue, Result = unknown>(
    type: string,
    given: BatchHandler<PgClient, Payload, Result>,
    options: BatchOptions,
  ): this {
    this.#requireNotStarted('handleMany', type)
    this.#handlers.addMany(type, given, options)
    return this
  }

  recurring(name: string, cron: string, job: RecurringJob['job'], options: RecurringOptions = {}): this {
    this.#requireNotStarted('recurring', name)
    const parts = {
      config: this.#config,
      schemas: this.#schemas,
      store: this.#options.store,
      declared: this.#schedules,
    }
    this.#schedules.push(declareRecurring(parts, { name, cron, job }, options))
    return this
  }

  /** A worker claims from the queues that it knew when it started. */
  #requireNotStarted(method: string, name: string): void {
    if (this.#starting === undefined) return
    throw new UnstuckError(
      'INVALID_ARGUMENT',
      `${method}: got ${showValue(name)} after start(), takes calls before start()`,
    )
  }

  start(): Promise<void> {
    if (this.#starting !== undefined)
      return Promise.reject(invalidArgument('start', 'a second call', 'one call for each instance'))
    this.#starting = this.#start().catch((error: unknown) => {
      // A refused start may be corrected and repeated.
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #start(): Promise<void> {
    if (this.#handlers.all.length === 0)
      throw invalidArgument('handlers', 'none', 'at least one type: handle(type, handler)')
    for (const warning of this.#config.warnings) this.#events.emit('config:warned', { warning })
    const limit = new StartLimit(this.#options.startTimeoutMs)
    const directUrl = await this.#directUrl(limit)
    // Fails at once if the schema is missing or too old: a worker that cannot work should not look alive.
    await limit.retry(async () => this.#open.checkSchema?.())
    const stored = await limit.retry(() => this.store.readPolicy())
    const policy = withOverride(stored, this.#config.policy)
    this.#requireBeats(policy)
    await limit.retry(async () => this.#open.checkFeatures?.(policy, this.#options.jobs))
    const worker = await startApplicationWorker({
      ...this.#parts(),
      directUrl,
      policy,
      tracing: await this.#openTracing(),
      limit,
    })
    this.#worker = worker
    const canListen = hasCapability(this.store, 'notify')
    const otelMetrics = await openOtelMetrics(metricsOptionsOf(this.#parts()))
    const listens = policy.notify === 'on' && canListen
    const parts = {
      store: this.store,
      schema: this.#config.schema,
      table: this.#table,
      events: this.#events,
      policy: this.#config.policy,
      enqueuePolicy: enqueuePolicyOf(this.#config),
      worker,
      queues: this.#handlers.all.map(({ type, queue = type }) => queue),
      schedules: this.#schedules,
      dispatch: this.#options.dispatch,
      isPruning: this.#options.prune ?? profileOf(this.#config).isPruned ?? false,
      sweepIntervalMs: policy.sweepIntervalMs,
      allowsPrivateWebhooks: this.#config.webhookAllowPrivate === '1',
      appVersion: this.#config.appVersion,
    }
    const services =
      this.#shards === undefined
        ? startServices({ ...parts, sendHint: this.#open.sendHint, notifier: listens ? directUrl : null })
        : startShardServices(parts, this.#shards.shards, listens)
    this.#services = services
    if (this.#options.handleSignals === true) stopOnSignals(worker, this.ended)
    void worker.ended.then(async (exitCode) => {
      try {
        await services.stop()
        otelMetrics?.stop()
        await this.#close() // Only now, after the last status is written (WORK-4).
      } finally {
        this.#end(exitCode)
      }
    })
  }

  async stop(): Promise<void> {
    // A start in progress ends first: half a worker cannot be stopped.
    await this.#starting?.catch(() => {})
    if (this.#worker === undefined) return this.#close()
    await this.#worker.stop()
    await this.ended
  }

  async enqueue(job: NewJob, options: EnqueueOptions = {}): Promise<EnqueuedJob> {
    requireOptions('enqueue', options, ['tx'])
    return this.#traced([job], async (jobs) => {
      const [only = job] = jobs
      const [enqueued] =
        options.tx === undefined ? [await this.#enqueueOne(only)] : await this.#send(jobs, options)
      if (enqueued === undefined) throw new Error('an enqueue was not answered')
      return enqueued
    })
  }

  async enqueueMany(jobs: NewJob[], options: EnqueueOptions = {}): Promise<EnqueuedJob[]> {
    if (!Array.isArray(jobs)) throw invalidArgument('jobs', jobs, 'an array of jobs', { withhold: true })
    requireOptions('enqueueMany', options, ['tx'])
    return this.#traced(jobs, (marked) => this.#send(marked, options))
  }

  async waitFor<Result = JsonValue>(jobId: string, options?: WaitOptions): Promise<Result> {
    return (await this.#schemas.readResult(await this.#waits.waitFor(jobId, options))) as Result
  }

  async enqueueAndWait<Result = JsonValue>(job: NewJob, options?: WaitOptions): Promise<Result> {
    checkNewJob(job, this.#config)
    await this.#waits.requireKept(job.type, options)
    const { jobId } = await this.enqueue(job)
    return this.waitFor(jobId, options)
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport> {
    requireOptions('drain', options, ['limit'])
    if (this.#starting !== undefined)
      throw invalidArgument('drain', 'a call after start()', 'an instance that is not started')
    const tracing = await this.#openTracing()
    const enqueuePolicy = enqueuePolicyOf(this.#config)
    return drainApplication({ ...this.#parts(), schedules: this.#schedules, enqueuePolicy, tracing }, options)
  }

  async runOnce(type: string, payload?: unknown, options?: RunOnceOptions): Promise<JsonValue | undefined> {
    const result = await runOnceOf(this.#parts(), type, payload, options)
    return (await this.#schemas.readResult({ type, result })) as JsonValue | undefined
  }

  #parts(): ApplicationParts {
    return {
      open: this.#open,
      shards: this.#shards?.shards,
      config: this.#config,
      options: this.#options,
      table: this.#table,
      events: this.#events,
      handlers: this.#handlers.all,
    }
  }

  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    requireEventName(name)
    return this.#events.on(name, listener)
  }

  metrics(): Promise<Metrics> {
    this.#metrics ??= createMetrics(metricsOptionsOf(this.#parts()))
    return this.#metrics
  }

  health(): { isHealthy: boolean; problems: string[] } {
    const problems = [...(this.#worker?.problems() ?? []), ...(this.#services?.problems() ?? [])]
    return { isHealthy: problems.length === 0, problems }
  }

  #directUrl(limit: StartLimit): Promise<string | null> {
    return directUrlOf(this.#options, this.#config, this.#database, limit)
  }

  /** Refuses a lease that a single lost heartbeat would lose (LEASE-4). */
  #requireBeats(policy: Policy): void {
    const { refusal, warnings } = judgeBeat(policy)
    if (refusal !== undefined) throw new UnstuckError('INVALID_CONFIG', refusal)
    for (const warning of warnings) this.#events.emit('config:warned', { warning })
  }

  async #traced<T>(given: NewJob[], send: (jobs: NewJob[]) => Promise<T>): Promise<T> {
    for (const job of given) checkNewJob(job, this.#config)
    await this.#schemas.checkJobs(given)
    const jobs = this.#schemas.withGroups(given)
    const tracing = await this.#openTracing()
    return tracing === null ? send(jobs) : tracing.enqueue(jobs, this.#table.table, send)
  }

  async #send(
    jobs: NewJob[],
    { tx }: EnqueueOptions = {},
    store: JobStore<SqlClient> = this.store,
  ): Promise<EnqueuedJob[]> {
    const options = { ...(tx === undefined ? {} : { tx }), ...enqueuePolicyOf(this.#config) }
    const enqueued = await store.enqueueJobs(jobs, options)
    emitEnqueued(this.#events, this.#table.table, jobs, enqueued)
    return enqueued
  }

  #openTracing(): Promise<Tracing | null> {
    this.#tracing ??= openTracing({ withStacks: this.#options.logStacks === true })
    return this.#tracing
  }

  async #close(): Promise<void> {
    const metrics = await this.#metrics?.catch(() => undefined)
    metrics?.stop()
    await this.#waits.stop()
    await this.#open.close()
    await this.#database.close()
  }
}
