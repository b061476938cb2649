// What a machine that was too slow makes impossible to judge: whoever waited for a processor for half a lease could not keep one.

import type { Stall } from '../processes/stall-meter.ts'
import type { History } from './history.ts'

/** Every beat passes the proxies of the run and the database. */
const ON_THE_WAY = ['run', 'database']
/** A run that stops for a beat may stop for a lease. */
const STOPPED_MS = 500

/**
 * Could this worker have had no processor for its beats?
 * @param workerId `w1-3`
 */
export function isStarved({ stalls, times }: History, workerId: string, from: number, to: number) {
  const within = stalls.filter((stall) => stall.from <= to && stall.to >= from)
  if (within.some((stall) => stall.by !== 'processor' && stall.to - stall.from >= STOPPED_MS)) return true
  return waitedMs(within, [workerId.replace(/-\d+$/, ''), ...ON_THE_WAY]) >= times.leaseMs / 2
}

/** Could nobody who sweeps have had one? The least starved decides. */
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

/** The longest that anybody waited in as much time as a lease lasts: what a run on this machine can be trusted with. */
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
