// The times and budgets of a run. The seed chooses a set; the proportions are those of real deployments.

import { pickWeighted } from '../../../chaos/src/random.ts'
import { POISON_MAX_ATTEMPTS } from '../../../chaos/src/settings.ts'
import { nativePolicy, type Policy, presetPolicies } from '../../../src/policy/policy.ts'

/** `calm`: nothing goes wrong. `poison`: nothing but jobs that kill their process. `faults`: anything. */
export type Flavour = 'calm' | 'poison' | 'faults'

export interface Settings {
  flavour: Flavour
  /** Lasts hours, with long pauses between its faults. */
  isLong: boolean
  policy: Policy
  workers: number
  concurrency: number
  reapers: number
  pollMs: [least: number, most: number]
  /** While hints arrive. Null: nobody listens to them. */
  hintedPollMs: [least: number, most: number] | null
  graceMs: number
  hangGraceMs: number
  txTimeoutMs: number
  leakBudget: number
}

interface Times {
  leaseMs: number
  heartbeatMs: number
  sweepMs: number
  pollMs: [number, number]
}

const chaosTimes: Times = { leaseMs: 2_000, heartbeatMs: 500, sweepMs: 1_000, pollMs: [200, 400] }
const briskTimes: Times = timesOf(presetPolicies.brisk)
const nativeTimes: Times = timesOf(nativePolicy)
/** Leases of five minutes, of a quarter of an hour and of an hour, with the proportions of the first. */
const longTimes: Times[] = [1, 3, 12].map((factor) =>
  timesOf({
    defaultLeaseMs: factor * presetPolicies.patient.defaultLeaseMs,
    heartbeatMs: factor * 75_000,
    sweepIntervalMs: factor * presetPolicies.patient.sweepIntervalMs,
  }),
)

function timesOf(policy: Pick<Policy, 'defaultLeaseMs' | 'heartbeatMs' | 'sweepIntervalMs'>): Times {
  return {
    leaseMs: policy.defaultLeaseMs,
    heartbeatMs: policy.heartbeatMs,
    sweepMs: policy.sweepIntervalMs,
    // Rarer than in production, where an idle worker costs little: most events of a run would be empty claims.
    pollMs: [policy.defaultLeaseMs / 10, policy.defaultLeaseMs / 5],
  }
}

export const poisonAttempts = POISON_MAX_ATTEMPTS

/** Presence looks every second, which would be most of a long run. */
export function drawLongSettings(random: () => number): Settings {
  return {
    ...settingsOf(random, 'faults', pick(random, longTimes), 'off'),
    isLong: true,
    workers: 4 + Math.floor(random() * 9),
  }
}

const pick = <T>(random: () => number, list: readonly T[]) => list[Math.floor(random() * list.length)] as T

export function drawSettings(random: () => number): Settings {
  const flavour = pickWeighted<Flavour>(random, [
    { weight: 1, value: 'calm' },
    { weight: 1, value: 'poison' },
    { weight: 8, value: 'faults' },
  ])
  const times = pickWeighted(random, [
    { weight: 3, value: chaosTimes },
    { weight: 2, value: briskTimes },
    { weight: 1, value: nativeTimes },
  ])
  return settingsOf(random, flavour, times, random() < 0.5 ? 'auto' : 'off')
}

function settingsOf(
  random: () => number,
  flavour: Flavour,
  times: Times,
  presence: Policy['presence'],
): Settings {
  return {
    flavour,
    isLong: false,
    policy: policyOf(flavour, times, presence),
    workers: 1 + Math.floor(random() * 4),
    concurrency: 1 + Math.floor(random() * 8),
    reapers: Math.floor(random() * 2),
    pollMs: times.pollMs,
    hintedPollMs: null,
    graceMs: times.leaseMs,
    hangGraceMs: times.leaseMs / 4,
    // Longer than any event loop is blocked here.
    txTimeoutMs: 6 * times.leaseMs,
    leakBudget: 1 + Math.floor(random() * 3),
  }
}

/** Ordinary jobs meet many faults, so their budgets are generous, but not where jobs are judged by who killed them. */
function policyOf(
  flavour: Flavour,
  { leaseMs, heartbeatMs, sweepMs }: Times,
  presence: Policy['presence'],
): Policy {
  return {
    ...nativePolicy,
    maxAttempts: 5,
    maxCrashes: flavour === 'poison' ? nativePolicy.maxCrashes : 8,
    maxTimeouts: 3,
    defaultLeaseMs: leaseMs,
    heartbeatMs,
    sweepIntervalMs: sweepMs,
    stageDeadlinesMs: { hang: 1.5 * leaseMs, deaf: 1.5 * leaseMs },
    reapBackoffStepsMs: [leaseMs / 10],
    failureBackoffStepsMs: [leaseMs / 10, leaseMs / 5],
    failureBackoffJitterMs: leaseMs / 20,
    events: 'all',
    presence,
  }
}
