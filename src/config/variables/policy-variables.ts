import { presetPolicies } from '../../policy/policy.ts'
import { shippedPolicy, shippedProfileNames } from '../../profile/shipped.ts'
import { milliseconds, seconds, type ValueKind } from './value-kind.ts'
import type { Variable } from './variable.ts'

const DAY_SEC = 86_400
const ATTEMPTS: ValueKind = { type: 'whole', unit: 'attempts', min: 1, max: 1000 }
const SLA_FACTOR: ValueKind = { type: 'decimal', min: 0.1, max: 1000 }

const backoffVariables: readonly Variable[] = [
  {
    name: 'JOB_RETRY_BACKOFF_MS_BASE',
    meaning:
      'First delay after a reap or a failure, doubled each time. If set, it replaces the steps (native: 1 s, 10 s, 1 min; clip: 30 s, 2 min, 10 min); the cap is then the last step.',
    kind: milliseconds(0),
    profiles: ['native', 'clip'],
    default: null,
    sets: ['policy.reapBackoffBaseMs', 'policy.failureBackoffBaseMs'],
    requirement: 'REAP-5',
  },
  {
    name: 'JOB_RETRY_BACKOFF_MS_MAX',
    meaning: 'Cap of that delay. If set, it replaces the steps; the base is then the first step.',
    kind: milliseconds(0),
    profiles: ['native', 'clip'],
    default: null,
    sets: ['policy.reapBackoffMaxMs', 'policy.failureBackoffMaxMs'],
    requirement: 'REAP-5',
  },
  {
    name: 'RETRY_BASE_DELAY_MS',
    meaning: 'First delay after a failure, doubled each time.',
    kind: milliseconds(0),
    profiles: ['native', 'converter'],
    default: '5000',
    sets: ['policy.failureBackoffBaseMs'],
    requirement: 'FAIL-4',
  },
  {
    name: 'RETRY_JITTER_MAX_MS',
    meaning: 'Upper bound of the random time added to the delay after a failure.',
    kind: milliseconds(0),
    profiles: ['native', 'converter'],
    default: '5000',
    sets: ['policy.failureBackoffJitterMs'],
    requirement: 'FAIL-4',
  },
  {
    name: 'QUEUE_RETRY_BACKOFF_MS_BASE',
    meaning: 'Same as `JOB_RETRY_BACKOFF_MS_BASE`, which takes precedence.',
    kind: milliseconds(0),
    profiles: ['native', 'clip'],
    default: null,
    sets: ['policy.reapBackoffBaseMs', 'policy.failureBackoffBaseMs'],
    requirement: 'REAP-5',
  },
  {
    name: 'QUEUE_RETRY_BACKOFF_MS_MAX',
    meaning: 'Same as `JOB_RETRY_BACKOFF_MS_MAX`, which takes precedence.',
    kind: milliseconds(0),
    profiles: ['native', 'clip'],
    default: null,
    sets: ['policy.reapBackoffMaxMs', 'policy.failureBackoffMaxMs'],
    requirement: 'REAP-5',
  },
]

const attemptVariables: readonly Variable[] = [
  {
    name: 'JOB_MAX_ATTEMPTS',
    meaning:
      'Maximum number of attempts. Written into the row at enqueue; the row’s own `max_attempts` takes precedence.',
    kind: ATTEMPTS,
    profiles: ['native', 'clip', 'embedding'],
    default: '3',
    sets: ['policy.maxAttempts'],
    requirement: 'OPS-8',
  },
  {
    name: 'RETRY_MAX_ATTEMPTS',
    meaning: 'Same as `JOB_MAX_ATTEMPTS`, which takes precedence.',
    kind: ATTEMPTS,
    profiles: ['native', 'converter'],
    default: '3',
    sets: ['policy.maxAttempts'],
    requirement: 'FAIL-4',
  },
  {
    name: 'QUEUE_MAX_ATTEMPTS',
    meaning: 'Same as `JOB_MAX_ATTEMPTS`, which takes precedence.',
    kind: ATTEMPTS,
    profiles: ['native', 'clip', 'embedding'],
    default: '3',
    sets: ['policy.maxAttempts'],
    requirement: 'OPS-8',
  },
]

