// The policy of one job table: a row beside the table that can be changed without a redeploy and overridden per call. The
// `snake_case` of each name is its column in `unstuck.policies`.

/** When the `attempt` column grows. */
export type AttemptCountedAt = 'claim' | 'failure' | 'failure-and-reap'
/** Bound of failures: `maxAttempts` compared with the attempt column, or with failures alone. */
export type FailureBudget = 'attempts' | 'failures'
/** Bound of reaps: the attempt column, or separate limits for crashes and timeouts. */
export type ReapBudget = 'attempts' | 'crashes'

export interface Policy {
  attemptCountedAt: AttemptCountedAt
  failureBudget: FailureBudget
  reapBudget: ReapBudget
  /** For rows without their own `max_attempts`. */
  maxAttempts: number
  maxCrashes: number
  maxTimeouts: number
  /** Shortest lease, and the lease of a job without an expected duration. */
  defaultLeaseMs: number
  /** Shortest lease per stage, instead of the default. */
  stageLeasesMs: Record<string, number>
  /** Lease = expected duration × factor of the stage. */
  stageFactors: Record<string, number>
  /** Stage of rows whose stage is NULL; if null, their type. */
  defaultStage: string | null
  /** 0 disables the deadline. */
  defaultDeadlineMs: number
  stageDeadlinesMs: Record<string, number>
  /** Limit of one attempt over all its stages: no lease and no deadline extends past it. 0 disables it. */
  maxRuntimeMs: number
  /** Per type, instead of `maxRuntimeMs`. */
  typeRuntimesMs: Record<string, number>
  heartbeatMs: number
  sweepIntervalMs: number
  /** If there are steps, they replace base and max. */
  reapBackoffStepsMs: number[]
  reapBackoffBaseMs: number
  reapBackoffMaxMs: number
  failureBackoffStepsMs: number[]
  failureBackoffBaseMs: number
  failureBackoffMaxMs: number
  failureBackoffJitterMs: number
  /** After a mass outage, jobs are requeued at about this rate; 0 means all at once. */
  requeueRatePerS: number
  /** Reap running rows without a lease by the age of their newest timestamp. */
  legacyAgeRule: boolean
  /** `listed` reaps only rows of stages with their own lease, and reports the others. */
  legacyAgeStages: 'all' | 'listed'
  retentionDays: number
  /** False: a completion deletes the row instead. Native table only; a job of such a type has no result. */
  keepCompleted: boolean
  /** Per type, instead of `keepCompleted`. */
  typeKeepCompleted: Record<string, boolean>
  /** Recovery events are always written; `all` adds ordinary transitions. */
  events: 'recovery' | 'all'
  /** Notify listening workers of new jobs; `off`, they find them at the next poll. */
  notify: 'on' | 'off'
  /** Which jobs are published to an external queue. */
  dispatch: 'off' | 'requeued'
  /** Take back the jobs of a worker whose process has ended before their leases do (LEASE-10). */
  presence: 'auto' | 'off'
}

/** Overrides per call. Maps are merged key by key, everything else is replaced. */
export type PolicyOverride = Partial<Policy>

/** The policy of the native table. */
export const nativePolicy: Policy = {
  attemptCountedAt: 'claim',
  failureBudget: 'failures',
  reapBudget: 'crashes',
  maxAttempts: 3,
  maxCrashes: 3,
  maxTimeouts: 3,
  defaultLeaseMs: 60_000,
  stageLeasesMs: {},
  stageFactors: {},
  defaultStage: null,
  defaultDeadlineMs: 86_400_000,
  stageDeadlinesMs: {},
  maxRuntimeMs: 86_400_000,
  typeRuntimesMs: {},
  heartbeatMs: 15_000,
  sweepIntervalMs: 10_000,
  reapBackoffStepsMs: [1_000, 10_000, 60_000],
  reapBackoffBaseMs: 1_000,
  reapBackoffMaxMs: 60_000,
  failureBackoffStepsMs: [],
  failureBackoffBaseMs: 5_000,
  failureBackoffMaxMs: 3_600_000,
  failureBackoffJitterMs: 5_000,
  requeueRatePerS: 50,
  legacyAgeRule: false,
  legacyAgeStages: 'all',
  retentionDays: 14,
  keepCompleted: true,
  typeKeepCompleted: {},
  events: 'recovery',
  notify: 'on',
  dispatch: 'off',
  presence: 'auto',
}

/** Sets of matching times for `UNSTUCK_PRESET`. */
export const presetPolicies = {
  /** For short jobs over a fast network: an expired lease is noticed within 22 s. */
  brisk: { defaultLeaseMs: 20_000, heartbeatMs: 5_000, sweepIntervalMs: 2_000 },
  /** For jobs whose workers may be unreachable for minutes. */
  patient: {
    defaultLeaseMs: 300_000,
    heartbeatMs: 15_000,
    sweepIntervalMs: 60_000,
    reapBackoffStepsMs: [30_000, 120_000, 600_000],
  },
} satisfies Record<string, PolicyOverride>

export type PresetName = keyof typeof presetPolicies

/**
 * The policy of attached tables, on which the profiles of the documents are based. It is patient: a team's own workers may
 * send heartbeats late or not at all, and the documents give these times.
 */
export const attachedPolicy: Policy = {
  ...nativePolicy,
  ...presetPolicies.patient,
  reapBackoffBaseMs: 30_000,
  reapBackoffMaxMs: 600_000,
}

export function withOverride(policy: Policy, override: PolicyOverride | undefined): Policy {
  if (override === undefined) return policy
  return {
    ...policy,
    ...override,
    stageLeasesMs: { ...policy.stageLeasesMs, ...override.stageLeasesMs },
    stageFactors: { ...policy.stageFactors, ...override.stageFactors },
    stageDeadlinesMs: { ...policy.stageDeadlinesMs, ...override.stageDeadlinesMs },
    typeRuntimesMs: { ...policy.typeRuntimesMs, ...override.typeRuntimesMs },
    typeKeepCompleted: { ...policy.typeKeepCompleted, ...override.typeKeepCompleted },
  }
}

/** May a completion delete a row? */
export function deletesCompleted({ keepCompleted = true, typeKeepCompleted = {} }: PolicyOverride): boolean {
  return !keepCompleted || Object.keys(typeKeepCompleted).length > 0
}

export function keepsCompleted(
  { keepCompleted, typeKeepCompleted }: Pick<Policy, 'keepCompleted' | 'typeKeepCompleted'>,
  type: string,
): boolean {
  return typeKeepCompleted[type] ?? keepCompleted
}
