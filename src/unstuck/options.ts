import { type CallersPool, requirePool } from '../compose/index.ts'
import type { ShardOptions } from '../config/index.ts'
import { invalidArgument, requireKnownNames } from '../errors/index.ts'
import type { JobDeclarations } from '../job/declared-jobs.ts'
import { checkAttempts, checkBackoff, checkRetry } from '../job/job-rules.ts'
import type { Logger } from '../observe/logs/log-events.ts'
import type { HandlerOptions } from '../runtime/attempt/handler.ts'
import type { BatchOptions } from '../runtime/batch/batch-handler.ts'
import type { DispatchAdapter } from '../runtime/dispatch/dispatcher.ts'
import type { DependencyOptions } from '../runtime/limits/dependencies.ts'
import { requireLimits } from '../runtime/limits/token-limiter.ts'
import type { QueueLimits, ShardRoute } from '../store/job-store.ts'
import type { LocalStore } from '../store/local-store.ts'
import { queueLimitNames } from '../store/require-queue-limits.ts'
import { requireObject, requireOptions } from './check-arguments.ts'

export interface UnstuckOptions<Jobs extends JobDeclarations = JobDeclarations> {
  /** The jobs of the application, declared by `defineJobs`. Default: any type, with any payload. */
  jobs?: Jobs | undefined
  /** Overrides UNSTUCK_DATABASE_URL, DATABASE_URL and PG*. */
  databaseUrl?: string | undefined
  /**
   * The application's own Pool of pg, in the place of `databaseUrl`. It is not ended by `stop`. Heartbeats need a connection of
   * their own: without `directUrl` or `databaseUrl` beside it they run on the main thread, and a blocked event loop stops them.
   */
  pool?: CallersPool | undefined
  /** Overrides UNSTUCK_DIRECT_URL: the same database without a pooler. Default: `databaseUrl`. */
  directUrl?: string | undefined
  /** Keeps jobs in this process instead of a database, for tests: `memory()` of `unstuck/memory`. */
  store?: LocalStore | undefined
  /** Path of the config file. Default: UNSTUCK_CONFIG, else `unstuck.config.*` in the working directory. */
  config?: string | undefined
  /** Overrides UNSTUCK_SCHEMA: the schema of the engine. Default: `unstuck`. */
  schema?: string | undefined
  /** Overrides UNSTUCK_SHARDS: several servers or schemas in place of `databaseUrl`. */
  shards?: ShardOptions[] | undefined
  /** Overrides UNSTUCK_SHARD_ROUTE: where a job without a dedupe key is enqueued. Default: `spread`. */
  route?: ShardRoute | undefined
  /** Overrides UNSTUCK_SHARD_DIRECT. On Citus: connect to the node that has the schema of each shard. Default: false. */
  direct?: boolean | undefined
  /** Overrides UNSTUCK_PROFILE: which table holds the jobs. Default: `native`, the engine's own. */
  profile?: string | undefined
  /** Table of the profile. Default: its first. */
  table?: string | undefined
  /** Name of this worker in rows, events and the dashboard. Default: from the host, the process and a random part. */
  workerId?: string | undefined
  /** Overrides UNSTUCK_APP_VERSION: version of your application, such as a tag or a commit. Workers report it, and the dashboard shows a deploy. */
  appVersion?: string | undefined
  /** Overrides WORKER_CONCURRENCY: how many jobs run at once in this process. Default: 10 for the native table. */
  concurrency?: number | undefined
  /** Drain on SIGTERM and SIGINT. Only if this worker owns the process. */
  handleSignals?: boolean | undefined
  /** How long `start` waits for a server that is starting or has no free connection slot. Default: 60,000. */
  startTimeoutMs?: number | undefined
  /** Time that running jobs get to end on `stop`, which resolves at most 15 s after it. Default: 25,000. */
  graceMs?: number | undefined
  /** Time that a handler gets to end after its signal was aborted; then it counts as hung. Default: 5,000. */
  hangGraceMs?: number | undefined
  /** Longest transaction of a handler's `tx`. Default: 60,000. */
  txTimeoutMs?: number | undefined
  /** Overrides UNSTUCK_CONNECTIONS: most connections for calls other than transactions of handlers. Default: 5. */
  connections?: number | undefined
  /** Connections for transactions of handlers; further transactions wait. Default: 10. */
  txConnections?: number | undefined
  /** Most hung handlers that are left behind before the worker stops with exit code 1. Default: 2. */
  leakBudget?: number | undefined
  /** Reaction to a hung handler: `reopen` gives its slot to another job, `exit` ends the worker. Default: `reopen`. */
  onHang?: 'reopen' | 'exit' | undefined
  /** Interval between claims that find nothing, from the shortest to the longest. Default: 1 to 2 s, 5 to 7.5 s while hints arrive. */
  pollMs?: [least: number, most: number] | undefined
  /** Settings of the breakers that handlers name as their `dependency`. */
  dependencies?: Record<string, DependencyOptions> | undefined
  /** How many jobs of a queue, and of each of its groups, run at once in all processes. Written before the first claim. */
  queues?: Record<string, QueueLimits> | undefined
  /** Publishes requeued jobs to an external queue, if the policy's `dispatch` records them. */
  dispatch?: DispatchAdapter | undefined
  /** Delete ended jobs past their retention while the worker runs. Default: as the profile says; true for the native table. */
  prune?: boolean | undefined
  /**
   * pino, or a compatible logger. Default: warnings and failures go to stderr, and nothing if NODE_ENV is `production`. `false` is
   * silent.
   */
  logger?: Logger | false | undefined
  /** Stacks of failures beside their messages, in log lines and spans. Default: false. */
  logStacks?: boolean | undefined
}

