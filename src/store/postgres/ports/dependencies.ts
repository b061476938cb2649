import { jsonText } from '../../../job/json-text.ts'
import { type ActorOptions, COUNT_LIMIT } from '../../ports/call-options.ts'
import type {
  Breaker,
  DeleteBreakerOutcome,
  DependencyStore,
  QueueLimits,
} from '../../ports/dependency-store.ts'
import { requireQueueLimits } from '../../require-queue-limits.ts'
import type { CallQuery } from '../connection/call-query.ts'
import { breakerChangeToJson, toBreaker, toQueues, toRateLimitStatus } from '../rows/dependency-rows.ts'

export function bindDependencyVerbs(call: CallQuery): DependencyStore {
  const callBreaker = async (name: string, params: unknown[]): Promise<Breaker> => {
    const [row] = await call(name, params)
    return toBreaker(row ?? {})
  }
  return {
    async mapDependency(queue, name) {
      const [row] = await call('map_dependency', [queue, name])
      return row?.['is_changed'] === true
    },

    writeBreaker: async (name, change) => callBreaker('write_breaker', [name, breakerChangeToJson(change)]),

    async recordCalls(name, calls) {
      const outcomes = calls.map(({ isFailure, jobId, limitedMs }) => {
        return { is_failure: isFailure, job_id: jobId, limited_ms: limitedMs }
      })
      return callBreaker('record_calls', [name, jsonText('calls', outcomes)])
    },

    recordProbe: (name, isHealthy) => callBreaker('record_probe', [name, isHealthy]),

    holdBreaker: (name, { durationMs, actor, reason } = {}) =>
      callBreaker('hold_breaker', [name, durationMs ?? null, actor ?? null, reason ?? null]),

    resumeBreaker: (name, { actor, reason } = {}) =>
      callBreaker('resume_breaker', [name, actor ?? null, reason ?? null]),

    async deleteBreaker(name) {
      const [row] = await call('delete_breaker', [name])
      return row?.['outcome'] as DeleteBreakerOutcome
    },

    async listBreakers() {
      return (await call('list_breakers', [])).map(toBreaker)
    },

    async pauseQueue(queue, { durationMs, actor, reason } = {}) {
      const [row] = await call('pause_queue', [queue, durationMs ?? null, actor ?? null, reason ?? null])
      return row?.['is_new'] === true
    },

    async resumeQueue(queue, { actor, reason } = {}) {
      const [row] = await call('resume_queue', [queue, actor ?? null, reason ?? null])
      return row?.['was_paused'] === true
    },

    limitQueue: (queue, limits, options = {}) => limitQueue(call, queue, limits, options),
    async listQueues({ queues, countLimit = COUNT_LIMIT } = {}) {
      const rows = await call('list_queues', [queues ?? null, countLimit])
      return { queues: toQueues(rows), isComplete: rows[0]?.['is_complete'] !== false }
    },

    async takeTokens(limits, tokens = 1) {
      const requested = limits.map(({ key, ratePerS, burst }) => ({ key, rate_per_s: ratePerS, burst }))
      const [row] = await call('take_tokens', [jsonText('limits', requested), tokens])
      return { granted: Number(row?.['granted']), retryInMs: Number(row?.['retry_in_ms']) }
    },

    async listRateLimits({ prefix, limit } = {}) {
      return (await call('list_rate_limits', [prefix ?? null, limit ?? 100])).map(toRateLimitStatus)
    },

    async pruneRateLimits(limit = 1000) {
      const [row] = await call('prune_rate_limits', [limit])
      return Number(row?.['deleted'])
    },
  }
}

async function limitQueue(
  call: CallQuery,
  queue: string,
  limits: QueueLimits | null,
  { actor, reason }: ActorOptions,
): Promise<boolean> {
  requireQueueLimits(limits)
  const { concurrency, groupConcurrency, groupOrder } = limits ?? {}
  const params = [queue, concurrency, groupConcurrency, groupOrder, actor, reason]
  const [row] = await call(
    'limit_queue',
    params.map((value) => value ?? null),
  )
  return row?.['is_changed'] === true
}
