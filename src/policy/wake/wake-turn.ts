// Which workers of a fleet a hint wakes. Every worker orders the fleet by the same hash, so that one job wakes one of them and
// the others look after it in turn.

/** Jobs that a notification announced. */
export interface JobHint {
  /** Null: of any queue. */
  queue: string | null
  /** Infinite if unknown. */
  count: number
  /** 0: due now. */
  dueInMs: number
  /** Differs from hint to hint, so that another worker comes first. */
  seed: number
}

/** Workers with a free slot that hints reach and that claim from the same queues, by the hashes of their ids. */
export interface FleetGroup {
  queues: readonly string[]
  hashes: readonly number[]
}

/** Each worker waits this much longer than the one before it: enough for a claim, little for a job whose worker has died. */
const TURN_MS = 50
/** A turn that would come later is left to polling: by then 20 workers have looked. */
export const LAST_TURN_MS = 1_000

/** A hint that wakes everybody: one without a count, or for missed ones. */
export function hintForAll(dueInMs = 0): JobHint {
  return { queue: null, count: Number.POSITIVE_INFINITY, dueInMs, seed: 0 }
}

/**
 * Time from when the jobs are due until this worker acts; null if it leaves them to others. At 0 it claims, later it looks first
 * whether a job is left.
 */
export function wakeTurnMs(hint: JobHint, ownHash: number, fleet: readonly FleetGroup[]): number | null {
  const { queue, count, seed } = hint
  const own = mix(ownHash, seed)
  let before = 0
  for (const { queues, hashes } of fleet) {
    if (queue !== null && !queues.includes(queue)) continue
    for (const hash of hashes) if (mix(hash, seed) < own) before++
  }
  const turnMs = Math.max(0, before - count + 1) * TURN_MS
  return turnMs > LAST_TURN_MS ? null : turnMs
}

/** FNV-1a. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

/** Murmur's finalizer: seeds that follow each other give unrelated orders. */
function mix(hash: number, seed: number): number {
  let mixed = hash ^ Math.imul(seed, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
