// The words and ranges of the table "unstuck".policies, for stores that have no such table.
import { invalidArgument } from '../errors/index.ts'
import { type Policy, type PolicyOverride, withOverride } from './policy.ts'

interface FieldRange {
  takes: string
  holds: (value: unknown) => boolean
}

const YEAR_MS = 31_536_000_000
const durationMs = whole(0, YEAR_MS, 'milliseconds from 0 to one year')
const leaseMs = whole(1, YEAR_MS, 'milliseconds from 1 to one year')
const attempts = whole(1, 1_000, 'a whole number from 1 to 1000')
const flag: FieldRange = { takes: 'true or false', holds: (value) => typeof value === 'boolean' }
const factor = number(0, 1_000, 'a factor from 0 to 1000')

const ranges: Record<keyof Policy, FieldRange> = {
  attemptCountedAt: words('claim', 'failure', 'failure-and-reap'),
  failureBudget: words('attempts', 'failures'),
  reapBudget: words('attempts', 'crashes'),
  maxAttempts: attempts,
  maxCrashes: attempts,
  maxTimeouts: attempts,
  defaultLeaseMs: leaseMs,
  stageLeasesMs: byName('stages', leaseMs),
  stageFactors: byName('stages', factor),
  defaultStage: { takes: '1 to 200 characters, or null', holds: isStageOrNull },
  defaultDeadlineMs: durationMs,
  stageDeadlinesMs: byName('stages', durationMs),
  maxRuntimeMs: durationMs,
  typeRuntimesMs: byName('types', durationMs),
  heartbeatMs: leaseMs,
  sweepIntervalMs: leaseMs,
  reapBackoffStepsMs: listOf(durationMs),
  reapBackoffBaseMs: durationMs,
  reapBackoffMaxMs: durationMs,
  failureBackoffStepsMs: listOf(durationMs),
  failureBackoffBaseMs: durationMs,
  failureBackoffMaxMs: durationMs,
  failureBackoffJitterMs: durationMs,
  requeueRatePerS: number(0, 1_000_000, 'a number from 0 to 1000000'),
  legacyAgeRule: flag,
  legacyAgeStages: words('all', 'listed'),
  retentionDays: whole(1, 3_650, 'a whole number from 1 to 3650'),
  keepCompleted: flag,
  typeKeepCompleted: byName('types', flag),
  events: words('recovery', 'all'),
  notify: words('on', 'off'),
  dispatch: words('off', 'requeued'),
  presence: words('auto', 'off'),
}

/** Throws for the first invalid field of an override, or for an invalid combination. */
export function checkPolicy(policy: Policy, override: PolicyOverride): void {
  for (const [name, value] of Object.entries(override)) {
    if (!Object.hasOwn(ranges, name)) throw invalidArgument('policy', name, 'the names of the settings')
    const { takes, holds } = ranges[name as keyof Policy]
    if (!holds(value)) throw invalidArgument(name, value, takes)
  }
  const { reapBudget, attemptCountedAt } = withOverride(policy, override)
  // A job that only crashes would never end.
  if (reapBudget === 'attempts' && attemptCountedAt === 'failure')
    throw invalidArgument('reapBudget', reapBudget, 'crashes if attempts are counted at failure')
}

function number(min: number, max: number, takes: string): FieldRange {
  return { takes, holds: (value) => typeof value === 'number' && value >= min && value <= max }
}

function whole(min: number, max: number, takes: string): FieldRange {
  const range = number(min, max, takes)
  return { takes, holds: (value) => Number.isInteger(value) && range.holds(value) }
}

function words(...known: string[]): FieldRange {
  return { takes: known.join(' or '), holds: (value) => typeof value === 'string' && known.includes(value) }
}

function listOf({ takes, holds }: FieldRange): FieldRange {
  return { takes: `an array of ${takes}`, holds: (value) => Array.isArray(value) && value.every(holds) }
}

function byName(names: 'stages' | 'types', { takes, holds }: FieldRange): FieldRange {
  return {
    takes: `an object of ${names}, each with ${takes}`,
    holds: (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every(holds),
  }
}

function isStageOrNull(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value !== '' && Array.from(value).length <= 200)
}
