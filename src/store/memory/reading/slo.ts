import type { JobEvent } from '../../../job/event.ts'
import type { Policy } from '../../../policy/policy.ts'
import type { Slo, SloRequest } from '../../ports/reading-store.ts'
import { checkWhole } from '../state/checks.ts'
import type { MemoryState } from '../state/memory-state.ts'
import { policyOf } from '../state/policy-of.ts'
import { readHealth } from './health.ts'

const YEAR_MS = 31_536_000_000
const DAY_MS = 86_400_000
const POLL_MS = 2_000

interface Rescue {
  lastedMs: number
  leaseMs: number
  cause: 'crash' | 'timeout'
}

export function readSlo(state: MemoryState, request: SloRequest): Slo {
  const { windowMs = DAY_MS, pollMs = POLL_MS, policy: override } = request
  checkWhole(windowMs, 'window_ms', 1, YEAR_MS)
  checkWhole(pollMs, 'poll_ms', 0, YEAR_MS)
  const policy = policyOf(state.policy, override)
  const sinceMs = state.nowMs() - windowMs
  const rescues = [...state.events.values()].flatMap((story) => rescuesOf(story, policy, sinceMs))
  const graceMs = policy.sweepIntervalMs + pollMs
  const lasted = rescues.map(({ lastedMs }) => lastedMs).toSorted((a, b) => a - b)
  const inTime = rescues.filter(({ lastedMs, leaseMs }) => lastedMs <= leaseMs + graceMs).length
  const { overdue, oldestOverdueMs } = readHealth(state, override === undefined ? {} : { policy: override })
  return {
    rescued: rescues.length,
    inTime,
    share: rescues.length === 0 ? null : inTime / rescues.length,
    p50Ms: percentile(lasted, 0.5),
    p95Ms: percentile(lasted, 0.95),
    worstMs: lasted.at(-1) ?? null,
    promiseMs: policy.defaultLeaseMs + graceMs,
    oldestStuckMs: oldestOverdueMs,
    staleLeases: overdue,
    byCause: {
      crash: rescues.filter(({ cause }) => cause === 'crash').length,
      timeout: rescues.filter(({ cause }) => cause === 'timeout').length,
      'worker-gone': 0,
    },
  }
}

function rescuesOf(story: JobEvent[], { defaultLeaseMs }: Policy, sinceMs: number): Rescue[] {
  return story.flatMap(({ type, at, data }, index) => {
    const afterMs = data.details['rescued_after_ms']
    if (type !== 'processing' || typeof afterMs !== 'number' || at.getTime() <= sinceMs) return []
    const reap = story.slice(0, index).findLast((event) => event.type === 'reaper:requeued')
    if (reap === undefined) return []
    const { last_heartbeat_at: seen, lease_expires_at: ended, next_run_at: next } = reap.data.details
    const reapedMs = reap.at.getTime()
    const seenMs = timeOf(seen)
    const endedMs = timeOf(ended)
    const waitMs = (timeOf(next) ?? reapedMs) - reapedMs
    const darkMs = seenMs === null ? defaultLeaseMs : reapedMs - seenMs
    return {
      lastedMs: Math.max(0, darkMs + afterMs - waitMs),
      leaseMs: seenMs === null || endedMs === null ? defaultLeaseMs : endedMs - seenMs,
      cause: reap.data.details['reason'] === 'deadline_exceeded' ? ('timeout' as const) : ('crash' as const),
    }
  })
}

const timeOf = (value: unknown) => (typeof value === 'string' ? Date.parse(value) : null)

/** Discrete percentile: a value that occurred. */
function percentile(sorted: number[], share: number): number | null {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null
}
