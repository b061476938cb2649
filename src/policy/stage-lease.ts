// How long a lease of a stage lasts, when its hard deadline comes, and how long a whole attempt may run (LEASE-3, LEASE-8,
// LEASE-11). The database computes the same in sql/functions/jobs/lease; shared
// vectors hold them together.
import type { Policy } from './policy.ts'

export function stageLeaseMs(policy: Policy, stage: string, expectedDurationMs: number | null): number {
  const floorMs = ofName(policy.stageLeasesMs, stage) ?? policy.defaultLeaseMs
  const expectedMs = (expectedDurationMs ?? 0) * (ofName(policy.stageFactors, stage) ?? 0)
  // SQL multiplies decimals exactly: 50,000 × 1.1 must not become 55,001 here by a rounding error.
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

/** Of two times, where null is never. */
export function earlier(oneMs: number | null, otherMs: number | null): number | null {
  if (oneMs === null || otherMs === null) return oneMs ?? otherMs
  return Math.min(oneMs, otherMs)
}

/** A stage may be called `constructor`: only what the map itself says counts. */
function ofName(map: Record<string, number>, name: string): number | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}
