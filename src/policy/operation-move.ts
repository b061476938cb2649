// The next step of an operation. A redrive requeues a canary first, then the rest at a rate, and stops if jobs fail again or
// their dependency is down. Other operations go on until every job was handled.

export interface OperationFacts {
  action: string
  canary: number
  ratePerS: number | null
  phase: 'canary' | 'rest' | null
  phaseMs: number | null
  total: number
  changed: number
  refused: number
  succeeded: number
  failed: number
  /** Number of requeued jobs whose outcome is watched. */
  sample: number
  /** The breaker of one of its queues is open. */
  isHeldBack: boolean
}

export type OperationStop =
  | 'canary-failed'
  | 'canary-timeout'
  | 'too-many-failures'
  | 'breaker-open'
  | 'interrupted'

export type OperationMove =
  | { kind: 'change'; limit: number; phase: 'canary' | 'rest'; pauseMs: number }
  /** Wait for the canary. */
  | { kind: 'wait' }
  /** Null if every job was handled. */
  | { kind: 'end'; stopped: OperationStop | null }

const MIN_SAMPLE = 20
const MAX_BATCH = 500
const CANARY_TIMEOUT_MS = 600_000

export function nextMove(facts: OperationFacts): OperationMove {
  const { action, canary, phase, total, changed, refused } = facts
  const taken = changed + refused
  if (action === 'redrive' && canary > 0 && phase !== 'rest') {
    const move = canaryMove(facts, taken)
    if (move !== null) return move
  }
  if (taken >= total) return { kind: 'end', stopped: null }
  const stopped = action === 'redrive' ? whatStops(facts) : null
  return stopped === null ? { kind: 'change', phase: 'rest', ...paceOf(facts) } : { kind: 'end', stopped }
}

/** Null if the canary succeeded. */
function canaryMove(facts: OperationFacts, taken: number): OperationMove | null {
  const { canary, total, failed, succeeded, sample, phaseMs, isHeldBack } = facts
  if (failed > 0) return { kind: 'end', stopped: 'canary-failed' }
  // A refused job proves nothing: the next takes its place.
  if (sample < canary && taken < total) {
    if (isHeldBack) return { kind: 'end', stopped: 'breaker-open' }
    return { kind: 'change', limit: canary - sample, phase: 'canary', pauseMs: 0 }
  }
  if (succeeded >= sample) return null
  if (isHeldBack) return { kind: 'end', stopped: 'breaker-open' }
  return (phaseMs ?? 0) >= CANARY_TIMEOUT_MS ? { kind: 'end', stopped: 'canary-timeout' } : { kind: 'wait' }
}

function whatStops({ failed, canary, total, isHeldBack }: OperationFacts): OperationStop | null {
  const sampleSize = Math.min(Math.max(MIN_SAMPLE, canary), total)
  if (failed > 0 && failed * 2 >= sampleSize) return 'too-many-failures'
  return isHeldBack ? 'breaker-open' : null
}

/** One batch per second, or one job at a time below one job per second. */
function paceOf({ ratePerS }: OperationFacts): { limit: number; pauseMs: number } {
  if (ratePerS === null) return { limit: MAX_BATCH, pauseMs: 0 }
  const limit = Math.min(MAX_BATCH, Math.max(1, Math.floor(ratePerS)))
  return { limit, pauseMs: (limit * 1_000) / ratePerS }
}
