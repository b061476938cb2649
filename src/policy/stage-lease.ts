// How long a lease of a stage lasts, and when its hard deadline comes (LEASE-3, LEASE-8). The database computes the same
// in sql/core/stage_lease_ms.sql and stage_deadline_ms.sql; shared vectors hold the two together.
import type { Policy } from './policy.ts'

export function stageLeaseMs(policy: Policy, stage: string, expectedDurationMs: number | null): number {
  const floorMs = policy.stageLeasesMs[stage] ?? policy.defaultLeaseMs
  const expectedMs = (expectedDurationMs ?? 0) * (policy.stageFactors[stage] ?? 0)
  return Math.max(floorMs, Math.ceil(expectedMs))
}

export function stageDeadlineMs(policy: Policy, stage: string): number | null {
  const deadlineMs = policy.stageDeadlinesMs[stage] ?? policy.defaultDeadlineMs
  return deadlineMs > 0 ? deadlineMs : null
}
