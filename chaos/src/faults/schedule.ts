// The schedule of faults: kind, time, target and duration, derived from the seed alone before anything starts.
import { between, createRandom, pickWeighted } from '../random.ts'
import { BEHIND_MS, DEPLOYED_JOBS, DEPLOYED_WORKERS, LEASE_MS, type Scenario, WORKERS } from '../settings.ts'
import { makePresence } from './presence-schedule.ts'
import { makeShardFaults } from './shard-schedule.ts'

export type FaultTarget = 'worker' | 'reaper' | 'database' | 'pooler'
export interface FaultKind {
  kind: string
  target: FaultTarget
  weight: number
  /** For a kill: the time until the process is restarted. */
  durationMs: [number, number]
}
export interface Fault {
  /** Since the first possible fault. */
  atMs: number
  kind: string
  /** A worker (`w1`), `reaper`, `database` or `pooler`. */
  target: string
  durationMs: number
  /** The shard that it hits. Absent with a single database. */
  shard?: number
}

export const faultKinds: FaultKind[] = [
  { kind: 'kill', target: 'worker', weight: 4, durationMs: [100, 1_500] },
  { kind: 'pause', target: 'worker', weight: 6, durationMs: [300, 5_000] },
  { kind: 'terminate', target: 'worker', weight: 3, durationMs: [100, 500] },
  { kind: 'block', target: 'worker', weight: 7, durationMs: [300, 4_000] },
  { kind: 'clock-stepped', target: 'worker', weight: 12, durationMs: [500, 5_000] },
  { kind: 'pool-used-up', target: 'worker', weight: 5, durationMs: [300, 3_000] },
  { kind: 'blackhole', target: 'worker', weight: 6, durationMs: [300, 5_000] },
  { kind: 'delay', target: 'worker', weight: 14, durationMs: [500, 3_000] },
  { kind: 'half-open', target: 'worker', weight: 8, durationMs: [500, 4_000] },
  { kind: 'reset', target: 'worker', weight: 45, durationMs: [0, 0] },
  { kind: 'answer-lost', target: 'worker', weight: 35, durationMs: [0, 0] },
  { kind: 'commit-answer-lost', target: 'worker', weight: 35, durationMs: [0, 0] },
  { kind: 'statement-cancelled', target: 'worker', weight: 45, durationMs: [0, 0] },
  { kind: 'session-ended', target: 'worker', weight: 45, durationMs: [0, 0] },
  { kind: 'reaper-kill', target: 'reaper', weight: 2, durationMs: [100, 3_000] },
  { kind: 'reaper-pause', target: 'reaper', weight: 3, durationMs: [500, 5_000] },
  { kind: 'reaper-clock-stepped', target: 'reaper', weight: 4, durationMs: [500, 5_000] },
  { kind: 'reaper-reset', target: 'reaper', weight: 4, durationMs: [0, 0] },
  { kind: 'reaper-keeps-locks', target: 'database', weight: 3, durationMs: [500, 3_000] },
  { kind: 'connections-used-up', target: 'database', weight: 2, durationMs: [500, 3_000] },
  { kind: 'database-stopped', target: 'database', weight: 1, durationMs: [0, 10 * LEASE_MS] },
  { kind: 'backend-killed', target: 'database', weight: 1.5, durationMs: [0, 0] },
  { kind: 'disk-full', target: 'database', weight: 1.5, durationMs: [500, 4_000] },
  { kind: 'pooler-killed', target: 'pooler', weight: 1, durationMs: [0, 2_000] },
]

/** One at a time: two overlapping outages are one. */
export const EXCLUSIVE = new Set([
  'database-stopped',
  'backend-killed',
  'disk-full',
  'connections-used-up',
  'pooler-killed',
  'reaper-keeps-locks',
])
const MEAN_GAP_MS = 150
/** Upper bound of one outage, as a share of the run. */
const LONGEST_OUTAGE_SHARE = 0.15