const names: Record<keyof UnstuckOptions, true> = {
  jobs: true,
  databaseUrl: true,
  pool: true,
  directUrl: true,
  store: true,
  config: true,
  schema: true,
  shards: true,
  route: true,
  direct: true,
  profile: true,
  table: true,
  workerId: true,
  appVersion: true,
  concurrency: true,
  handleSignals: true,
  startTimeoutMs: true,
  graceMs: true,
  hangGraceMs: true,
  txTimeoutMs: true,
  connections: true,
  txConnections: true,
  leakBudget: true,
  onHang: true,
  pollMs: true,
  dependencies: true,
  queues: true,
  dispatch: true,
  prune: true,
  logger: true,
  logStacks: true,
}

const MOST_LIMIT = 1_000_000

/** A longer timer of Node fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

const ranges = {
  concurrency: [1, 1_000],
  graceMs: [0, LONGEST_TIMER_MS],
  hangGraceMs: [0, LONGEST_TIMER_MS],
  txTimeoutMs: [1, LONGEST_TIMER_MS],
  connections: [1, 1_000],
  startTimeoutMs: [0, LONGEST_TIMER_MS],
  txConnections: [1, 1_000],
  leakBudget: [0, 1_000],
} as const

export function checkOptions(options: UnstuckOptions): void {
  requireKnownNames('unstuck()', Object.keys(options), Object.keys(names))
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = options[name as keyof typeof ranges]
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      throw invalidArgument(name, value, `a whole number from ${least} to ${most}`)
  }
  if (options.pool !== undefined) checkPool(options)
  checkKinds(options)
  const { onHang, pollMs, logger } = options
  checkStore(options)
  if (logger !== undefined && logger !== false && !isLogger(logger))
    throw invalidArgument('logger', logger, 'an object with info, warn and error, such as pino(), or false', {
      withhold: true,
    })
  if (onHang !== undefined && onHang !== 'reopen' && onHang !== 'exit')
    throw invalidArgument('onHang', onHang, 'reopen or exit')
  if (pollMs !== undefined && !(pollMs[0] >= 1 && pollMs[1] >= pollMs[0] && pollMs[1] <= LONGEST_TIMER_MS))
    throw invalidArgument(
      'pollMs',
      pollMs,
      `two numbers of milliseconds from 1 to ${LONGEST_TIMER_MS}, the smaller first`,
    )
}

function checkKinds(options: UnstuckOptions): void {
  for (const name of ['handleSignals', 'prune', 'logStacks'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && typeof value !== 'boolean') throw invalidArgument(name, value, 'true or false')
  }
  for (const name of ['workerId', 'config', 'appVersion'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw invalidArgument(name, value, 'a text that is not empty')
  }
  const { jobs, dependencies, queues, dispatch } = options
  if (jobs !== undefined) requireObject('jobs', jobs, 'declarations of defineJobs({ … })')
  if (dependencies !== undefined) {
    requireObject('dependencies', dependencies, 'settings by the name of a dependency')
    for (const [name, settings] of Object.entries(dependencies))
      requireObject(`dependencies.${name}`, settings, 'settings of a breaker')
  }
  if (queues !== undefined) {
    requireObject('queues', queues, 'limits by the name of a queue')
    for (const [name, limits] of Object.entries(queues)) {
      checkQueueLimits(`queues.${name}`, limits)
    }
  }
  if (dispatch !== undefined && typeof dispatch?.publish !== 'function')
    throw invalidArgument('dispatch', dispatch, 'an object with publish(jobs)', { withhold: true })
}

/** As the database checks them, but before `start`. */
function checkQueueLimits(name: string, limits: QueueLimits): void {
  requireObject(name, limits, 'limits of a queue')
  requireKnownNames(name, Object.keys(limits), queueLimitNames)
  for (const field of ['concurrency', 'groupConcurrency'] as const) {
    const value = limits[field] ?? 1
    if (!(Number.isInteger(value) && value >= 1 && value <= MOST_LIMIT))
      throw invalidArgument(`${name}.${field}`, value, `a whole number from 1 to ${MOST_LIMIT}`)
  }
  const { groupOrder, groupConcurrency } = limits
  if ((groupOrder ?? 'fifo') !== 'fifo') throw invalidArgument(`${name}.groupOrder`, groupOrder, 'fifo')
  if (groupOrder === 'fifo' && (groupConcurrency ?? 1) !== 1)
    throw invalidArgument(`${name}.groupConcurrency`, groupConcurrency, '1 beside the order fifo')
}

