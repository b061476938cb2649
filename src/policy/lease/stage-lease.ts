// Lease and hard deadline of a stage, and the runtime limit of an attempt (LEASE-3, LEASE-8, LEASE-11). The database computes
// the same in sql/functions/jobs/lease; shared vectors test both.
import type { Policy } from '../policy.ts'

export function stageLeaseMs(policy: Policy, stage: string, expectedDurationMs: number | null): number {
  const floorMs = ofName(policy.stageLeasesMs, stage) ?? policy.defaultLeaseMs
  const expectedMs = (expectedDurationMs ?? 0) * (ofName(policy.stageFactors, stage) ?? 0)
  // SQL multiplies decimals exactly: 50,000 × 1.1 must not become 55,001 by a rounding error.
  return Math.max(floorMs, Math.ceil(Number(expectedMs.toFixed(6))))
}

export function stageDeadlineMs(policy: Policy, stage: string): number | null {
  const deadlineMs = ofName(policy.stageDeadlinesMs, stage) ?? policy.defaultDeadlineMs
  return deadlineMs > 0 ? deadlineMs : null
}

export function maxRuntimeMs(policy: Policy, type: string): number | null {
  const runtimeMs = ofName(policy.typeRuntimesMs, type) ?? policy.maxRuntimeMs
  return runtimeMs > 0 ? runtimeMs : null
}

/** The earlier of two times; null means never. */
export function earlier(oneMs: number | null, otherMs: number | null): number | null {
  if (oneMs === null || otherMs === null) return oneMs ?? otherMs
  return Math.min(oneMs, otherMs)
}

/** Own properties only: a stage may be called `constructor`. */
function ofName(map: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}
