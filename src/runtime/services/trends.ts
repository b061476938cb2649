// Counts what this process does by queue and type, and writes it once a minute in one statement: nothing is added to the path
// of a job. A crash loses at most the last minute.
import { isUnstuckError } from '../../errors/index.ts'
import type { RuntimeEventEmitter, RuntimeEvents } from '../../observe/events.ts'
import { type TrendCounts, type TrendStore, trendBoundsMs } from '../../store/ports/trend-store.ts'
import { timing } from '../timing/timing.ts'
import { wait, within } from '../timing/wait.ts'

export interface TrendsOptions {
  store: Pick<TrendStore, 'recordTrends'>
  events: Pick<RuntimeEventEmitter, 'on' | 'emit'>
  table: string
}

export interface Trends {
  /** Writes what is left. Resolves after 2 s at most: an unreachable database delays nobody. */
  stop(): Promise<void>
}

const MINUTE_MS = 60_000
const LAST_WRITE_MS = 2_000
/** Spreads the writes of a fleet after the end of a minute. */
const SPREAD_MS = 5_000
/** Pairs of queue and type that are told apart in one minute; the others are counted together. */
const MAX_PAIRS = 100
const OTHERS = '*'

export function startTrends({ store, events, table }: TrendsOptions): Trends {
  const stopping = new AbortController()
  let counted = new Counter()
  const offs = [
    events.on('jobs:enqueued', ({ type, queue, created, ...where }) => {
      if (where.table === table) counted.of(queue, type).enqueued += created
    }),
    events.on('job:started', ({ job }) => {
      const counts = counted.of(job.queue, job.type)
      counts.rescued += job.isRescue ? 1 : 0
      addDuration(counts.waits, job.waitedMs)
    }),
    events.on('job:ended', (ended) => countEnd(counted, ended)),
  ]
  const loop = run()
  return {
    async stop() {
      for (const off of offs) off()
      stopping.abort()
      await within(LAST_WRITE_MS, loop)
    },
  }

  async function run(): Promise<void> {
    // The answer to the first write corrects it.
    let untilNextMs = MINUTE_MS - (timing.wallMs() % MINUTE_MS)
    while (!stopping.signal.aborted) {
      await wait(untilNextMs, stopping.signal)
      // In the middle of a minute: what is left belongs to this one.
      if (stopping.signal.aborted) break
      const endedAtMs = timing.nowMs()
      const minute = counted
      counted = new Counter()
      await wait(timing.random() * SPREAD_MS, stopping.signal)
      // A moment in the middle of the minute that ended.
      const agoMs = timing.nowMs() - endedAtMs + MINUTE_MS / 2
      untilNextMs = (await write(minute, agoMs)) ?? MINUTE_MS - (timing.nowMs() - endedAtMs)
    }
    await write(counted, 0)
  }

  async function write(minute: Counter, agoMs: number): Promise<number | undefined> {
    if (minute.isEmpty) return undefined
    try {
      return await store.recordTrends(minute.list(), agoMs)
    } catch (error) {
      // Written with the next minute. A missing permission may be granted after days, whose sum would look like a minute's.
      if (!isUnstuckError(error, 'PERMISSION_DENIED')) counted.add(minute)
      events.emit('trends:failed', { table, error })
      return undefined
    }
  }
}

function countEnd(counted: Counter, { job, end, durationMs }: RuntimeEvents['job:ended']): void {
  const isCompleted = end === 'completed'
  if (!isCompleted && end !== 'retried' && end !== 'dead') return
  const counts = counted.of(job.queue, job.type)
  counts[isCompleted ? 'completed' : 'failed'] += 1
  addDuration(counts.runs, durationMs)
}

function addDuration(buckets: number[], ms: number): void {
  const bucket = trendBoundsMs.findIndex((bound) => ms < bound)
  const place = bucket < 0 ? trendBoundsMs.length : bucket
  buckets[place] = (buckets[place] ?? 0) + 1
}

class Counter {
  /** By queue and type. Nested, because this is looked up twice for every job. */
  readonly #queues = new Map<string, Map<string, TrendCounts>>()
  #size = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  of(queue: string, type: string): TrendCounts {
    const known = this.#queues.get(queue)?.get(type)
    if (known !== undefined) return known
    if (this.#size >= MAX_PAIRS && queue !== OTHERS) return this.of(OTHERS, OTHERS)
    const counts = {
      queue,
      type,
      enqueued: 0,
      completed: 0,
      failed: 0,
      rescued: 0,
      waits: emptyBuckets(),
      runs: emptyBuckets(),
    }
    const types = this.#queues.get(queue) ?? new Map<string, TrendCounts>()
    this.#queues.set(queue, types.set(type, counts))
    this.#size += 1
    return counts
  }

  add(other: Counter): void {
    for (const { queue, type, waits, runs, ...counts } of other.list()) {
      const sum = this.of(queue, type)
      for (const name of ['enqueued', 'completed', 'failed', 'rescued'] as const) sum[name] += counts[name]
      sum.waits = sum.waits.map((count, bucket) => count + (waits[bucket] ?? 0))
      sum.runs = sum.runs.map((count, bucket) => count + (runs[bucket] ?? 0))
    }
  }

  list(): TrendCounts[] {
    return [...this.#queues.values()].flatMap((types) => [...types.values()])
  }
}

const emptyBuckets = () => Array.from({ length: trendBoundsMs.length + 1 }, () => 0)