const leaseVariables: readonly Variable[] = [
  {
    name: 'UNSTUCK_PRESET',
    meaning:
      'A set of matching times: `brisk` is a lease of 20 s, a heartbeat every 5 s and a sweep every 2 s; `patient` is a lease of 300 s, a heartbeat every 15 s, a sweep every 60 s, and 30 s, 2 min, 10 min after a reap. Individual settings override it.',
    kind: { type: 'choice', words: Object.keys(presetPolicies) },
    profiles: ['native', 'clip', 'embedding'],
    default: null,
    sets: ['preset'],
    requirement: 'OPS-8',
  },
  {
    name: 'REAPER_INTERVAL_SEC',
    meaning: 'Interval between two sweeps of a reaper.',
    kind: seconds(DAY_SEC),
    profiles: shippedProfileNames,
    default: { native: '10', clip: '60', embedding: '60', executor: '30', converter: '2' },
    sets: ['policy.sweepIntervalMs'],
    requirement: 'REAP-6',
    flag: 'intervalSec',
  },
  {
    name: 'HEARTBEAT_SEC',
    meaning:
      'Interval between two heartbeats of a worker. At least two must fit into a lease; three are recommended.',
    kind: seconds(DAY_SEC),
    profiles: shippedProfileNames,
    default: { native: '15', clip: '15', embedding: '120', executor: '15', converter: '30' },
    sets: ['policy.heartbeatMs'],
    requirement: 'LEASE-4',
  },
  {
    name: 'DEFAULT_LEASE_SEC',
    meaning: 'The shortest lease, and the lease of a job without an expected duration.',
    kind: seconds(),
    profiles: ['native', 'clip', 'embedding'],
    default: { native: '60', clip: '300', embedding: '300' },
    sets: ['policy.defaultLeaseMs'],
    requirement: 'LEASE-3',
  },
  {
    name: 'QUEUE_VISIBILITY_SEC',
    meaning: 'Same as `DEFAULT_LEASE_SEC`, which takes precedence.',
    kind: seconds(),
    profiles: ['native', 'clip', 'embedding'],
    default: { native: '60', clip: '300', embedding: '300' },
    sets: ['policy.defaultLeaseMs'],
    requirement: 'OPS-8',
  },
  {
    name: 'WORKER_LEASE_TTL_SEC',
    meaning: 'The lease of a job.',
    kind: seconds(),
    profiles: ['converter'],
    default: '300',
    sets: ['policy.defaultLeaseMs'],
    requirement: 'WORK-3',
  },
  {
    name: 'UNSTUCK_MAX_RUNTIME_SEC',
    meaning: 'Runtime limit of one attempt over all its stages. 0 disables it.',
    kind: seconds(undefined, 0),
    profiles: shippedProfileNames,
    default: { native: '86400', clip: '0', embedding: '0', executor: '0', converter: '0' },
    sets: ['policy.maxRuntimeMs'],
    requirement: 'LEASE-11',
  },
  ...Object.entries(shippedPolicy('clip').stageFactors).map(([stage, factor]) => slaFactor(stage, factor)),
]

/** One variable per stage that the clip profile gives a factor, such as CLIP_SLA_FACTOR. */
function slaFactor(stage: string, factor: number): Variable {
  return {
    name: `${stage.toUpperCase()}_SLA_FACTOR`,
    meaning: `The lease of stage \`${stage}\` is the expected duration times this, and at least the default lease.`,
    kind: SLA_FACTOR,
    profiles: ['native', 'clip'],
    default: { clip: String(factor) },
    sets: [`policy.stageFactors.${stage}`],
    requirement: 'LEASE-3',
  }
}

export const policyVariables: readonly Variable[] = [
  ...leaseVariables,
  ...attemptVariables,
  ...backoffVariables,
  {
    name: 'EMBED_JOB_RETENTION_DAYS',
    meaning: 'How long ended jobs are kept before they are deleted. Required by the `embedding` profile.',
    kind: { type: 'whole', unit: 'days', min: 7, max: 30 },
    profiles: shippedProfileNames,
    default: { native: '14', clip: '14', executor: '14', converter: '14' },
    sets: ['policy.retentionDays'],
    requirement: 'OPS-2',
    requiredBy: ['embedding'],
    proposal: '14',
  },
]
