// The jobs of a run by seed: first many short ones, then a nearly empty queue with handlers about as long as a lease. The second
// part detects a missing fence: a paused worker returns while its job runs elsewhere.
import { between, createRandom } from '../random.ts'
import { DELETED_TYPE, POISON_MAX_ATTEMPTS } from '../settings.ts'

export type WorkloadName = 'both' | 'throughput' | 'sparse' | 'tx' | 'groups' | 'long' | 'held'
export type PlannedJob = {
  type: string
  payload: { workMs: number; fault?: string }
  owner: string
  group?: string
  maxAttempts?: number
}
export type Batch = { atMs: number; jobs: PlannedJob[] }

const OWNERS = ['anna', 'ben', 'cleo']
/** Faults at a point of the handler that a random time would miss. */
const DIRECTED = ['kill-after-start', 'kill-after-effect', 'lose-complete-answer', 'lose-tx-answer']

export function makeWorkload({
  seed,
  durationMs,
  workload,
}: {
  seed: number
  durationMs: number
  workload: WorkloadName
}): Batch[] {
  const random = createRandom(seed ^ 0x5eed)
  const sparseFromMs = {
    both: durationMs / 2,
    throughput: durationMs,
    tx: durationMs,
    groups: durationMs,
    sparse: 0,
    long: 0,
    held: 0,
  }[workload]
  const batches: Batch[] = []
  for (let atMs = 0; atMs < durationMs; ) {
    const isSparse = atMs >= sparseFromMs
    const count = workload === 'held' ? 2 : isSparse ? 1 : between(random, 4, 16)
    const make = { long: longJob, held: longJob, tx: txJob, groups: groupedJob }[workload as string]
    const jobs = Array.from({ length: count }, () => (make ?? (isSparse ? sparseJob : quickJob))(random))
    batches.push({ atMs, jobs })
    atMs += isSparse ? between(random, 300, 900) : between(random, 200, 600)
  }
  return [...batches, ...poisonBatches(random, durationMs)].toSorted((a, b) => a.atMs - b.atMs)
}

function quickJob(random: () => number): PlannedJob {
  const owner = pickOwner(random)
  const drawn = random()
  if (drawn < 0.006) return directedJob(random, owner)
  const type = drawn < 0.22 ? 'tx' : drawn < 0.3 ? 'limited' : drawn < 0.36 ? 'flaky' : plainType(drawn)
  return { type, payload: { workMs: between(random, 0, 60) }, owner }
}

const plainType = (drawn: number) => (drawn < 0.56 ? DELETED_TYPE : 'quick')

function sparseJob(random: () => number): PlannedJob {
  const owner = pickOwner(random)
  const drawn = random()
  if (drawn < 0.06) return directedJob(random, owner)
  return {
    type: drawn < 0.3 ? 'tx' : drawn < 0.5 ? DELETED_TYPE : 'slow',
    payload: { workMs: between(random, 1_200, 2_700) },
    owner,
  }
}

function txJob(random: () => number): PlannedJob {
  return { type: 'tx', payload: { workMs: between(random, 0, 60) }, owner: pickOwner(random) }
}

/** Longer than the pause between batches, so that groups have jobs that wait. Some fail first: their backoff blocks an ordered group. */
function groupedJob(random: () => number): PlannedJob {
  const owner = pickOwner(random)
  const drawn = random()
  const [type, groups] = drawn < 0.45 ? ['ordered', 12] : drawn < 0.8 ? ['paired', 6] : ['narrow', 0]
  const isDirected = random() < 0.02
  return {
    type,
    payload: {
      workMs: between(random, 20, 250),
      ...(isDirected ? { fault: 'kill-after-start' } : random() < 0.1 ? { fault: 'fail-first' } : {}),
    },
    owner,
    ...(groups === 0 ? {} : { group: `${type}-${between(random, 1, groups)}` }),
  }
}

/** Several leases long, so that some are running at each outage. Twice as many for `held`: on every worker at each fault. */
function longJob(random: () => number): PlannedJob {
  return { type: 'slow', payload: { workMs: between(random, 3_000, 9_000) }, owner: pickOwner(random) }
}

function directedJob(random: () => number, owner: string): PlannedJob {
  const fault = DIRECTED[between(random, 0, DIRECTED.length - 1)] ?? 'kill-after-start'
  const workMs = between(random, 0, 200)
  const type = fault === 'lose-tx-answer' ? 'tx' : workMs % 2 === 0 ? 'quick' : DELETED_TYPE
  return { type, payload: { workMs, fault }, owner }
}

function poisonBatches(random: () => number, durationMs: number): Batch[] {
  const count = Math.max(2, Math.round(durationMs / 15_000))
  return Array.from({ length: count }, (_, index) => ({
    atMs: between(random, 0, durationMs * 0.8),
    jobs: [
      {
        type: index % 2 === 0 ? 'poison' : 'hang',
        payload: { workMs: between(random, 0, 100) },
        owner: pickOwner(random),
        maxAttempts: POISON_MAX_ATTEMPTS,
      },
    ],
  }))
}

function pickOwner(random: () => number) {
  return OWNERS[between(random, 0, OWNERS.length - 1)] ?? 'anna'
}
