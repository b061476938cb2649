// Exempts processes that the machine starved: one that waited half a lease for a CPU could not have kept its lease.

import type { Stall } from '../processes/stall-meter.ts'
import type { History } from './history.ts'

/** Every heartbeat passes through the run's proxies and the database. */
const ON_THE_WAY = ['run', 'database']
/** A run that stalls for a heartbeat may stall for a lease. */
const STOPPED_MS = 500

/**
 * Whether this worker may have been starved of CPU.
 * @param workerId `w1-3`
 */
export function isStarved({ stalls, times }: History, workerId: string, from: number, to: number) {
  const within = stalls.filter((stall) => stall.from <= to && stall.to >= from)
  if (within.some((stall) => stall.by !== 'processor' && stall.to - stall.from >= STOPPED_MS)) return true
  return waitedMs(within, [workerId.replace(/-\d+$/, ''), ...ON_THE_WAY]) >= times.leaseMs / 2
}

/** Whether all sweepers may have been starved. The least starved decides. */
export function areAllStarved({ stalls, times }: History, from: number, to: number) {
  const within = stalls.filter((stall) => stall.from <= to && stall.to >= from)
  const sweepers = new Set(
    stalls.flatMap(({ who }) => (who === undefined || ON_THE_WAY.includes(who) ? [] : [who])),
  )
  if (sweepers.size === 0) return false
  const leastMs = Math.min(...[...sweepers].map((who) => waitedMs(within, [who, ...ON_THE_WAY])))
  return leastMs >= times.leaseMs / 2
}

function waitedMs(stalls: Stall[], names: string[]) {
  return stalls.reduce((sum, { who, ms = 0 }) => (names.includes(who ?? '') ? sum + ms : sum), 0)
}

/** The longest CPU wait of any process within one lease: how far a run on this machine can be trusted. */
export function worstWaitMs({ stalls, times }: History) {
  const waits = stalls.filter(({ by }) => by === 'processor')
  let worstMs = 0
  for (const { who, from } of waits)
    worstMs = Math.max(
      worstMs,
      waitedMs(
        waits.filter((wait) => wait.from >= from && wait.from < from + times.leaseMs),
        [who ?? ''],
      ),
    )
  return worstMs
}
