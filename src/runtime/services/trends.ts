// Counts what this process does by queue and type, and writes it once a minute in one statement: nothing is added to the path
// of a job. A crash loses at most the last minute.
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
/** Older minutes are dropped; record_trends refuses them. */
const MAX_AGO_MS = 3_600_000
/** Spreads the writes of a fleet after the end of a minute. */
const SPREAD_MS = 5_000
/** Pairs of queue and type that are told apart in one minute; the others are counted together. */
const MAX_PAIRS = 100
const OTHERS = '*'

export function startTrends({ store, events, table }: TrendsOptions): Trends {
  const stopping = new AbortController()
  let counted = new Counter()
  /** Minutes that are not written yet, oldest first. */
  const ended: { counts: Counter; middleMs: number }[] = []
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
      const endMs = timing.nowMs() + untilNextMs
      await wait(untilNextMs, stopping.signal)
      // In the middle of a minute: what is left belongs to this one.
      if (stopping.signal.aborted) break
      // Not by the time of now: a process that was frozen counted nothing since.
      if (!counted.isEmpty) ended.push({ counts: counted, middleMs: endMs - MINUTE_MS / 2 })
      counted = new Counter()
      await wait(timing.random() * SPREAD_MS, stopping.signal)
      untilNextMs = (await writeEnded()) ?? MINUTE_MS - ((timing.nowMs() - endMs) % MINUTE_MS)
    }
    await writeEnded()
    if (!counted.isEmpty) await write(counted, 0)
  }

  /** Each with its own age: the rows show the same jobs in that minute, and the larger count is shown. */
  async function writeEnded(): Promise<number | undefined> {
    let untilNextMs: number | undefined
    while (ended[0] !== undefined) {
      const { counts, middleMs } = ended[0]
      const agoMs = timing.nowMs() - middleMs
      if (agoMs < MAX_AGO_MS) {
        untilNextMs = await write(counts, agoMs)
        if (untilNextMs === undefined) return undefined
      }
      ended.shift()
    }
    return untilNextMs
  }

  async function write(counts: Counter, agoMs: number): Promise<number | undefined> {
    try {
      return await store.recordTrends(counts.list(), agoMs)
    } catch (error) {
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

  list(): TrendCounts[] {
    return [...this.#queues.values()].flatMap((types) => [...types.values()])
  }
}

const emptyBuckets = () => Array.from({ length: trendBoundsMs.length + 1 }, () => 0)
