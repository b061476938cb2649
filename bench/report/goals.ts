// Performance targets as ratios of the medians of one run. A target without values is not judged.
import type { MeasureResult } from './result.ts'

export interface Goal {
  work: string
  wanted: number
  isAtLeast: boolean
  /** Null if it was not measured. */
  value: number | null
  isReached: boolean | null
}

type Read = (measure: string, row: string, key: string) => number | null

const postgresPeers = [
  'graphile-worker',
  'graphile-worker-fast',
  'pg-boss',
  'pg-boss-notify',
  'bullmq-postgres',
]
const peers = [...postgresPeers, 'bullmq-redis', 'bullmq-redis-fsync']

export function judgeGoals(results: MeasureResult[]): Goal[] {
  const read: Read = (measure, row, key) =>
    results.find(({ id }) => id === measure)?.rows.find(({ id }) => id === row)?.values[key]?.median ?? null
  return [
    ...processGoals(read),
    ...heldXminGoals(read),
    ...enqueueGoals(read),
    ...latencyGoals(read),
    atMost('claims per job, largest row', 1.02, largest(medians(results, 'claims', 'claimsPerJob'))),
    ...recoveryGoals(read, results),
    ...growthGoals(read, results),
    atLeast(
      'attached clip / native',
      0.8,
      ratio(read('attached', 'unstuck-clip', 'jobsPerS'), read('attached', 'unstuck', 'jobsPerS')),
    ),
    atLeast(
      'attached executor / native',
      0.8,
      ratio(read('attached', 'unstuck-executor', 'jobsPerS'), read('attached', 'unstuck', 'jobsPerS')),
    ),
    atMost(
      'idle worker, memory / graphile-worker',
      1.2,
      ratio(read('idle', 'unstuck', 'rssMb'), read('idle', 'graphile-worker', 'rssMb')),
    ),
  ]
}

function processGoals(read: Read): Goal[] {
  const against = (row: string) =>
    ratio(read('process', 'unstuck', 'jobsPerS'), read('process', row, 'jobsPerS'))
  return [
    atLeast('process / graphile-worker, high throughput', 1.5, against('graphile-worker-fast')),
    atLeast('process / pg-boss', 2, against('pg-boss')),
    atLeast('process / BullMQ on Redis', 3, against('bullmq-redis')),
    atLeast('process / BullMQ on PostgreSQL', 20, against('bullmq-postgres')),
    atLeast('process / raw SQL', 0.8, against('raw')),
    atLeast('process / the same table unfenced', 0.9, against('unstuck-unfenced')),
  ]
}

function heldXminGoals(read: Read): Goal[] {
  const best = largest(peers.map((peer) => read('held-xmin', peer, 'jobsPerS')))
  return [
    atLeast('transaction left open, last / first tenth', 0.8, read('held-xmin', 'unstuck', 'share')),
    atLeast(
      'transaction left open, all / best peer',
      3,
      ratio(read('held-xmin', 'unstuck', 'jobsPerS'), best),
    ),
  ]
}

function enqueueGoals(read: Read): Goal[] {
  const concurrent = (row: string) =>
    ratio(read('enqueue', 'unstuck', 'concurrent'), read('enqueue', row, 'concurrent'))
  const best = largest(peers.map((peer) => read('enqueue', peer, 'batch1000')))
  return [
    atLeast('enqueue, 20 concurrent / pg-boss', 10, concurrent('pg-boss')),
    atLeast('enqueue, 20 concurrent / graphile-worker', 10, concurrent('graphile-worker-fast')),
    atLeast('enqueue, batches of 1,000 / best peer', 2, ratio(read('enqueue', 'unstuck', 'batch1000'), best)),
  ]
}

function latencyGoals(read: Read): Goal[] {
  return ['p50Ms', 'p99Ms'].map((key) => {
    const best = smallest(postgresPeers.map((peer) => read('latency', peer, key)))
    return atMost(
      `latency ${key.slice(0, 3)} / best PostgreSQL peer`,
      0.8,
      ratio(read('latency', 'unstuck', key), best),
    )
  })
}

function recoveryGoals(read: Read, results: MeasureResult[]): Goal[] {
  const running = largestRow(results, 'heartbeats')
  const expired = largestRow(results, 'reaping')
  return [
    atLeast(`heartbeat, HOT share, ${running.name}`, 0.98, read('heartbeats', running.id, 'hotShare')),
    atMost(`heartbeat, WAL bytes, ${running.name}`, 130, read('heartbeats', running.id, 'walBytes')),
    atLeast(`reaped a second, ${expired.name}`, 40_000, read('reaping', expired.id, 'reapedPerS')),
    atMost('claim p99 during a sweep / before', 3, read('reaping', expired.id, 'slowdown')),
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
        atMost(`${key}, ${name} / none`, 1.2, ratio(read('growth', id, key), read('growth', 'none', key))),
      ),
    ),
    ...(all === undefined ? [] : [atMost(`slowest read, CPU ms, ${all.name}`, 50, slowest)]),
  ]
}

/** Values of all measured rows. */
function medians(results: MeasureResult[], measure: string, key: string): number[] {
  const rows = results.find(({ id }) => id === measure)?.rows ?? []
  return rows.map(({ values }) => values[key]?.median).filter((median) => median !== undefined)
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

function atLeast(work: string, wanted: number, value: number | null): Goal {
  return { work, wanted, isAtLeast: true, value, isReached: value === null ? null : value >= wanted }
}

function atMost(work: string, wanted: number, value: number | null): Goal {
  return { work, wanted, isAtLeast: false, value, isReached: value === null ? null : value <= wanted }
}
