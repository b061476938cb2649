// Controls that keep jobs from being claimed: breakers of dependencies, paused queues and rate limits. None of them ends a job
// or costs an attempt (BREAK-2, RATE-5).
import type { BreakerSettings, BreakerState, DependencyCall } from '../../policy/dependency/breaker.ts'
import type { RateLimit, TokenGrant } from '../../policy/dependency/rate-limit.ts'
import type { ActorOptions, CountOption, ShardedAnswer } from './call-options.ts'

export interface DependencyStore {
  /** Binds a queue to the breaker of its dependency; null unbinds it. Returns whether anything changed. */
  mapDependency(queue: string, name: string | null): Promise<boolean>

  /** Changes settings of a breaker. Every later call uses them. */
  writeBreaker(name: string, change: Partial<BreakerSettings>): Promise<Breaker>
  /** Records results of calls of the dependency, in order. */
  recordCalls(name: string, calls: DependencyCall[]): Promise<Breaker>
  /** Records a health probe outside any job. It counts in mode hold after `nextProbeInMs`, else after `earlyProbeInMs`. */
  recordProbe(name: string, isHealthy: boolean): Promise<Breaker>
  /** Keeps jobs of the dependency from being claimed, whatever its calls report. */
  holdBreaker(name: string, options?: HoldOptions): Promise<Breaker>
  /** Ends a hold, and closes the breaker if it is open. */
  resumeBreaker(name: string, options?: ActorOptions): Promise<Breaker>
  /** Deletes a breaker and its settings, unless a queue of any table is bound to it. */
  deleteBreaker(name: string): Promise<DeleteBreakerOutcome>
  /** The breakers of all job tables: they are shared by name. */
  listBreakers(): Promise<Breaker[]>

  /** Keeps jobs of the queue from being claimed; running ones continue. False if it was already paused. */
  pauseQueue(queue: string, options?: HoldOptions): Promise<boolean>
  /** False if it was not paused. */
  resumeQueue(queue: string, options?: ActorOptions): Promise<boolean>
  /** Sets how many jobs of the queue, and of each of its groups, run at once; null removes the limits. False if nothing changed. */
  limitQueue(queue: string, limits: QueueLimits | null, options?: ActorOptions): Promise<boolean>
  /** Every queue of this table with unfinished jobs, a pause, a limit or a dependency, by name. */
  listQueues(request?: QueueRequest): Promise<QueueList>

  /** Takes up to `tokens` (1) from all limits together, as many as the emptiest of them has. */
  takeTokens(limits: RateLimit[], tokens?: number): Promise<TokenGrant>
  /** Current buckets of all job tables, the one used last first: limits are shared by key. */
  listRateLimits(request?: RateLimitRequest): Promise<RateLimitStatus[]>
  /** Deletes buckets that have been full for an hour, at most `limit` (1000). Returns how many. */
  pruneRateLimits(limit?: number): Promise<number>
}

export interface HoldOptions extends ActorOptions {
  /** Default: until somebody resumes it. */
  durationMs?: number
}

/** Limits that hold for all processes together, or for each shard. */
export interface QueueLimits {
  /** Jobs of the queue that run at once. Default: any number. */
  concurrency?: number | null | undefined
  /** Jobs of each group that run at once. Default: any number. */
  groupConcurrency?: number | null | undefined
  /** `fifo`: the jobs of a group run one at a time, in the order of their ids. */
  groupOrder?: 'fifo' | null | undefined
}

export interface RateLimitRequest {
  /** Prefix of the keys. */
  prefix?: string
  /** 1 to 1000. Default: 100. */
  limit?: number
}

export interface RateLimitStatus {
  key: string
  /** Settings of the last caller; null, like the tokens, if none has sent them yet. */
  ratePerS: number | null
  burst: number | null
  /** Whole tokens available now. */
  tokens: number | null
  /** Until the next token; 0 if the bucket is full. */
  nextTokenInMs: number | null
  fullInMs: number
  usedAt: Date | null
}

export type DeleteBreakerOutcome = 'deleted' | 'in-use' | 'not-found'

/** The first use of a name creates a breaker with the default settings. */
export interface Breaker {
  name: string
  state: BreakerState
  /** Time of the last change: opened, closed, held or resumed. */
  since: Date
  /** Null if the engine changed it. */
  changedBy: string | null
  /** `calls-failed`, `probes-succeeded`, `limited` by the service itself, or the operator's reason. */
  reason: string | null
  /** Calls in the window, and how many of them failed. */
  calls: number
  failures: number
  /** Consecutive successful probes since it opened. */
  successes: number
  /** Jobs that run as probes. */
  probing: number
  /** How often in a row it reopened: in mode hold each doubles the cooldown. */
  reopens: number
  /** While half-open: jobs let through in a row that reported no call, or not within the probe timeout. */
  unheard: number
  /** Until a health probe counts and half-open begins; null if the breaker is closed. */
  nextProbeInMs: number | null
  /** Until a health probe may start half-open early; null if none may. */
  earlyProbeInMs: number | null
  /** Until the hold ends by itself; null if it does not, or if there is none. */
  heldForMs: number | null
  /** The last 20 in the window, oldest first; without a time if the window has no age. */
  lastCalls: { isFailure: boolean; at: Date | null }[]
  settings: BreakerSettings
  /** The queues bound to it. */
  queues: { attachment: string; queue: string }[]
}

export interface QueueRequest extends CountOption {
  /** Only these. Default: all. */
  queues?: string[]
}

export interface QueueList extends ShardedAnswer {
  queues: QueueStatus[]
  /** False if more than 1,000 queues have waiting jobs: only the first 1,000 are listed. */
  isComplete: boolean
}

export interface QueueStatus {
  queue: string
  waiting: number
  due: number
  running: number
  /** How long its longest due job has been due; null if none is. */
  oldestDueMs: number | null
  /** Waiting jobs that were released 20 times, or over a day. */
  releasedOften: number
  isPaused: boolean
  pausedAt: Date | null
  /** Until the pause ends by itself; null if it does not, or if there is none. */
  pausedForMs: number | null
  pausedBy: string | null
  pauseReason: string | null
  dependency: string | null
  breakerState: BreakerState | null
  /** Limits; null if there is none. */
  concurrency: number | null
  groupConcurrency: number | null
  groupOrder: 'fifo' | null
  /** Counts that may be larger: large queues share the limit of the call. */
  atLeast: QueueCount[]
}

export type QueueCount = 'waiting' | 'due' | 'running' | 'releasedOften' | 'oldestDueMs'
