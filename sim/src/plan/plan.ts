// The plan of a seed: which jobs come when, and which faults hit whom. A plan can be cut down and run again (shrink.ts).
import type { QueueLimit } from '../../../chaos/src/judge/history.ts'
import { createRandom, pickWeighted } from '../../../chaos/src/random.ts'
import { type AttemptPlace, attemptPlaces } from '../world/places.ts'
import { addBreaker, callTypes, type PlannedBreaker } from './breakers.ts'
import { addClaimTroubles } from './claim-troubles.ts'
import { addHints } from './hints.ts'
import { drawLimits } from './limits.ts'
import { addRarePlace } from './rare-places.ts'
import { addRates, type Rates } from './rates.ts'
import { addReapers } from './reapers.ts'
import { addSchedules, type PlannedSchedule } from './schedules.ts'
import { addServerSteps } from './server-clock.ts'
import { drawLongSettings, drawSettings, type Settings } from './settings.ts'

export const jobTypes = [
  'quick',
  'slow',
  'flaky',
  'poison',
  'hang',
  'deaf',
  'block',
  'tx',
  'killer',
  ...callTypes,
] as const
export type JobType = (typeof jobTypes)[number]

export interface PlannedJob {
  atMs: number
  type: JobType
  workMs: number
  group?: string
  owner?: string
}

