// A list that changes while it is read: shown rows are updated in place, new ones wait until requested.
import type { Job } from '../../../src/http/contract/index.ts'

export const rowKey = ({ table, id }: Job) => `${table}/${id}`

export interface JobRows {
  rows: Job[]
  /** New jobs above or between the rows. */
  arrived: number
}

/**
 * `shown` are the current rows, `fresh` the same pages read again. A row missing from `fresh` was deleted, unless it is below
 * its end: new jobs pushed it to a page that was not read.
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
