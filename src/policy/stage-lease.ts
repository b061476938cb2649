// How long a lease of a stage lasts, and when its hard deadline comes (LEASE-3, LEASE-8). The database computes the same
// in sql/core/stage_lease_ms.sql and stage_deadline_ms.sql; shared vectors hold the two together.
import type { Policy } from './policy.ts'

export function stageLeaseMs(policy: Policy, stage: string, expectedDurationMs: number | null): number {
  const floorMs = ofStage(policy.stageLeasesMs, stage) ?? policy.defaultLeaseMs
  const expectedMs = (expectedDurationMs ?? 0) * (ofStage(policy.stageFactors, stage) ?? 0)
  // SQL multiplies decimals exactly: 50,000 × 1.1 must not become 55,001 here by a rounding error.
  return Math.max(floorMs, Math.ceil(Number(expectedMs.toFixed(6))))
}

export function stageDeadlineMs(policy: Policy, stage: string): number | null {
  const deadlineMs = ofStage(policy.stageDeadlinesMs, stage) ?? policy.defaultDeadlineMs
  return deadlineMs > 0 ? deadlineMs : null
}

/** A stage may be called `constructor`: only what the map itself says counts. */
function ofStage(map: Record<string, number>, stage: string): number | undefined {
  return Object.hasOwn(map, stage) ? map[stage] : undefined
}
