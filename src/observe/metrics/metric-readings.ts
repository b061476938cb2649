// Metrics that are read on collection, from this process and from the database.
import { BreakerClock, breakerStates } from './breaker-clock.ts'
import type { Labels, ReadName, Sample } from './instruments.ts'
import { LabelLimit } from './label-limit.ts'
import type { RuntimeEventSource } from './record-events.ts'

/** Verbs of the store. Metrics of an absent one are left out. */
export interface MetricReaders {
  readHealth?: () => Promise<OfTables<HealthReading>>
  readBreakers?: () => Promise<readonly BreakerReading[]>
  /** Covers the last 24 hours. */
  readSlo?: () => Promise<OfTables<SloReading>>
}

/** One reading, of the table of the options, or one for each table. */
export type OfTables<Reading> = Reading | readonly (Reading & { table: string })[]

export interface HealthReading {
  overdue: number
  oldestOverdueMs: number | null
  oldestDueMs: number | null
  unjudged: number
  releasedOften: number
  reaperAgeMs: number | null
  /** Set if row security may hide jobs; if it hides all of them, nothing is known about them. */
  hidden?: { isAll: boolean } | null
  queues: readonly QueueReading[]
}

export interface QueueReading {
  queue: string
  waiting: number
  due: number
  running: number
  isPaused: boolean
}

export interface BreakerReading {
  name: string
  state: string
}

export interface SloReading {
  rescued: number
  inTime: number
  p50Ms: number | null
  p95Ms: number | null
  worstMs: number | null
  promiseMs: number
  byCause: Record<string, number>
}

export interface MetricsOptions extends MetricReaders {
  events: RuntimeEventSource
  /** Table of job events, which carry none. */
  table: string
}

/** Several scrapers cost the database no more than one does. */
const CACHE_MS = 5_000
/** Prometheus aborts a scrape after 10 s by default: a slow read must not take the other metrics with it. */
const READ_TIMEOUT_MS = 3_000

type ReaderName = keyof MetricReaders

export class MetricReadings {
  readonly #options: MetricsOptions
  readonly #onFailed: (read: ReaderName) => void
  readonly #nowMs: () => number
  readonly #breakers = new BreakerClock()
  readonly #limit = new LabelLimit()
  readonly #offs: (() => void)[]
  #running = 0
  #lagMs: number | null = null
  #stored: Promise<Sample[]> = Promise.resolve([])
  #storedAtMs = Number.NEGATIVE_INFINITY

  constructor(
    options: MetricsOptions,
    onFailed: (read: ReaderName) => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#options = options
    this.#onFailed = onFailed
    this.#nowMs = nowMs
    const { events } = options
    this.#offs = [
      events.on('job:started', () => {
        this.#running++
      }),
      events.on('job:ended', () => {
        // The start of a job that was already running was not counted.
        this.#running = Math.max(0, this.#running - 1)
      }),
      events.on('loop:lagged', ({ lagMs }) => {
        this.#lagMs = lagMs
      }),
      events.on('breaker:changed', ({ name, to }) => this.#breakers.note(name, to, this.#nowMs())),
    ]
  }

  async read(): Promise<Sample[]> {
    const nowMs = this.#nowMs()
    if (nowMs - this.#storedAtMs >= CACHE_MS) {
      this.#storedAtMs = nowMs
      this.#stored = this.#readStored()
    }
    // The database first: its breakers update the clocks of this process.
    const stored = await this.#stored
    return [...stored, ...this.#readOwn()]
  }

  stop(): void {
    for (const off of this.#offs) off()
  }

  #readOwn(): Sample[] {
    const { table } = this.#options
    const lag = this.#lagMs === null ? [] : [sample('loopLag', { table }, this.#lagMs / 1_000)]
    const breakers = this.#breakers
      .read(this.#nowMs())
      .flatMap(({ name, state, openMs }) => [
        sample('breakerOpen', { name }, openMs / 1_000),
        ...breakerStates.map((each) => sample('breakerState', { name, state: each }, Number(each === state))),
      ])
    return [sample('jobsRunning', { table }, this.#running), ...lag, ...breakers]
  }

  async #readStored(): Promise<Sample[]> {
    const { readHealth, readBreakers, readSlo } = this.#options
    const [health, slo] = await Promise.all([
      this.#attempt('readHealth', readHealth, (found) => this.#ofEach(found, (each) => this.#ofHealth(each))),
      this.#attempt('readSlo', readSlo, (found) => this.#ofEach(found, ofSlo)),
      this.#attempt('readBreakers', readBreakers, (found) => {
        this.#breakers.noteAll(found, this.#nowMs())
        return []
      }),
    ])
    return [...health, ...slo]
  }

  /** Values that cannot be read are left out: an old value would look like a quiet system. */
  async #attempt<T>(
    name: ReaderName,
    read: (() => Promise<T>) | undefined,
    show: (found: T) => Sample[],
  ): Promise<Sample[]> {
    if (read === undefined) return []
    try {
      return show(await within(READ_TIMEOUT_MS, read()))
    } catch {
      this.#onFailed(name)
      return []
    }
  }

