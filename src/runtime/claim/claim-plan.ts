// When a worker claims, how many jobs, and of which types: pure decisions over the facts of one moment. The claimer carries
// them out.

/** Upper bound of one claim: a larger statement holds its locks longer. */
const MAX_CLAIM = 2_000

export interface ClaimFacts {
  /** Slots without a job. */
  freeSlots: number
  /** Jobs that are claimed and have no slot yet. */
  waiting: number
  /** Jobs that the claim in flight may bring, beyond those for free slots. */
  inFlight: number
  /** How many jobs may wait for a slot. */
  prefetch: number
}

export interface ClaimSize {
  /** Jobs for free slots. */
  slots: number
  /** Jobs to prefetch beyond the free slots. */
  ahead: number
}

/** Claim whenever a slot is free, or few of the jobs that may wait are left. */
export function planClaim(facts: ClaimFacts): ClaimSize | null {
  const size = { slots: facts.freeSlots, ahead: roomAhead(facts) }
  return size.slots > 0 || (size.ahead > 0 && isLow(facts)) ? size : null
}

/** Refill when half of the jobs that may wait have started, instead of claiming for each job that ends. */
export function isLow({ waiting, inFlight, prefetch }: Omit<ClaimFacts, 'freeSlots'>): boolean {
  return waiting + inFlight <= prefetch - Math.min(MAX_CLAIM, Math.ceil(prefetch / 2))
}

function roomAhead({ waiting, inFlight, prefetch }: ClaimFacts): number {
  return Math.max(0, Math.min(MAX_CLAIM, prefetch - waiting - inFlight))
}

export interface TypeFacts {
  type: string
  queue: string
  /** Tokens left for jobs of this type; infinite without a rate limit. */
  allowance: number
  /** Its breaker may open while a job waits. */
  hasDependency: boolean
}

/** Types that one statement claims together. */
export interface ClaimGroup {
  types: string[]
  queues: string[]
  allowance: number
  /** Nothing but a free slot decides when its jobs start: no tokens, no breaker. */
  canPrefetch: boolean
}

/**
 * A type under a rate limit is a group of its own; all others form one group. Each round starts with another group, so that a
 * long queue does not keep the slots from the others.
 */
export function groupTypes(types: TypeFacts[], round: number): ClaimGroup[] {
  const limited = types.filter(({ allowance }) => allowance !== Number.POSITIVE_INFINITY)
  const unlimited = types.filter(({ allowance }) => allowance === Number.POSITIVE_INFINITY)
  const groups = [
    ...limited.map((type) => groupOf([type])),
    ...(unlimited.length > 0 ? [groupOf(unlimited)] : []),
  ]
  const first = round % groups.length
  return [...groups.slice(first), ...groups.slice(0, first)]
}

function groupOf(types: TypeFacts[]): ClaimGroup {
  const allowance = Math.min(...types.map((type) => type.allowance))
  return {
    types: types.map(({ type }) => type),
    queues: [...new Set(types.map(({ queue }) => queue))],
    allowance,
    canPrefetch: allowance === Number.POSITIVE_INFINITY && types.every(({ hasDependency }) => !hasDependency),
  }
}

/** How many jobs to claim of one group; none if 0 or less. */
export function groupLimit({ allowance, canPrefetch }: ClaimGroup, slotsLeft: number, ahead: number): number {
  return canPrefetch ? slotsLeft + ahead : Math.min(slotsLeft, allowance)
}
