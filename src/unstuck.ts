// The front door for applications: register handlers, start, enqueue.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type OpenTable, openTable, requireUrl, type SqlClient } from './compose.ts'
import { type Config, loadConfig } from './config/index.ts'
import { invalidArgument } from './errors/index.ts'
import type { HeartbeatThreadData } from './heartbeat-thread.ts'
import type { NewJob } from './job/job.ts'
import { type EventListener, type EventName, RuntimeEventEmitter } from './observe/events.ts'
import { type Logger, logEvents } from './observe/log-events.ts'
import { shippedProfile } from './profile/shipped.ts'
import type { Handler, HandlerOptions, RegisteredHandler } from './runtime/handler.ts'
import { startThreadHeartbeat } from './runtime/thread-heartbeat.ts'
import { startWorker, type Worker } from './runtime/worker.ts'
import type { EnqueuedJob, JobStore } from './store/job-store.ts'

export interface UnstuckOptions {
  /** Over UNSTUCK_DATABASE_URL, DATABASE_URL and PG*. */
  databaseUrl?: string
  schema?: string
  profile?: string
  /** Which table of the profile; its first where absent. */
  table?: string
  workerId?: string
  concurrency?: number
  /** Drain on SIGTERM and SIGINT; only where this worker owns the process. */
  handleSignals?: boolean
  graceMs?: number
  hangGraceMs?: number
  txTimeoutMs?: number
  leakBudget?: number
  onHang?: 'reopen' | 'exit'
  pollMs?: [least: number, most: number]
  /** pino, or anything of its shape; silent where absent. */
  logger?: Logger
}

export interface Unstuck {
  handle(type: string, handler: Handler<SqlClient>, options?: HandlerOptions): Unstuck
  /** Sweeps, claims and processes until `stop`, or until it has to leave; answers then. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Settles with the exit code of the worker: 0, or 1 where a hang or a critical error made it leave. */
  ended: Promise<number>
  enqueue(job: NewJob, options?: { tx?: SqlClient }): Promise<EnqueuedJob>
  enqueueMany(jobs: NewJob[], options?: { tx?: SqlClient }): Promise<EnqueuedJob[]>
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void
  store: JobStore<SqlClient>
}

const optionNames: Record<keyof UnstuckOptions, true> = {
  databaseUrl: true,
  schema: true,
  profile: true,
  table: true,
  workerId: true,
  concurrency: true,
  handleSignals: true,
  graceMs: true,
  hangGraceMs: true,
  txTimeoutMs: true,
  leakBudget: true,
  onHang: true,
  pollMs: true,
  logger: true,
}

export function unstuck(options: UnstuckOptions = {}): Unstuck {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(optionNames, name)) {
      throw invalidArgument('options', name, Object.keys(optionNames).join(', '))
    }
  }
  return new Application(options)
}

class Application implements Unstuck {
  readonly #options: UnstuckOptions
  readonly #config: Config
  readonly #events = new RuntimeEventEmitter()
  readonly #handlers = new Map<string, RegisteredHandler<SqlClient>>()
  readonly #open: OpenTable
  readonly #data: Omit<HeartbeatThreadData, 'intervalMs'>
  readonly ended: Promise<number>
  #end: (exitCode: number) => void = () => {}
  #worker: Worker | undefined

