// Breakers, pauses and rate limits of the PostgreSQL store: every verb is one call of a function. Nothing is decided here.
import { jsonText } from '../../../job/json-text.ts'
import type { BreakerSettings, DependencyCall } from '../../../policy/breaker.ts'
import type { RateLimit, TokenGrant } from '../../../policy/rate-limit.ts'
import type {
  ActorOptions,
  Breaker,
  DeleteBreakerOutcome,
  DependencyStore,
  HoldOptions,
  QueueStatus,
  RateLimitRequest,
  RateLimitStatus,
} from '../../ports/dependency-store.ts'
import type { CallQuery } from '../connection/call-query.ts'
import { breakerChangeToJson, toBreaker, toQueueStatus, toRateLimitStatus } from '../rows/dependency-rows.ts'

export class PostgresDependencies implements DependencyStore {
  readonly #call: CallQuery

  constructor(call: CallQuery) {
    this.#call = call
  }

  async #breaker(name: string, params: unknown[]): Promise<Breaker> {
    const [row] = await this.#call(name, params)
    return toBreaker(row ?? {})
  }

  async mapDependency(queue: string, name: string | null): Promise<boolean> {
    const [row] = await this.#call('map_dependency', [queue, name])
    return row?.['is_changed'] === true
  }

  async writeBreaker(name: string, change: Partial<BreakerSettings>): Promise<Breaker> {
    return this.#breaker('write_breaker', [name, breakerChangeToJson(change)])
  }

  async recordCalls(name: string, calls: DependencyCall[]): Promise<Breaker> {
    const outcomes = calls.map(({ isFailure, jobId, limitedMs }) => {
      return { is_failure: isFailure, job_id: jobId, limited_ms: limitedMs }
    })
    return this.#breaker('record_calls', [name, jsonText('calls', outcomes)])
  }

  async recordProbe(name: string, isHealthy: boolean): Promise<Breaker> {
    return this.#breaker('record_probe', [name, isHealthy])
  }

  async holdBreaker(name: string, { durationMs, actor, reason }: HoldOptions = {}): Promise<Breaker> {
    return this.#breaker('hold_breaker', [name, durationMs ?? null, actor ?? null, reason ?? null])
  }

  async resumeBreaker(name: string, { actor, reason }: ActorOptions = {}): Promise<Breaker> {
    return this.#breaker('resume_breaker', [name, actor ?? null, reason ?? null])
  }

  async deleteBreaker(name: string): Promise<DeleteBreakerOutcome> {
    const [row] = await this.#call('delete_breaker', [name])
    return row?.['outcome'] as DeleteBreakerOutcome
  }

  async listBreakers(): Promise<Breaker[]> {
    return (await this.#call('list_breakers', [])).map(toBreaker)
  }

  async pauseQueue(queue: string, { durationMs, actor, reason }: HoldOptions = {}): Promise<boolean> {
    const params = [queue, durationMs ?? null, actor ?? null, reason ?? null]
    const [row] = await this.#call('pause_queue', params)
    return row?.['is_new'] === true
  }

  async resumeQueue(queue: string, { actor, reason }: ActorOptions = {}): Promise<boolean> {
    const [row] = await this.#call('resume_queue', [queue, actor ?? null, reason ?? null])
    return row?.['was_paused'] === true
  }

  async listQueues(): Promise<QueueStatus[]> {
    return (await this.#call('list_queues', [])).map(toQueueStatus)
  }

  async takeTokens(limits: RateLimit[], tokens = 1): Promise<TokenGrant> {
    const asked = limits.map(({ key, ratePerS, burst }) => ({ key, rate_per_s: ratePerS, burst }))
    const [row] = await this.#call('take_tokens', [jsonText('limits', asked), tokens])
    return { granted: Number(row?.['granted']), retryInMs: Number(row?.['retry_in_ms']) }
  }

  async listRateLimits({ prefix, limit }: RateLimitRequest = {}): Promise<RateLimitStatus[]> {
    return (await this.#call('list_rate_limits', [prefix ?? null, limit ?? 100])).map(toRateLimitStatus)
  }

  async pruneRateLimits(limit = 1000): Promise<number> {
    const [row] = await this.#call('prune_rate_limits', [limit])
    return Number(row?.['deleted'])
  }
}