/** Outages only: workers must keep their jobs through each of them (C9). */
function makeOutages({ seed, durationMs }: { seed: number; durationMs: number }): Fault[] {
  const random = createRandom(seed)
  const faults: Fault[] = []
  for (let atMs = 2 * LEASE_MS; atMs < durationMs; ) {
    const outageMs = between(random, 0, 10 * LEASE_MS)
    faults.push({ atMs, kind: 'database-stopped', target: 'database', durationMs: outageMs })
    atMs += outageMs + between(random, 2 * LEASE_MS, 4 * LEASE_MS)
  }
  return faults
}

/** Locks only, each blocking every heartbeat for up to ten leases. For a lease holder they are outages (C26). */
export function makeLocks({ seed, durationMs }: { seed: number; durationMs: number }): Fault[] {
  const random = createRandom(seed)
  const faults: Fault[] = []
  for (let atMs = 2 * LEASE_MS; atMs < durationMs; ) {
    const lockedMs = between(random, LEASE_MS / 4, 10 * LEASE_MS)
    const kind = random() < 0.6 ? 'table-locked' : 'vacuum-full'
    faults.push({ atMs, kind, target: 'database', durationMs: lockedMs })
    atMs += lockedMs + between(random, LEASE_MS, 4 * LEASE_MS)
  }
  return faults
}

export function makeSchedule({ seed, durationMs }: { seed: number; durationMs: number }): Fault[] {
  const random = createRandom(seed)
  const faults: Fault[] = []
  let exclusiveUntilMs = 0
  for (let atMs = 500; ; ) {
    atMs += between(random, MEAN_GAP_MS * 0.2, MEAN_GAP_MS * 1.8)
    if (atMs >= durationMs) return faults
    const chosen = pickWeighted(
      random,
      faultKinds.map((value) => ({ weight: value.weight, value })),
    )
    const [least, most] = chosen.durationMs
    const drawnMs = between(random, least, most)
    const worker = `w${between(random, 1, WORKERS)}`
    const fault = {
      atMs,
      kind: chosen.kind,
      target: chosen.target === 'worker' ? worker : chosen.target,
      durationMs: Math.min(drawnMs, Math.max(500, Math.round(durationMs * LONGEST_OUTAGE_SHARE))),
    }
    if (EXCLUSIVE.has(fault.kind)) {
      if (atMs < exclusiveUntilMs) continue
      exclusiveUntilMs = atMs + fault.durationMs + 2 * LEASE_MS
    }
    faults.push(fault)
  }
}

/** A single failover: the replica falls behind, then takes over. */
export function makeFailover({ durationMs }: { durationMs: number }): [Fault, Fault] {
  const atMs = Math.round(durationMs / 2)
  return [
    { atMs, kind: 'replica-behind', target: 'replica', durationMs: BEHIND_MS },
    { atMs: atMs + BEHIND_MS, kind: 'failover', target: 'database', durationMs: 0 },
  ]
}

/** One deploy. Its steps have no times: each waits for the previous one. */
export function makeDeploy() {
  return Array.from({ length: DEPLOYED_WORKERS }, (_, index) => ({
    after: index === 0 ? `${DEPLOYED_JOBS} jobs run` : `w${index} works again`,
    kind: 'terminate',
    target: `w${index + 1}`,
  }))
}

/** The steps of any scenario. */
export function makeSteps({
  scenario,
  seed,
  durationMs,
  shards = 1,
}: {
  scenario: Scenario
  seed: number
  durationMs: number
  shards?: number
}) {
  if (shards > 1) return makeShardFaults({ seed, durationMs, shards })
  switch (scenario) {
    case 'random':
      return makeSchedule({ seed, durationMs })
    case 'outages':
      return makeOutages({ seed, durationMs })
    case 'locks':
      return makeLocks({ seed, durationMs })
    case 'presence':
      return makePresence({ seed, durationMs })
    case 'failover':
      return makeFailover({ durationMs })
    default:
      return makeDeploy()
  }
}

export function countByKind(faults: { kind: string }[]) {
  const counts: Record<string, number> = {}
  for (const { kind } of faults) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
