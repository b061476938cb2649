// A list that is read while it changes: what stands there is patched in its place, what is new waits until it is asked for.
import type { Job } from '../../../src/http/contract/index.ts'

export const rowKey = ({ table, id }: Job) => `${table}/${id}`

export interface JobRows {
  rows: Job[]
  /** New ones above or between the rows. */
  arrived: number
}

/**
 * `shown` is what stands there, `fresh` the same pages read again. What is missing from `fresh` has gone, unless it is below
 * its end: there new jobs have pushed it to a page that was not read.
 */
export function patchRows(shown: Job[], fresh: Job[], hasMore: boolean): JobRows {
  if (shown.length === 0) return { rows: fresh, arrived: 0 }
  const known = new Set(shown.map(rowKey))
  const read = new Set(fresh.map(rowKey))
  const end = fresh.findLastIndex((job) => known.has(rowKey(job)))
  const rows = fresh.filter((job, index) => index > end || known.has(rowKey(job)))
  if (end === -1) return { rows: hasMore ? shown : [], arrived: fresh.length }
  const below = shown.slice(shown.findLastIndex((job) => read.has(rowKey(job))) + 1)
  const isPushed = hasMore && end === fresh.length - 1
  return { rows: isPushed ? [...rows, ...below] : rows, arrived: fresh.length - rows.length }
}
