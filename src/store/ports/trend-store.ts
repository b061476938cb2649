// Counts per minute and hour, by queue and type, with the durations of waits and runs.

export interface TrendStore {
  /**
   * Adds the counts of this process for the minute that contains the moment `agoMs` ago, by the store's clock. Resolves with the
   * ms until the store's next minute.
   */
  recordTrends(counts: TrendCounts[], agoMs: number): Promise<number>
  /** Counts the last whole minute from the rows, once: the only source for jobs that passed no worker of this library. */
  countTrends(): Promise<void>
  /** The larger of both counts, newest first. */
  listTrends(request: TrendRequest): Promise<Trend[]>
  /** Their sums by queue and type, the busiest first; percentiles are those of all durations together. */
  sumTrends(request: Omit<TrendRequest, 'limit'>): Promise<Trend[]>
}

export interface TrendCounts {
  queue: string
  type: string
  enqueued: number
  completed: number
  failed: number
  rescued: number
  /** Number of attempts by the time from due to started, in each bucket of `trendBoundsMs`. */
  waits: number[]
  /** Number of attempts by their duration. */
  runs: number[]
}

export interface TrendRequest {
  /** How far back. */
  sinceMs: number
  spanMin: 1 | 60
  queue?: string
  type?: string
  /** 1 to 10,000. Default: 1,000. */
  limit?: number
}

export interface Trend {
  /** Start of the minute or hour; of the first one, in a sum. */
  at: Date
  queue: string
  type: string
  enqueued: number
  completed: number
  /** Attempts that failed. */
  failed: number
  /** Attempts that took up a job whose worker had been lost. */
  rescued: number
  /** From due to started, as the upper bound of a bucket; null if nothing ran. */
  waitP50Ms: number | null
  waitP95Ms: number | null
  runP50Ms: number | null
  runP95Ms: number | null
  /** There was more than the count from the rows reads: the numbers are lower bounds. */
  isBounded: boolean
}

/** Upper bounds of the buckets, as `trend_bounds` in SQL; one more bucket holds what is longer. */
export const trendBoundsMs: readonly number[] = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((power) => [
  power,
  2 * power,
  5 * power,
])
