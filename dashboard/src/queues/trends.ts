// Sums of the counts per minute and hour. Percentiles cannot be summed: the highest of the spans is kept.
import type { Trend } from '../../../src/http/contract/index.ts'
import { groupBy } from '../format/group-by.ts'

export const RANGES = {
  '1h': { hours: 1, span: 'minute', name: 'hour', unit: 'minute' },
  '24h': { hours: 24, span: 'hour', name: '24 hours', unit: 'hour' },
  '7d': { hours: 168, span: 'hour', name: '7 days', unit: 'hour' },
} as const

export type Range = keyof typeof RANGES

export interface TrendSum {
  key: string
  table: string
  queue: string
  type: string
  enqueued: number
  completed: number
  failed: number
  rescued: number
  waitP95Ms: number | null
  runP95Ms: number | null
  /** The numbers are lower bounds. */
  isBounded: boolean
  /** Completed per span, oldest first. */
  line: number[]
}

const total = (trends: Trend[], name: 'enqueued' | 'completed' | 'failed' | 'rescued') =>
  trends.reduce((sum, trend) => sum + trend[name], 0)

const highest = (values: (number | null)[]) =>
  values.reduce<number | null>((most, value) => (value === null ? most : Math.max(most ?? 0, value)), null)

/** One row per queue and type, the busiest first. */
export function sumTrends(trends: Trend[], range: Range, nowMs: number): TrendSum[] {
  const groups = groupBy(trends, ({ table, queue, type }) => JSON.stringify([table, queue, type]))
  return [...groups]
    .map(([key, rows]): TrendSum => {
      const [{ table, queue, type }] = rows as [Trend, ...Trend[]]
      return {
        key,
        table,
        queue,
        type,
        enqueued: total(rows, 'enqueued'),
        completed: total(rows, 'completed'),
        failed: total(rows, 'failed'),
        rescued: total(rows, 'rescued'),
        waitP95Ms: highest(rows.map(({ wait_p95_ms }) => wait_p95_ms)),
        runP95Ms: highest(rows.map(({ run_p95_ms }) => run_p95_ms)),
        isBounded: rows.some(({ is_bounded }) => is_bounded),
        line: lineOf(rows, 'completed', range, nowMs),
      }
    })
    .toSorted((a, b) => b.completed + b.failed - (a.completed + a.failed) || (a.key < b.key ? -1 : 1))
}

/** A value for every whole span of the range, zero without a row, oldest first. The span of now is not over. */
export function lineOf(
  trends: Trend[],
  name: 'enqueued' | 'completed' | 'failed' | 'rescued',
  range: Range,
  nowMs: number,
): number[] {
  const { hours, span } = RANGES[range]
  const spanMs = span === 'minute' ? 60_000 : 3_600_000
  const count = (hours * 3_600_000) / spanMs
  const end = Math.floor(nowMs / spanMs)
  const line = Array.from({ length: count }, () => 0)
  for (const trend of trends) {
    const place = count - (end - Math.floor(Date.parse(trend.at) / spanMs))
    if (place >= 0 && place < count) line[place] = (line[place] ?? 0) + trend[name]
  }
  return line
}

/** Share of attempts that failed, in percent; null without any. */
export function failureRate({ completed, failed }: Pick<TrendSum, 'completed' | 'failed'>): number | null {
  return completed + failed === 0 ? null : (100 * failed) / (completed + failed)
}
