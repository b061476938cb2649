// Whether a table is swept and in time: one rule for the CLI, the HTTP API, the dashboard and doctor.
/** Sweep intervals without a sweep after which the reaper counts as absent. */
const LATE_SWEEPS = 3

export interface SweepFacts {
  /** Time since the last sweep; null if there was none. */
  reaperAgeMs: number | null
  running: number
  oldestOverdueMs: number | null
  /** Why expired leases are held, after an outage. */
  holdReason: string | null
  /** Jobs that row security hides from the current role. */
  hidden: object | null
}

export function isReaperLate(reaperAgeMs: number | null, sweepIntervalMs: number): boolean {
  return reaperAgeMs === null || reaperAgeMs > LATE_SWEEPS * sweepIntervalMs
}

/** The promise is broken by one rescue that came late. */
export function isPromiseKept({ rescued, inTime }: { rescued: number; inTime: number }): boolean {
  return inTime >= rescued
}

/** A table without running jobs needs no reaper. Leases held after an outage are overdue on purpose. */
export function isTableHealthy(facts: SweepFacts, sweepIntervalMs: number): boolean {
  const { reaperAgeMs, running, oldestOverdueMs, holdReason, hidden } = facts
  if (hidden !== null) return false
  if (running > 0 && isReaperLate(reaperAgeMs, sweepIntervalMs)) return false
  return holdReason !== null || (oldestOverdueMs ?? 0) <= LATE_SWEEPS * sweepIntervalMs
}
