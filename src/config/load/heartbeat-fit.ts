import { ADVISED_BEATS, MIN_BEATS } from '../../policy/lease/beat-check.ts'
import type { Policy } from '../../policy/policy.ts'
import { type ConfigProblem, nameInFile, problem } from '../config-problem.ts'
import type { FoundValues } from './build-policy.ts'

/**
 * Checks that enough heartbeats fit into the shortest lease (LEASE-4). Only explicit settings are checked: the defaults of a
 * profile come from its document.
 */
export function checkHeartbeatFit(
  policy: Policy,
  found: FoundValues,
  problems: ConfigProblem[],
  warnings: string[],
): void {
  const beat = found.get('policy.heartbeatMs')
  const lease = shortestLease(policy, found)
  if (beat === undefined && lease.given === undefined) return
  const beats = lease.ms / policy.heartbeatMs
  if (beats >= ADVISED_BEATS) return

  const leaseText = `a lease of ${inSeconds(lease.ms)} (${lease.name})`
  if (beats >= MIN_BEATS) {
    const advisedMs = Math.floor(lease.ms / ADVISED_BEATS)
    warnings.push(
      `${beat?.name ?? 'the heartbeat'}: ${inSeconds(policy.heartbeatMs)} leaves fewer than ${ADVISED_BEATS} heartbeats in ${leaseText}, ` +
        `so one lost heartbeat may lose a job; at most ${inSeconds(advisedMs)} is recommended`,
    )
  } else if (beat !== undefined) {
    const most = inSeconds(Math.floor(lease.ms / MIN_BEATS))
    problems.push(
      problem(beat.name, beat.given, `at most ${most}, so that two heartbeats fit into ${leaseText}`),
    )
  } else {
    const least = inSeconds(policy.heartbeatMs * MIN_BEATS)
    problems.push(
      problem(
        lease.name,
        lease.given,
        `at least ${least}, two heartbeats of ${inSeconds(policy.heartbeatMs)}`,
      ),
    )
  }
}

/** Explicit settings that repeat the document's own values: a worker warns of those once, when it starts. */
export function keepsLeases(policy: Policy, document: Policy): boolean {
  const { heartbeatMs, defaultLeaseMs, stageLeasesMs } = document
  const stages = Object.entries(policy.stageLeasesMs)
  return (
    policy.heartbeatMs === heartbeatMs &&
    policy.defaultLeaseMs === defaultLeaseMs &&
    stages.every(([stage, ms]) => stageLeasesMs[stage] === ms)
  )
}

function shortestLease(policy: Policy, found: FoundValues): { ms: number; name: string; given: unknown } {
  const set = found.get('policy.defaultLeaseMs')
  const name = set?.name ?? found.get('preset')?.name ?? 'the profile'
  let shortest = { ms: policy.defaultLeaseMs, name, given: set?.given }
  for (const [stage, ms] of Object.entries(policy.stageLeasesMs)) {
    if (ms < shortest.ms) shortest = { ms, name: nameInFile(`policy.stageLeasesMs.${stage}`), given: ms }
  }
  return shortest
}

function inSeconds(ms: number): string {
  return `${ms / 1000} s`
}
