// Times of a run, short so that many leases expire within a minute. The proportions are those of a real deployment.

export const LEASE_MS = 2_000
const HEARTBEAT_MS = 500
export const SWEEP_MS = 1_000
export const POLL_MS: [number, number] = [200, 400]
const HANG_DEADLINE_MS = 3_000
export const POISON_MAX_ATTEMPTS = 3
/** Its completed jobs are not kept in the native table. */
export const DELETED_TYPE = 'deleted'
/** Queues with limits, each of a type of its own. Only jobs of the workload `groups` are in them. */
export const LIMITED_QUEUES = {
  ordered: { groupConcurrency: 1, groupOrder: 'fifo' },
  paired: { groupConcurrency: 2 },
  narrow: { concurrency: 3 },
} as const
export const WORKERS = 8
export const CONCURRENCY = 4
/** Lag of the replica at a failover. */
export const BEHIND_MS = 4_000
/** Scenario deploy: all jobs run at once. */
export const DEPLOYED_WORKERS = 5
export const DEPLOYED_JOBS = 50
/** More than a worker has connections. */
export const CALLS_THAT_HANG = 12

/** Overrides of the stored policy. */
const times = {
  default_lease_ms: LEASE_MS,
  heartbeat_ms: HEARTBEAT_MS,
  sweep_interval_ms: SWEEP_MS,
  stage_deadlines_ms: { hang: HANG_DEADLINE_MS },
  reap_backoff_steps_ms: [200],
  failure_backoff_steps_ms: [200, 400],
  failure_backoff_jitter_ms: 100,
  events: 'all',
}

/** Ordinary jobs meet many faults, so their budgets are generous. Those of poison jobs are in their rows. */
export const policyOf = {
  native: {
    ...times,
    max_attempts: 5,
    max_crashes: 12,
    max_timeouts: 3,
    type_keep_completed: { [DELETED_TYPE]: false },
  },
  clip: { ...times, max_attempts: 30 },
  executor: { ...times, max_attempts: 30 },
}

export type ChaosProfile = keyof typeof policyOf
export type Scenario = 'random' | 'outages' | 'locks' | 'presence' | 'failover' | 'deploy'
export type PresenceSetting = 'auto' | 'off'

/** Where presence must be faster than a lease, heartbeats are rarer than its grace, as by default. */
const PRESENCE_LEASE_MS = 20_000
const PRESENCE_HEARTBEAT_MS = 5_000

export function leaseOf(scenario: Scenario): number {
  return scenario === 'presence' ? PRESENCE_LEASE_MS : LEASE_MS
}

/** The policy to store. Presence is the profile's own unless the run says otherwise. */
export function policyFor(
  profile: ChaosProfile,
  { scenario, presence }: { scenario: Scenario; presence?: PresenceSetting | undefined },
) {
  const rare =
    scenario === 'presence'
      ? { default_lease_ms: PRESENCE_LEASE_MS, heartbeat_ms: PRESENCE_HEARTBEAT_MS }
      : {}
  return { ...policyOf[profile], ...rare, ...(presence === undefined ? {} : { presence }) }
}