function isLogger(logger: unknown): boolean {
  const methods = logger as Partial<Logger> | null
  return (['info', 'warn', 'error'] as const).every((level) => typeof methods?.[level] === 'function')
}

function checkStore({ store, databaseUrl, directUrl, pool }: UnstuckOptions): void {
  if (store === undefined) return
  if (typeof store?.claimJobs !== 'function')
    throw invalidArgument('store', store, 'a store: memory() of unstuck/memory')
  if (databaseUrl !== undefined || directUrl !== undefined)
    throw invalidArgument('databaseUrl', databaseUrl ?? directUrl, 'no URL beside a store')
  if (pool !== undefined)
    throw invalidArgument('pool', 'a pool', 'no pool beside a store', { withhold: true })
}

function checkPool({ pool, connections, txConnections, shards }: UnstuckOptions): void {
  requirePool(pool)
  if (shards !== undefined)
    throw invalidArgument('shards', 'shards', 'no shards beside `pool`', { withhold: true })
  const given = connections === undefined ? { txConnections } : { connections }
  for (const [name, value] of Object.entries(given))
    if (value !== undefined)
      throw invalidArgument(name, value, 'nothing beside `pool`, which has its own `max`')
}

/** A batch should not wait for jobs until a deploy ends it. */
const LONGEST_BATCH_WAIT_MS = 60_000

export function checkBatchOptions(type: string, options: BatchOptions, slots: number): void {
  checkHandlerOptions('handleMany', type, options, ['size', 'waitMs'])
  const { size, waitMs = 0, concurrency = slots } = options
  const most = Math.min(slots, concurrency)
  if (!(Number.isInteger(size) && size >= 1 && size <= most))
    throw invalidArgument(
      'size',
      size,
      `a whole number from 1 to the concurrency, ${most}: each job of a batch takes a slot`,
    )
  if (!(waitMs >= 0 && waitMs <= LONGEST_BATCH_WAIT_MS))
    throw invalidArgument('waitMs', waitMs, `milliseconds from 0 to ${LONGEST_BATCH_WAIT_MS}`)
}

const handlerNames: Record<keyof HandlerOptions, true> = {
  queue: true,
  progressLimitMs: true,
  dependency: true,
  concurrency: true,
  limits: true,
  retry: true,
}

export function checkHandlerOptions(
  method: string,
  type: string,
  options: HandlerOptions,
  others: string[] = [],
): void {
  requireOptions(`${method}('${type}')`, options, [...others, ...Object.keys(handlerNames)])
  const { progressLimitMs, limits = [] } = options
  if (progressLimitMs !== undefined && !(progressLimitMs >= 1 && progressLimitMs <= LONGEST_TIMER_MS))
    throw invalidArgument('progressLimitMs', progressLimitMs, `milliseconds from 1 to ${LONGEST_TIMER_MS}`)
  requireLimits(type, limits)
  const { concurrency } = options
  if (
    concurrency !== undefined &&
    !(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1_000)
  )
    throw invalidArgument('concurrency', concurrency, 'a whole number from 1 to 1000')
  if (options.retry !== undefined) checkRetry(options.retry)
  const { attempts, backoff } = options.retry ?? {}
  checkAttempts('retry.attempts', attempts)
  if (backoff !== undefined && typeof backoff !== 'function') checkBackoff('retry.backoff', backoff)
}
