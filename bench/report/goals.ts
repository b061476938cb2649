// Performance targets as ratios of the medians of one run. A target without values is not judged. A stretch is wished for, not
// judged.
import type { MeasureResult } from './result.ts'

export interface Goal {
  work: string
  wanted: number
  /** Null if there is none. */
  stretch: number | null
  isAtLeast: boolean
  /** Null if it was not measured. */
  value: number | null
  isReached: boolean | null
}

type Read = (measure: string, row: string, key: string) => number | null

const nodePostgresPeers = [
  'graphile-worker',
  'graphile-worker-fast',
  'pg-boss',
  'pg-boss-notify',
  'bullmq-postgres',
]
const postgresPeers = [...nodePostgresPeers, 'river']
const nodePeers = [...nodePostgresPeers, 'bullmq-redis', 'bullmq-redis-fsync']
const peers = [...nodePeers, 'river']

export function judgeGoals(results: MeasureResult[]): Goal[] {
  const read: Read = (measure, row, key) =>
    results.find(({ id }) => id === measure)?.rows.find(({ id }) => id === row)?.values[key]?.median ?? null
  return [
    ...processGoals(read),
    ...handlerGoals(read),
    ...claimGoals(read, results),
    ...heldXminGoals(read),
    ...enqueueGoals(read),
    ...latencyGoals(read),
    ...recoveryGoals(read, results),
    ...growthGoals(read, results),
    ...attachedGoals(read),
    ...idleGoals(read),
  ]
}

function processGoals(read: Read): Goal[] {
  const against = (row: string, ours = 'unstuck', measure = 'process') =>
    ratio(read(measure, ours, 'jobsPerS'), read(measure, row, 'jobsPerS'))
  const fast = 'graphile-worker-fast'
  return [
    atLeast('process / graphile-worker, high throughput', [1.3, 1.5], against(fast)),
    atLeast('process, rows deleted / the same', [1.6, 1.9], against(fast, 'unstuck-deleted')),
    atLeast('process, two processes / the same', [1, 1.3], against(fast, 'unstuck', 'process-2')),
    atLeast('process / pg-boss', [1.5, 2], against('pg-boss')),
    atLeast('process / BullMQ on Redis', [2.3, 3], against('bullmq-redis')),
    atLeast('process / BullMQ on PostgreSQL', [20], against('bullmq-postgres')),
    atLeast('process / River', [2, 3], against('river')),
    atLeast('process / raw SQL', [0.7, 0.8], against('raw')),
    atLeast('process / the same table unfenced', [0.7, 0.8], against('unstuck-unfenced')),
  ]
}

function handlerGoals(read: Read): Goal[] {
  const measures = [
    ['handlers-50', 'CPU of a job, handlers of 50 ms / best peer'],
    ['handlers-types', 'CPU of a job, handlers of 1 s, 20 types / best peer'],
  ] as const
  return measures.map(([id, work]) => {
    const best = smallest(peers.map((peer) => read(id, peer, 'cpuUsPerJob')))
    return atMost(work, [1], ratio(read(id, 'unstuck', 'cpuUsPerJob'), best))
  })
}

/** Heartbeats update the jobs of these. */
const slowRows = ['backlog-2000', 'backlog-5000', 'backlog-mixed']

function claimGoals(read: Read, results: MeasureResult[]): Goal[] {
  const growth = (claimers: 'connections' | 'workers') =>
    ratio(
      read('claimers', `${claimers}-8`, 'serverUsPerJob'),
      read('claimers', `${claimers}-1`, 'serverUsPerJob'),
    )
  const updates = medians(results, 'claims', 'updatesPerJob', slowRows)
  return [
    atMost('server CPU of a job, 8 claiming connections / 1', [1.3, 1.1], growth('connections')),
    atMost('server CPU of a job, 8 worker processes / 1', [1.3, 1.1], growth('workers')),
    atMost('claims per job, largest row', [1.02], largest(medians(results, 'claims', 'claimsPerJob'))),
    atMost('updates per job, largest row up to 1,000 ms', [2.05], largest(updates)),
  ]
}

function heldXminGoals(read: Read): Goal[] {
  const best = largest(peers.map((peer) => read('held-xmin', peer, 'jobsPerS')))
  return [
    atLeast('transaction left open, last / first tenth', [0.8], read('held-xmin', 'unstuck', 'share')),
    atLeast(
      'transaction left open, all / best peer',
      [1.6, 2.5],
      ratio(read('held-xmin', 'unstuck', 'jobsPerS'), best),
    ),
  ]
}