export const faultKinds = [
  'kill',
  'deploy',
  'pause',
  'block',
  'cut-off',
  'workers-cut-off',
  'lossy',
  'session-end',
  'database-stop',
  'failover',
  'lock',
  'slots-full',
  'slow',
  'clock-step',
  'cancel',
  'retry',
  'drain',
  'reaper-kill',
  'hints-lost',
  'dependency-down',
  'reaper-pause',
  'reaper-cut-off',
  'server-clock-step',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** From streams of their own (hints.ts, breakers.ts, reapers.ts, server-clock.ts). */
const addedKinds: ReadonlySet<FaultKind> = new Set([
  'hints-lost',
  'dependency-down',
  'reaper-pause',
  'reaper-cut-off',
  'server-clock-step',
])
const drawnKinds = faultKinds.filter((kind) => !addedKinds.has(kind))

/** Faults of one worker. */
export const workerFaults = [
  'kill',
  'deploy',
  'pause',
  'block',
  'cut-off',
  'lossy',
  'clock-step',
  'drain',
  'session-end',
] as const satisfies readonly FaultKind[]

export interface Fault {
  atMs: number
  kind: FaultKind
  /** Place of the worker, or of the job, that it hits. */
  target: number
  durationMs: number
  /** A share in [0, 1): of lost answers, of how far a clock steps, of how far a replica is behind. */
  size: number
  /** It waits until a job arrives there, and hits that job or its worker. */
  place: AttemptPlace | null
}

export interface Plan {
  seed: number
  settings: Settings
  /** By queue. */
  limits: Record<string, QueueLimit>
  rates?: Rates
  breaker?: PlannedBreaker
  schedules?: PlannedSchedule[]
  durationMs: number
  jobs: PlannedJob[]
  faults: Fault[]
}

const usualTypes = [
  { weight: 8, value: 'quick' },
  { weight: 4, value: 'slow' },
  { weight: 2, value: 'flaky' },
  { weight: 1, value: 'poison' },
  { weight: 1, value: 'hang' },
  { weight: 0.5, value: 'deaf' },
  { weight: 1, value: 'block' },
  { weight: 3, value: 'tx' },
  { weight: 0.3, value: 'killer' },
] as const

const typesOf = {
  calm: [
    { weight: 8, value: 'quick' },
    { weight: 1, value: 'tx' },
  ],
  poison: [
    { weight: 6, value: 'quick' },
    { weight: 3, value: 'slow' },
    { weight: 2, value: 'killer' },
  ],
  faults: usualTypes,
} satisfies Record<string, readonly { weight: number; value: JobType }[]>

/** Each of these seeds has a plan that lasts hours or days. */
const LONG_EVERY = 25

export function drawPlan(seed: number): Plan {
  const plan =
    seed % LONG_EVERY === 0
      ? drawLongPlan(seed)
      : addReapers(addHints(addSchedules(addBreaker(addRates(addClaimTroubles(drawShortPlan(seed)))))))
  return addServerSteps(plan)
}

/** The days of a fleet with long leases: few jobs for each worker, and faults many leases apart. */
function drawLongPlan(seed: number): Plan {
  const random = createRandom(seed)
  const settings = drawLongSettings(random)
  const leaseMs = settings.policy.defaultLeaseMs
  const durationMs = leaseMs * (48 + 240 * random())
  const count = 20 + Math.floor(random() * 60)
  const drawn = Array.from({ length: count }, () => drawJob(random, usualTypes, leaseMs, durationMs))
  const faults = Array.from({ length: 3 }, () =>
    drawFaults(random, [...drawnKinds], leaseMs, durationMs),
  ).flat()
  return {
    seed,
    settings,
    durationMs,
    ...drawLimits(seed, 'faults', inOrder(drawn)),
    faults: inOrder(faults),
  }
}

const inOrder = <T extends { atMs: number }>(list: T[]) => list.toSorted((a, b) => a.atMs - b.atMs)

function drawShortPlan(seed: number): Plan {
  const random = createRandom(seed)
  const settings = drawSettings(random)
  const { flavour, policy } = settings
  const leaseMs = policy.defaultLeaseMs
  const durationMs = leaseMs * (3 + Math.floor(random() * 5))
  const count = flavour === 'calm' ? 100 : 3 + Math.floor(random() * 25)
  const types = typesOf[flavour] as readonly { weight: number; value: JobType }[]
  const drawn = Array.from({ length: count }, () => drawJob(random, types, leaseMs, durationMs))
  const kinds = drawnKinds.filter(() => random() < 0.35)
  const faults = flavour === 'faults' ? drawFaults(random, kinds, leaseMs, durationMs) : []
  const { limits, jobs } = drawLimits(seed, flavour, inOrder(drawn))
  if (flavour === 'faults' && random() < 0.1)
    return { seed, settings, limits, jobs, ...drawFlapping(random, leaseMs) }
  if (flavour === 'faults' && policy.presence !== 'off' && random() < 0.1)
    return { seed, settings, limits, jobs, ...drawLockedOut(random, leaseMs) }
  const plan = { seed, settings, limits, durationMs, jobs, faults: inOrder(faults) }
  return flavour === 'faults' ? addRarePlace(plan, workerFaults) : plan
}

function drawJob(
  random: () => number,
  types: readonly { weight: number; value: JobType }[],
  leaseMs: number,
  durationMs: number,
): PlannedJob {
  const type = pickWeighted(random, types)
  // Where every job is short, none is claimed ahead in vain.
  const isMixed = types.some(({ value }) => value === 'slow')
  const isLong = type === 'slow' || type === 'block' || (type === 'tx' && isMixed && random() < 0.3)
  return {
    atMs: random() < 0.3 ? 0 : random() * durationMs * 0.8,
    type,
    workMs: isLong ? leaseMs * (0.2 + 2.3 * random()) : leaseMs * 0.05 * random(),
  }
}

/** A worker dies, and the server stops again and again, for a moment and before a lease has passed. */
function drawFlapping(random: () => number, leaseMs: number): Pick<Plan, 'durationMs' | 'faults'> {
  const durationMs = 10 * leaseMs
  const kill: Fault = {
    atMs: leaseMs * random(),
    kind: 'kill',
    target: 0,
    durationMs: 0,
    size: 0,
    place: null,
  }
  const faults = [kill]
  for (let atMs = leaseMs; atMs < durationMs; atMs += leaseMs * (0.6 + 0.3 * random()))
    faults.push({
      atMs,
      kind: 'database-stop',
      target: 0,
      durationMs: leaseMs * 0.3 * random(),
      size: 0,
      place: null,
    })
  return { durationMs, faults }
}

/** Sessions end while no slot is free for others: only its signs of life tell such a worker from one that is gone. */
function drawLockedOut(random: () => number, leaseMs: number): Pick<Plan, 'durationMs' | 'faults'> {
  const durationMs = 6 * leaseMs
  const faults: Fault[] = []
  for (let atMs = 0.5 * leaseMs; atMs < durationMs; atMs += leaseMs * (1 + random())) {
    const fault = { durationMs: leaseMs * (0.3 + 0.6 * random()), size: 0, place: null }
    faults.push({ atMs, kind: 'slots-full', target: 0, ...fault })
    faults.push({ atMs: atMs + 1, kind: 'session-end', target: Math.floor(random() * 1_000), ...fault })
  }
  return { durationMs, faults }
}

function drawFaults(random: () => number, kinds: FaultKind[], leaseMs: number, durationMs: number): Fault[] {
  if (kinds.length === 0) return []
  return Array.from({ length: 1 + Math.floor(random() * 10) }, () => ({
    atMs: random() * durationMs,
    kind: kinds[Math.floor(random() * kinds.length)] ?? 'kill',
    target: Math.floor(random() * 1_000),
    durationMs: leaseMs * 2.5 * random() ** 2,
    size: random(),
    place: random() < 0.3 ? (attemptPlaces[Math.floor(random() * attemptPlaces.length)] ?? null) : null,
  }))
}
