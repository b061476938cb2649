// Maps rows to breakers, queues and rate limits.
import { jsonText } from '../../../job/json-text.ts'
import {
  type BreakerSettings,
  type BreakerState,
  defaultBreakerSettings,
} from '../../../policy/dependency/breaker.ts'
import type { Breaker, QueueStatus, RateLimitStatus } from '../../ports/dependency-store.ts'
import type { Row } from '../connection/executor.ts'
import { columnOf, date, dateOrNull, numberOrNull, text } from './values.ts'

export function toBreaker(row: Row): Breaker {
  return {
    name: String(row['name']),
    state: row['state'] as BreakerState,
    since: date(row['since']),
    changedBy: text(row['changed_by']),
    reason: text(row['reason']),
    calls: Number(row['calls']),
    failures: Number(row['failures']),
    successes: Number(row['successes']),
    probing: Number(row['probing']),
    reopens: Number(row['reopens']),
    nextProbeInMs: numberOrNull(row['next_probe_in_ms']),
    earlyProbeInMs: numberOrNull(row['early_probe_in_ms']),
    heldForMs: numberOrNull(row['held_for_ms']),
    lastCalls: (row['last_calls'] as Row[]).map((call) => ({
      isFailure: call['is_failure'] === true,
      at: dateOrNull(call['at']),
    })),
    settings: toSettings(row['settings'] as Row),
    queues: row['queues'] as Breaker['queues'],
  }
}

function toSettings(row: Row): BreakerSettings {
  const names = Object.keys(defaultBreakerSettings)
  return Object.fromEntries(names.map((name) => [name, row[columnOf(name)]])) as unknown as BreakerSettings
}

export function breakerChangeToJson(change: Partial<BreakerSettings>): string {
  const entries = Object.entries(change).map(([name, value]) => [columnOf(name), value])
  return jsonText('change', Object.fromEntries(entries))
}

export function toQueueStatus(row: Row): QueueStatus {
  return {
    queue: String(row['queue']),
    waiting: Number(row['waiting']),
    due: Number(row['due']),
    running: Number(row['running']),
    isPaused: row['is_paused'] === true,
    pausedAt: dateOrNull(row['paused_at']),
    pausedForMs: numberOrNull(row['paused_for_ms']),
    pausedBy: text(row['paused_by']),
    pauseReason: text(row['pause_reason']),
    dependency: text(row['dependency']),
    breakerState: text(row['breaker_state']) as BreakerState | null,
  }
}

export function toRateLimitStatus(row: Row): RateLimitStatus {
  return {
    key: String(row['key']),
    ratePerS: numberOrNull(row['rate_per_s']),
    burst: numberOrNull(row['burst']),
    tokens: numberOrNull(row['tokens']),
    nextTokenInMs: numberOrNull(row['next_token_in_ms']),
    fullInMs: Math.ceil(Number(row['full_in_ms'])),
    usedAt: dateOrNull(row['used_at']),
  }
}