function enqueueGoals(read: Read): Goal[] {
  const against = (key: string, base: number | null) => ratio(read('enqueue', 'unstuck', key), base)
  const best = largest(nodePeers.map((peer) => read('enqueue', peer, 'batch1000')))
  const concurrent = (row: string) => against('concurrent', read('enqueue', row, 'concurrent'))
  return [
    atLeast('enqueue, 20 concurrent / pg-boss', [10, 20], concurrent('pg-boss')),
    atLeast('enqueue, 20 concurrent / graphile-worker', [10, 20], concurrent('graphile-worker-fast')),
    atLeast('enqueue, batches of 1,000 / best peer in Node', [1.5, 2], against('batch1000', best)),
    atLeast(
      'enqueue, batches of 1,000 / River',
      [1.4, 2],
      against('batch1000', read('enqueue', 'river', 'batch1000')),
    ),
  ]
}

function latencyGoals(read: Read): Goal[] {
  return ['p50Ms', 'p99Ms'].map((key) => {
    const best = smallest(postgresPeers.map((peer) => read('latency', peer, key)))
    return atMost(
      `latency ${key.slice(0, 3)} / best PostgreSQL peer`,
      [1.05, 0.8],
      ratio(read('latency', 'unstuck', key), best),
    )
  })
}

function attachedGoals(read: Read): Goal[] {
  const native = read('attached', 'unstuck', 'jobsPerS')
  return ['clip', 'executor'].map((name) =>
    atLeast(
      `attached ${name} / native`,
      [0.8],
      ratio(read('attached', `unstuck-${name}`, 'jobsPerS'), native),
    ),
  )
}

function idleGoals(read: Read): Goal[] {
  const memory = (suffix: string) =>
    ratio(read('idle', `unstuck${suffix}`, 'rssMb'), read('idle', `graphile-worker${suffix}`, 'rssMb'))
  return [
    atMost('idle worker, memory / graphile-worker, Node 22', [1.2, 1], memory('')),
    atMost('idle worker, memory / graphile-worker, Node 20', [1.2, 1], memory('-node20')),
  ]
}

function recoveryGoals(read: Read, results: MeasureResult[]): Goal[] {
  const running = largestRow(results, 'heartbeats')
  const expired = largestRow(results, 'reaping')
  return [
    atLeast(`heartbeat, HOT share, ${running.name}`, [0.98], read('heartbeats', running.id, 'hotShare')),
    atMost(`heartbeat, WAL bytes, ${running.name}`, [130], read('heartbeats', running.id, 'walBytes')),
    atLeast(`reaped a second, ${expired.name}`, [25_000, 40_000], read('reaping', expired.id, 'reapedPerS')),
    atMost('claim p99 during a sweep / before', [3], read('reaping', expired.id, 'slowdown')),
  ]
}

const verbs = ['enqueue', 'claim', 'heartbeat', 'complete', 'fail', 'empty claim', 'sweep', 'prune']

function growthGoals(read: Read, results: MeasureResult[]): Goal[] {
  const rows = results.find(({ id }) => id === 'growth')?.rows ?? []
  const beside = rows.filter(({ id }) => id === 'finished' || id === 'waiting' || id === 'backoff')
  const all = rows.find(({ id }) => id === 'all')
  const names = Object.keys(all?.values ?? {}).filter(
    (name) => !verbs.includes(name) && !name.endsWith(' pages'),
  )
  const slowest = largest(names.map((name) => read('growth', 'all', name)))
  return [
    ...beside.flatMap(({ id, name }) =>
      ['claim', 'complete'].map((key) =>
        atMost(`${key}, ${name} / none`, [1.2], ratio(read('growth', id, key), read('growth', 'none', key))),
      ),
    ),
    ...(all === undefined ? [] : [atMost(`slowest read, CPU ms, ${all.name}`, [50], slowest)]),
  ]
}

/** Values of all measured rows but some. */
function medians(results: MeasureResult[], measure: string, key: string, without: string[] = []): number[] {
  const rows = results.find(({ id }) => id === measure)?.rows ?? []
  return rows
    .filter(({ id }) => !without.includes(id))
    .map(({ values }) => values[key]?.median)
    .filter((median) => median !== undefined)
}

/** The last row of a measure has the largest size. */
function largestRow(results: MeasureResult[], measure: string): { id: string; name: string } {
  return results.find(({ id }) => id === measure)?.rows.at(-1) ?? { id: '', name: 'not measured' }
}

function ratio(value: number | null, base: number | null): number | null {
  return value === null || base === null ? null : value / base
}

function largest(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function smallest(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : Math.min(...known)
}

type Aims = [wanted: number, stretch?: number]

function atLeast(work: string, [wanted, stretch]: Aims, value: number | null): Goal {
  const isReached = value === null ? null : value >= wanted
  return { work, wanted, stretch: stretch ?? null, isAtLeast: true, value, isReached }
}

function atMost(work: string, [wanted, stretch]: Aims, value: number | null): Goal {
  const isReached = value === null ? null : value <= wanted
  return { work, wanted, stretch: stretch ?? null, isAtLeast: false, value, isReached }
}
