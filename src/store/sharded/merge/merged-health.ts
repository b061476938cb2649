// One health, one list of queues and one SLO out of those of the shards: counts are sums, ages the worst of them.
import type { Health, QueueStatus, RescueCause, Slo } from '../../job-store.ts'
import { groupBy } from '../routing/group-by.ts'

const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)
const worst = (ages: (number | null)[]) =>
  ages.reduce((most, age) => (age === null || (most !== null && most >= age) ? most : age), null)

export function mergeHealth(parts: Health[]): Health {
  const sumOf = (field: 'waiting' | 'due' | 'running' | 'overdue' | 'unjudged' | 'releasedOften') =>
    total(parts.map((part) => part[field]))
  return {
    waiting: sumOf('waiting'),
    due: sumOf('due'),
    running: sumOf('running'),
    overdue: sumOf('overdue'),
    unjudged: sumOf('unjudged'),
    releasedOften: sumOf('releasedOften'),
    oldestOverdueMs: worst(parts.map(({ oldestOverdueMs }) => oldestOverdueMs)),
    oldestDueMs: worst(parts.map(({ oldestDueMs }) => oldestDueMs)),
    // Null if a shard was never swept.
    reaperAgeMs: parts.some(({ reaperAgeMs }) => reaperAgeMs === null)
      ? null
      : worst(parts.map(({ reaperAgeMs }) => reaperAgeMs)),
    holdReason: parts.find(({ holdReason }) => holdReason !== null)?.holdReason ?? null,
    hidden: parts.find(({ hidden }) => hidden !== null)?.hidden ?? null,
    atLeast: [...new Set(parts.flatMap(({ atLeast }) => atLeast))],
    queues: mergeQueues(parts.map(({ queues }) => queues)),
  }
}

/** A pause and a binding apply to all shards; the first that has one speaks for them. */
export function mergeQueues(parts: QueueStatus[][]): QueueStatus[] {
  const byName = groupBy(parts.flat(), ({ queue }) => queue)
  return [...byName.values()]
    .map(({ items: same }) => {
      const [first] = same
      const sumOf = (field: 'waiting' | 'due' | 'running' | 'releasedOften') =>
        total(same.map((part) => part[field]))
      return {
        ...(first as QueueStatus),
        ...same.find(({ dependency }) => dependency !== null),
        ...same.find(({ breakerState }) => breakerState !== null && breakerState !== 'closed'),
        ...pauseOf(same),
        waiting: sumOf('waiting'),
        due: sumOf('due'),
        running: sumOf('running'),
        releasedOften: sumOf('releasedOften'),
        oldestDueMs: worst(same.map(({ oldestDueMs }) => oldestDueMs)),
        atLeast: [...new Set(same.flatMap(({ atLeast }) => atLeast))],
      }
    })
    .toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
}

function pauseOf(same: QueueStatus[]) {
  const paused = same.find(({ isPaused }) => isPaused)
  if (paused === undefined) return {}
  const { isPaused, pausedAt, pausedForMs, pausedBy, pauseReason } = paused
  return { isPaused, pausedAt, pausedForMs, pausedBy, pauseReason }
}

/** The median of the whole is not known: the worst of the shards is reported. */
export function mergeSlo(parts: Slo[]): Slo {
  const rescued = total(parts.map((part) => part.rescued))
  const inTime = total(parts.map((part) => part.inTime))
  const causes: RescueCause[] = ['crash', 'timeout', 'worker-gone']
  const byCause = causes.map((cause) => [cause, total(parts.map((part) => part.byCause[cause]))])
  return {
    rescued,
    inTime,
    share: rescued === 0 ? null : inTime / rescued,
    p50Ms: worst(parts.map(({ p50Ms }) => p50Ms)),
    p95Ms: worst(parts.map(({ p95Ms }) => p95Ms)),
    worstMs: worst(parts.map(({ worstMs }) => worstMs)),
    promiseMs: Math.max(...parts.map(({ promiseMs }) => promiseMs)),
    oldestStuckMs: worst(parts.map(({ oldestStuckMs }) => oldestStuckMs)),
    staleLeases: total(parts.map(({ staleLeases }) => staleLeases)),
    byCause: Object.fromEntries(byCause) as Slo['byCause'],
  }
}