  #ofEach<Reading extends object>(
    found: OfTables<Reading>,
    show: (reading: Reading & { table: string }) => Sample[],
  ): Sample[] {
    if ('length' in found) return found.flatMap(show)
    return show({ ...found, table: this.#options.table })
  }

  #ofHealth(health: HealthReading & { table: string }): Sample[] {
    const { table } = health
    const { overdue, oldestOverdueMs, oldestDueMs, unjudged, releasedOften, reaperAgeMs, hidden, queues } =
      health
    const age = reaperAgeMs === null ? [] : [sample('reaperAge', { table }, reaperAgeMs / 1_000)]
    if (hidden?.isAll === true) {
      this.#onFailed('readHealth')
      return [...age, ...this.#ofQueues(queues, table)]
    }
    return [
      sample('overdueJobs', { table }, overdue),
      sample('oldestOverdue', { table }, (oldestOverdueMs ?? 0) / 1_000),
      sample('oldestWaiting', { table }, (oldestDueMs ?? 0) / 1_000),
      sample('unjudgedJobs', { table }, unjudged),
      sample('releasedOftenJobs', { table }, releasedOften),
      ...age,
      ...this.#ofQueues(queues, table),
    ]
  }

  #ofQueues(queues: readonly QueueReading[], table: string): Sample[] {
    const samples = queues.flatMap(({ queue: given, waiting, due, running, isPaused }) => {
      const { queue } = this.#limit.apply({ queue: given })
      return [
        sample('queueDepth', { table, queue, state: 'waiting' }, waiting),
        sample('queueDepth', { table, queue, state: 'due' }, due),
        sample('queueDepth', { table, queue, state: 'running' }, running),
        sample('queuePaused', { table, queue }, Number(isPaused)),
      ]
    })
    return summed(samples)
  }
}

function ofSlo(reading: SloReading & { table: string }): Sample[] {
  const { table, rescued, inTime, p50Ms, p95Ms, worstMs, promiseMs, byCause } = reading
  const quantiles: [string, number | null][] = [
    ['0.5', p50Ms],
    ['0.95', p95Ms],
    ['1', worstMs],
  ]
  return [
    sample('rescues', { table, in_time: 'true' }, inTime),
    sample('rescues', { table, in_time: 'false' }, rescued - inTime),
    ...Object.entries(byCause).map(([cause, count]) => sample('rescuesByCause', { table, cause }, count)),
    // Left out without rescues: no time is not a short time.
    ...quantiles.flatMap(([quantile, ms]) =>
      ms === null ? [] : [sample('rescueTime', { table, quantile }, ms / 1_000)],
    ),
    sample('rescuePromise', { table }, promiseMs / 1_000),
  ]
}

function sample<Name extends ReadName>(name: Name, labels: Labels<Name>, value: number): Sample {
  return { name, labels, value }
}

/** Queues beyond the label limit share one name. */
function summed(samples: readonly Sample[]): Sample[] {
  const byKey = new Map<string, Sample>()
  for (const each of samples) {
    const key = JSON.stringify([each.name, each.labels])
    const before = byKey.get(key)
    byKey.set(key, before === undefined ? each : { ...each, value: before.value + each.value })
  }
  return [...byKey.values()]
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