  constructor(options: UnstuckOptions) {
    const { databaseUrl, schema, profile } = options
    this.#options = options
    this.#config = loadConfig({ env: process.env, flags: { databaseUrl, schema, profile } })
    const url = requireUrl(this.#config.databaseUrl)
    const table = tableOf(this.#config, options.table)
    this.#data = { databaseUrl: url, schema: this.#config.schema, table, policy: this.#config.policy }
    this.#open = openTable(this.#data)
    if (options.logger !== undefined) logEvents(this.#events, options.logger)
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  get store(): JobStore<SqlClient> {
    return this.#open.store
  }

  handle(type: string, handler: Handler<SqlClient>, options: HandlerOptions = {}): this {
    if (this.#handlers.has(type)) throw invalidArgument('type', type, 'a type that has no handler yet')
    this.#handlers.set(type, { ...options, type, handler })
    return this
  }

  async start(): Promise<void> {
    if (this.#worker !== undefined)
      throw invalidArgument('start', 'a second call', 'one call for each instance')
    if (this.#handlers.size === 0)
      throw invalidArgument('handlers', 'none', 'at least one type: handle(type, handler)')
    // Fails at once where nothing is installed: a worker that cannot work should not look alive.
    const stored = await this.store.readPolicy()
    const policy = this.#config.policy
    const heartbeat = this.#startHeartbeat(policy.heartbeatMs ?? stored.heartbeatMs)
    this.#worker = startWorker({
      store: this.store,
      tableName: this.#data.table.table,
      workerId: this.#options.workerId ?? `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
      handlers: [...this.#handlers.values()],
      heartbeat,
      events: this.#events,
      transaction: this.#open.transaction,
      policy,
      concurrency: this.#options.concurrency ?? this.#config.workerConcurrency,
      sweepIntervalMs: policy.sweepIntervalMs ?? stored.sweepIntervalMs,
      pollMs: this.#options.pollMs ?? [1_000, 2_000],
      graceMs: this.#options.graceMs ?? 25_000,
      hangGraceMs: this.#options.hangGraceMs ?? 5_000,
      txTimeoutMs: this.#options.txTimeoutMs ?? 60_000,
      leakBudget: this.#options.leakBudget ?? 2,
      onHang: this.#options.onHang ?? 'reopen',
    })
    if (this.#options.handleSignals === true) this.#stopOnSignals()
    void this.#worker.ended.then(async (exitCode) => {
      // The last status write is done: only now may the connections go (WORK-4).
      await this.#open.close()
      this.#end(exitCode)
    })
  }

  async stop(): Promise<void> {
    if (this.#worker === undefined) return this.#open.close()
    await this.#worker.stop()
    await this.ended
  }

  async enqueue(job: NewJob, options: { tx?: SqlClient } = {}): Promise<EnqueuedJob> {
    const [enqueued] = await this.enqueueMany([job], options)
    if (enqueued === undefined) throw new Error('an enqueue was not answered')
    return enqueued
  }

  enqueueMany(jobs: NewJob[], options: { tx?: SqlClient } = {}): Promise<EnqueuedJob[]> {
    const { enqueueMaxAttempts } = this.#config
    const policy = enqueueMaxAttempts === null ? {} : { policy: { maxAttempts: enqueueMaxAttempts } }
    return this.store.enqueueJobs(jobs, { ...options, ...policy })
  }

  on<Name extends EventName>(name: Name, listener: EventListener<Name>): () => void {
    return this.#events.on(name, listener)
  }

  #startHeartbeat(intervalMs: number) {
    const events = this.#events
    return startThreadHeartbeat({
      threadUrl: new URL('./heartbeat-thread.js', import.meta.url),
      workerData: { ...this.#data, intervalMs } satisfies HeartbeatThreadData,
      events: {
        onFailed: (error, failingForMs) => events.emit('heartbeat:failed', { error, failingForMs }),
        onRecovered: (failedForMs) => events.emit('heartbeat:recovered', { failedForMs }),
        onLag: (lagMs) => events.emit('loop:lagged', { lagMs }),
      },
    })
  }

  /** The first signal drains; a second one gives everything back at once. */
  #stopOnSignals(): void {
    const stop = (signal: NodeJS.Signals) => void this.#worker?.stop(signal)
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    void this.ended.then((exitCode) => {
      process.off('SIGTERM', stop)
      process.off('SIGINT', stop)
      process.exitCode = exitCode
      // What a hung or careless handler left behind must not hold up a deploy; unref: nor does this.
      setTimeout(() => process.exit(exitCode), 1_000).unref()
    })
  }
}

function tableOf({ profile, schema }: Config, name: string | undefined) {
  const { tables } = shippedProfile(profile, schema)
  const table = name === undefined ? tables[0] : tables.find((candidate) => candidate.table === name)
  if (table === undefined)
    throw invalidArgument('table', name, tables.map((candidate) => candidate.table).join(', '))
  return table
}
