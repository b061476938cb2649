// Breakers and queues of the invented deployment.
import type { Queue } from '../../../../src/http/contract/index.ts'
import { defaultBreakerSettings } from '../../../../src/policy/dependency/breaker.ts'
import type { Breaker } from '../../../../src/store/job-store.ts'

function breakerOf(name: string, now: number, changes: Partial<Breaker>): Breaker {
  return {
    name,
    state: 'closed',
    since: new Date(now - 86_400_000),
    changedBy: null,
    reason: null,
    calls: 20,
    failures: 0,
    successes: 20,
    probing: 0,
    reopens: 0,
    unheard: 0,
    nextProbeInMs: null,
    earlyProbeInMs: null,
    heldForMs: null,
    lastCalls: callsOf(changes.failures ?? 0, now),
    settings: defaultBreakerSettings,
    queues: [],
    ...changes,
  }
}

/** Failures come in bursts. */
function callsOf(failures: number, now: number): Breaker['lastCalls'] {
  return Array.from({ length: 20 }, (_, index) => ({
    isFailure: index >= 18 - failures && index < 18,
    at: new Date(now - (20 - index) * 2_000),
  }))
}

function queueOf(queue: string, changes: Partial<Queue>): Queue {
  const none = { paused_at: null, paused_for_ms: null, paused_by: null, pause_reason: null }
  return {
    queue,
    table: 'jobs',
    waiting: 12,
    due: 7,
    running: 9,
    oldest_due_ms: 192_000,
    released_often: 0,
    is_paused: false,
    ...none,
    dependency: null,
    breaker_state: null,
    concurrency: null,
    group_concurrency: null,
    group_order: null,
    remedy: null,
    at_least: [],
    ...changes,
  }
}

export const breakersOf = (now: number): Breaker[] => [
  breakerOf('converter', now, {
    state: 'open',
    since: new Date(now - 42_000),
    failures: 14,
    successes: 6,
    nextProbeInMs: 18_000,
    queues: [{ attachment: 'jobs', queue: 'render' }],
  }),
  breakerOf('gateway', now, {
    failures: 1,
    successes: 19,
    queues: [{ attachment: 'jobs', queue: 'media' }],
  }),
]

export const queuesOf = (): Queue[] => [
  queueOf('media', { waiting: 18, due: 12, running: 16, dependency: 'gateway', breaker_state: 'closed' }),
  queueOf('render', { waiting: 9, due: 9, running: 5, dependency: 'converter', breaker_state: 'open' }),
  queueOf('io', { table: 'uploads', waiting: 0, due: 0, oldest_due_ms: null, running: 4 }),
]
