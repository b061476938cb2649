// The policies of a run: nothing random, all durations whole hours (see timing.ts), every event written.
import fc from 'fast-check'
import type {
  AttemptCountedAt,
  FailureBudget,
  Policy,
  PolicyOverride,
  ReapBudget,
} from '../../src/policy/policy.ts'
import { HOUR } from './timing.ts'

export const basePolicy: PolicyOverride = {
  defaultLeaseMs: HOUR,
  stageLeasesMs: { upload: 3 * HOUR },
  stageFactors: { encode: 2 },
  defaultStage: null,
  defaultDeadlineMs: 5 * HOUR,
  stageDeadlinesMs: { upload: 2 * HOUR },
  maxRuntimeMs: 6 * HOUR,
  reapBackoffStepsMs: [0, HOUR, 2 * HOUR],
  failureBackoffStepsMs: [],
  failureBackoffBaseMs: HOUR,
  failureBackoffMaxMs: 3 * HOUR,
  failureBackoffJitterMs: 0,
  requeueRatePerS: 0,
  legacyAgeRule: false,
  retentionDays: 1,
  events: 'all',
}

const limits = {
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  maxCrashes: fc.integer({ min: 1, max: 3 }),
  maxTimeouts: fc.integer({ min: 1, max: 3 }),
}

/** Changes of an operator while jobs run. */
export const limitChange: fc.Arbitrary<PolicyOverride> = fc
  .record(limits, { requiredKeys: [] })
  .filter((change) => Object.keys(change).length > 0)

/** How a table counts. */
export type Counting = Pick<Policy, 'attemptCountedAt' | 'failureBudget' | 'reapBudget'>

/** Every way that the engine takes: a crash that never counts may not be what reaps are bounded by. */
export const everyCounting: fc.Arbitrary<Counting> = fc
  .record({
    attemptCountedAt: fc.constantFrom<AttemptCountedAt>('claim', 'failure', 'failure-and-reap'),
    failureBudget: fc.constantFrom<FailureBudget>('failures', 'attempts'),
    reapBudget: fc.constantFrom<ReapBudget>('crashes', 'attempts'),
  })
  .filter(({ attemptCountedAt, reapBudget }) => reapBudget !== 'attempts' || attemptCountedAt !== 'failure')

export function countingOf({ attemptCountedAt, failureBudget, reapBudget }: Policy): fc.Arbitrary<Counting> {
  return fc.constant({ attemptCountedAt, failureBudget, reapBudget })
}

/** The policy that a run starts with. */
export function startPolicy(counting: fc.Arbitrary<Counting>): fc.Arbitrary<PolicyOverride> {
  const atLeastTwo = { ...limits, maxAttempts: fc.integer({ min: 2, max: 4 }) }
  return fc.tuple(counting, fc.record(atLeastTwo)).map(([way, limit]) => ({ ...way, ...limit }))
}
