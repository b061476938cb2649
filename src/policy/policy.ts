// What a deployment decides for one job table. Stored as a row beside the table, changeable without a
// redeploy, and overridable per call. `snake_case` of each name is its column in `unstuck.policies`.

/** When the `attempt` column grows. */
export type AttemptCountedAt = 'claim' | 'failure' | 'failure-and-reap'
/** What a failure is bounded by: `maxAttempts` against the attempt column, or against failures alone. */
export type FailureBudget = 'attempts' | 'failures'
/** What a reap is bounded by: the attempt column, or crashes and timeouts against limits of their own. */
export type ReapBudget = 'attempts' | 'crashes'

export interface Policy {
  attemptCountedAt: AttemptCountedAt
  failureBudget: FailureBudget
  reapBudget: ReapBudget
  /** For rows that have no `max_attempts` of their own. */
  maxAttempts: number
  maxCrashes: number
  maxTimeouts: number
  /** The floor of every lease, and what a job without an expectation gets. */
  defaultLeaseMs: number
  /** A floor per stage, instead of the default. */
  stageLeasesMs: Record<string, number>
  /** Lease = expected duration × factor of the stage. */
  stageFactors: Record<string, number>
  /** The stage of rows whose stage is NULL; their type where this is null. */
  defaultStage: string | null
  /** 0 switches the deadline off. */
  defaultDeadlineMs: number
  stageDeadlinesMs: Record<string, number>
  /** Of one attempt, over all its stages: no lease and no deadline reaches past it. 0 switches it off. */
  maxRuntimeMs: number
  /** Per type, instead of `maxRuntimeMs`. */
  typeRuntimesMs: Record<string, number>
  heartbeatMs: number
  sweepIntervalMs: number
  /** The steps win over base and max where there are any. */
  reapBackoffStepsMs: number[]
  reapBackoffBaseMs: number
  reapBackoffMaxMs: number
  failureBackoffStepsMs: number[]
  failureBackoffBaseMs: number
  failureBackoffMaxMs: number
  failureBackoffJitterMs: number
  /** After a mass outage jobs come back at about this rate; 0 means all at once. */
  requeueRatePerS: number
  /** Judge running rows that have no lease by the age of their newest time. */
  legacyAgeRule: boolean
  /** Those of all stages, or only of stages with a lease of their own: the others are reported. */
  legacyAgeStages: 'all' | 'listed'
  retentionDays: number
  /** `recovery` events are always written; `all` adds ordinary life. */
  events: 'recovery' | 'all'
  /** Tell listening workers of new work at once; off, they find it when they next look. */
  notify: 'on' | 'off'
  /** Which jobs are told to an outside queue: `requeued` means those that go back to waiting. */
  dispatch: 'off' | 'requeued'
}

/** Overrides per call. The maps are merged key by key, everything else is replaced. */
export type PolicyOverride = Partial<Policy>

/** The policy of the native table, and the base of every profile's. */
export const nativePolicy: Policy = {
  attemptCountedAt: 'claim',
  failureBudget: 'failures',
  reapBudget: 'crashes',
  maxAttempts: 3,
  maxCrashes: 3,
  maxTimeouts: 3,
  defaultLeaseMs: 300_000,
  stageLeasesMs: {},
  stageFactors: {},
  defaultStage: null,
  defaultDeadlineMs: 86_400_000,
  stageDeadlinesMs: {},
  maxRuntimeMs: 86_400_000,
  typeRuntimesMs: {},
  heartbeatMs: 15_000,
  sweepIntervalMs: 60_000,
  reapBackoffStepsMs: [30_000, 120_000, 600_000],
  reapBackoffBaseMs: 30_000,
  reapBackoffMaxMs: 600_000,
  failureBackoffStepsMs: [],
  failureBackoffBaseMs: 5_000,
  failureBackoffMaxMs: 3_600_000,
  failureBackoffJitterMs: 5_000,
  requeueRatePerS: 50,
  legacyAgeRule: false,
  legacyAgeStages: 'all',
  retentionDays: 14,
  events: 'recovery',
  notify: 'on',
  dispatch: 'off',
}

/** The preset `brisk`: a lost job is taken back in under a minute, for jobs that can beat every 15 s. */
export const briskPolicy = {
  defaultLeaseMs: 45_000,
  heartbeatMs: 15_000,
  sweepIntervalMs: 5_000,
} satisfies PolicyOverride

export function withOverride(policy: Policy, override: PolicyOverride | undefined): Policy {
  if (override === undefined) return policy
  return {
    ...policy,
    ...override,
    stageLeasesMs: { ...policy.stageLeasesMs, ...override.stageLeasesMs },
    stageFactors: { ...policy.stageFactors, ...override.stageFactors },
    stageDeadlinesMs: { ...policy.stageDeadlinesMs, ...override.stageDeadlinesMs },
    typeRuntimesMs: { ...policy.typeRuntimesMs, ...override.typeRuntimesMs },
  }
}
