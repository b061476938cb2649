// Maps rows to breakers, queues and rate limits.
import { jsonText } from '../../../job/json-text.ts'
import type { BreakerSettings } from '../../../policy/dependency/breaker.ts'
import type { Breaker, QueueStatus, RateLimitStatus } from '../../ports/dependency-store.ts'
import type { Row } from '../connection/executor.ts'
import { columnOf, fieldsOf, fromRecord } from './values.ts'

export function toBreaker({ last_calls: lastCalls, settings, ...row }: Row): Breaker {
  return {
    ...fromRecord<Omit<Breaker, 'lastCalls' | 'settings'>>(row, ['since']),
    lastCalls: (lastCalls as Row[]).map((call) => fromRecord(call, ['at'])),
    settings: fromRecord<BreakerSettings>(settings as Row),
  }
}

export function breakerChangeToJson(change: Partial<BreakerSettings>): string {
  const entries = Object.entries(change).map(([name, value]) => [columnOf(name), value])
  return jsonText('change', Object.fromEntries(entries))
}

export function toQueues(rows: Row[]): QueueStatus[] {
  return rows.map(({ at_least: atLeast, ...row }) => {
    const status = fromRecord<Omit<QueueStatus, 'atLeast'>>(row, ['pausedAt'], 'is_complete')
    return { ...status, atLeast: fieldsOf(atLeast) }
  })
}

export function toRateLimitStatus(row: Row): RateLimitStatus {
  const status = fromRecord<RateLimitStatus>(row, ['usedAt'])
  return { ...status, fullInMs: Math.ceil(status.fullInMs) }
}
