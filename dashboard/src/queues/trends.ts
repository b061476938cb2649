// Counts per minute and hour as lines, beside the totals of the server: percentiles cannot be summed here.
import type { Trend } from '../../../src/http/contract/index.ts'
import { groupBy } from '../format/group-by.ts'

export const RANGES = {
  '1h': { hours: 1, span: 'minute', name: 'hour', unit: 'minute' },
  '24h': { hours: 24, span: 'hour', name: '24 hours', unit: 'hour' },
  '7d': { hours: 168, span: 'hour', name: '7 days', unit: 'hour' },
} as const

export type Range = keyof typeof RANGES

export interface TrendRow {
  key: string
  total: Trend
  /** Completed per span, oldest first. */
  line: number[]
}

const keyOf = ({ table, queue, type }: Trend) => JSON.stringify([table, queue, type])

/** The totals in their order, the busiest first, each with its line. */
export function trendRows(totals: Trend[], spans: Trend[], range: Range, countedMs: number): TrendRow[] {
  const byKey = groupBy(spans, keyOf)
  return totals.map((total) => {
    const key = keyOf(total)
    return { key, total, line: lineOf(byKey.get(key) ?? [], 'completed', range, countedMs) }
  })
}

/** Processes write a minute within seconds of its end. */
const WRITTEN_AFTER_MS = 10_000

/** How long after its end a minute is complete: the next sweep counts the jobs of processes that do not count. */
export function countedAfterMs(sweepIntervalsMs: readonly number[]): number {
  return WRITTEN_AFTER_MS + Math.max(0, ...sweepIntervalsMs)
}

const spanMsOf = (span: 'minute' | 'hour') => (span === 'minute' ? 60_000 : 3_600_000)

/** End of the last span that is complete, if everything before `countedMs` is counted. */
export function countedUntil(span: 'minute' | 'hour', countedMs: number): number {
  const spanMs = spanMsOf(span)
  return Math.floor(countedMs / spanMs) * spanMs
}

/** A value for every complete span of the range, zero without a row, oldest first. */
export function lineOf(
  trends: Trend[],
  name: 'enqueued' | 'completed' | 'failed' | 'rescued',
  range: Range,
  countedMs: number,
): number[] {
  const { hours, span } = RANGES[range]
  const spanMs = spanMsOf(span)
  const count = (hours * 3_600_000) / spanMs
  const end = countedUntil(span, countedMs) / spanMs
  const line = Array.from({ length: count }, () => 0)
  for (const trend of trends) {
    const place = count - (end - Math.floor(Date.parse(trend.at) / spanMs))
    if (place >= 0 && place < count) line[place] = (line[place] ?? 0) + trend[name]
  }
  return line
}

/** Share of attempts that failed, in percent; null without any. */
export function failureRate({ completed, failed }: Pick<Trend, 'completed' | 'failed'>): number | null {
  return completed + failed === 0 ? null : (100 * failed) / (completed + failed)
}
