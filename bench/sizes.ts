// Amount of work of each measure. `full` is what the targets refer to; `quick` takes about five minutes; `small` only tests
// the bench.

export interface Sizes {
  /** For contenders that handle thousands per second. */
  jobs: number
  /** For those that handle a few hundred. */
  slowJobs: number
  /** Jobs with handlers of 50 ms, and of 1 s. */
  handlers: { short: number; long: number }
  price: { jobs: number }
  enqueue: { singles: number; concurrent: number; batches: number }
  latencyS: number
  heartbeat: { running: number[]; finished: number; waiting: number; ticks: number }
  expired: number[]
  growth: { finished: number; waiting: number; running: number; backoff: number; statements: number }
  /** Jobs beside an open transaction, and the time limit of one run. */
  heldXmin: { jobs: number; capMs: number }
  idleMs: number
  groups: { jobs: number }
  /** Workers with a lock, looks at them, and how many idle processes are counted for how long. */
  presence: { workers: number; looks: number; idle: number; idleMs: number }
  /** Workers of each fleet, how long it idles, and single jobs. */
  fleet: { workers: number[]; idleMs: number; jobs: number }
  /** Jobs of rows without a wait, approximate duration of the others, and the slowest handler. */
  claims: { noops: number; seconds: number; slowestMs: number }
  /** On Neo4j: jobs of one run of workers, finished nodes, and timed calls. */
  neo4j: { jobs: number; finished: number; calls: number }
}

export type SizeName = 'small' | 'quick' | 'full'

export const sizes: Record<SizeName, Sizes> = {
  small: {
    jobs: 2_000,
    slowJobs: 200,
    handlers: { short: 200, long: 100 },
    price: { jobs: 2_000 },
    enqueue: { singles: 50, concurrent: 500, batches: 2_000 },
    latencyS: 1,
    heartbeat: { running: [200], finished: 500, waiting: 500, ticks: 5 },
    expired: [1_000],
    growth: { finished: 5_000, waiting: 5_000, running: 500, backoff: 3_000, statements: 3 },
    heldXmin: { jobs: 5_000, capMs: 10_000 },
    idleMs: 500,
    groups: { jobs: 500 },
    presence: { workers: 100, looks: 20, idle: 2, idleMs: 1_000 },
    fleet: { workers: [3], idleMs: 1_000, jobs: 2 },
    claims: { noops: 2_000, seconds: 0.5, slowestMs: 100 },
    neo4j: { jobs: 60, finished: 2_000, calls: 5 },
  },
  quick: {
    jobs: 10_000,
    slowJobs: 500,
    handlers: { short: 1_000, long: 100 },
    price: { jobs: 5_000 },
    enqueue: { singles: 150, concurrent: 1_000, batches: 10_000 },
    latencyS: 2,
    heartbeat: { running: [1_000, 5_000], finished: 20_000, waiting: 5_000, ticks: 20 },
    expired: [10_000],
    growth: { finished: 200_000, waiting: 150_000, running: 1_000, backoff: 20_000, statements: 10 },
    heldXmin: { jobs: 40_000, capMs: 8_000 },
    idleMs: 500,
    groups: { jobs: 5_000 },
    presence: { workers: 1_000, looks: 200, idle: 3, idleMs: 10_000 },
    fleet: { workers: [10, 50], idleMs: 10_000, jobs: 10 },
    claims: { noops: 5_000, seconds: 0.5, slowestMs: 1_000 },
    neo4j: { jobs: 300, finished: 50_000, calls: 50 },
  },
  full: {
    jobs: 100_000,
    slowJobs: 5_000,
    handlers: { short: 5_000, long: 1_000 },
    price: { jobs: 20_000 },
    enqueue: { singles: 2_000, concurrent: 20_000, batches: 100_000 },
    latencyS: 20,
    heartbeat: { running: [1_000, 5_000], finished: 50_000, waiting: 20_000, ticks: 200 },
    expired: [10_000, 100_000],
    growth: { finished: 10_000_000, waiting: 2_000_000, running: 10_000, backoff: 100_000, statements: 50 },
    heldXmin: { jobs: 500_000, capMs: 60_000 },
    idleMs: 5_000,
    groups: { jobs: 20_000 },
    presence: { workers: 1_000, looks: 1_000, idle: 10, idleMs: 20_000 },
    fleet: { workers: [10, 50, 200], idleMs: 20_000, jobs: 20 },
    claims: { noops: 50_000, seconds: 4, slowestMs: 5_000 },
    neo4j: { jobs: 1_000, finished: 1_000_000, calls: 100 },
  },
}
