// The part of the store port that holds jobs back without touching them: breakers of dependencies, paused queues and
// rate limits. What it holds back stays waiting, and none of it ends a job or costs an attempt (BREAK-2, RATE-5).
import type { BreakerSettings, BreakerState, DependencyCall } from '../../policy/breaker.ts'
import type { RateLimit, TokenGrant } from '../../policy/rate-limit.ts'

export interface DependencyStore {
  /** Binds a queue to the breaker of what its jobs call; null takes that away. Answers whether anything changed. */
  mapDependency(queue: string, name: string | null): Promise<boolean>

  /** Changes settings of a breaker; takes effect with the next call of anyone. */
  writeBreaker(name: string, change: Partial<BreakerSettings>): Promise<Breaker>
  /** What calls of the dependency came to, in their order. */
  recordCalls(name: string, calls: DependencyCall[]): Promise<Breaker>
  /** What a health probe outside any job found. It counts in mode hold after `nextProbeInMs`, else after `earlyProbeInMs`. */
  recordProbe(name: string, isHealthy: boolean): Promise<Breaker>
  /** Keeps jobs of the dependency from being claimed, whatever its calls say. */
  holdBreaker(name: string, options?: HoldOptions): Promise<Breaker>
  /** Ends a hold, and closes the breaker where it is open. */
  resumeBreaker(name: string, options?: ActorOptions): Promise<Breaker>
  /** Forgets a breaker and its settings, unless a queue of any table is bound to it. */
  deleteBreaker(name: string): Promise<DeleteBreakerOutcome>
  /** Those of all job tables: breakers are shared by name. */
  listBreakers(): Promise<Breaker[]>

  /** Keeps jobs of the queue from being claimed; running ones go on. False where it was paused already. */
  pauseQueue(queue: string, options?: HoldOptions): Promise<boolean>
  /** False where it was not paused. */
  resumeQueue(queue: string, options?: ActorOptions): Promise<boolean>
  /** Every queue of this table that has unfinished jobs, a pause or a dependency. */
  listQueues(): Promise<QueueStatus[]>

  /** Takes up to `tokens` (1 where absent) from all limits together, as many as the emptiest of them has. */
  takeTokens(limits: RateLimit[], tokens?: number): Promise<TokenGrant>
  /** Buckets as they are now, the one that was used last first. Those of all job tables: limits are shared by key. */
  listRateLimits(request?: RateLimitRequest): Promise<RateLimitStatus[]>
  /** Forgets buckets that have been full for an hour, at most `limit` (1000). Answers how many. */
  pruneRateLimits(limit?: number): Promise<number>
}

/** Who did it and why, kept with the state. */
export interface ActorOptions {
  actor?: string
  reason?: string
}

export interface HoldOptions extends ActorOptions {
  /** Ends by itself after this time; where absent, somebody has to resume it. */
  durationMs?: number
}

export interface RateLimitRequest {
  /** Keys that begin with this text. */
  prefix?: string
  /** 1 to 1000; 100 where absent. */
  limit?: number
}

export interface RateLimitStatus {
  key: string
  /** As the last caller had them; null where none has told them yet, as are the tokens. */
  ratePerS: number | null
  burst: number | null
  /** Whole tokens that may be taken now. */
  tokens: number | null
  /** Until there is one token more; 0 where it is full. */
  nextTokenInMs: number | null
  fullInMs: number
  usedAt: Date | null
}

export type DeleteBreakerOutcome = 'deleted' | 'in-use' | 'not-found'

/** A breaker that nobody has written yet comes into being with the default settings. */
export interface Breaker {
  name: string
  state: BreakerState
  /** Of the last change: opened, closed, held, resumed. */
  since: Date
  /** Null where the engine did it. */
  changedBy: string | null
  /** `calls-failed`, `probes-succeeded`, `limited` by the service itself, or what the operator wrote. */
  reason: string | null
  /** In the window, and how many of them failed. */
  calls: number
  failures: number
  /** Probes that went well since it opened, in a row. */
  successes: number
  /** Jobs that run as probes. */
  probing: number
  /** How often in a row it was tried too early: in mode hold each doubles the cooldown. */
  reopens: number
  /** Until a health probe counts, and half-open begins; null where the breaker is closed. */
  nextProbeInMs: number | null
  /** Until a health probe may start half-open before that; null where none may. */
  earlyProbeInMs: number | null
  /** Until a hold ends by itself; null where it does not, or there is none. */
  heldForMs: number | null
  /** The last 20 in the window, the oldest first; without a time where no age is looked at. */
  lastCalls: { isFailure: boolean; at: Date | null }[]
  settings: BreakerSettings
  /** The queues whose jobs it holds back. */
  queues: { attachment: string; queue: string }[]
}

export interface QueueStatus {
  queue: string
  waiting: number
  due: number
  running: number
  isPaused: boolean
  pausedAt: Date | null
  /** Until the pause ends by itself; null where it does not, or there is none. */
  pausedForMs: number | null
  pausedBy: string | null
  pauseReason: string | null
  dependency: string | null
  breakerState: BreakerState | null
}
