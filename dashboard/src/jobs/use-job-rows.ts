import { useState } from 'react'
import type { Job, JobList } from '../../../src/http/contract/index.ts'
import { patchRows } from './job-rows.ts'

interface Kept {
  key: string
  pages: JobList[] | undefined
  rows: Job[]
  arrived: number
}

const firstOf = (key: string): Kept => ({ key, pages: undefined, rows: [], arrived: 0 })

interface JobRowsInput {
  /** Key of the search: a new one starts over. */
  key: string
  pages: JobList[] | undefined
  hasMore: boolean
  isFrozen: boolean
}

/** The rows, the number of new ones, and the function that shows them. */
export function useJobRows({ key, pages, hasMore, isFrozen }: JobRowsInput) {
  const [kept, setKept] = useState(() => firstOf(key))
  let current = kept.key === key ? kept : firstOf(key)
  if (pages !== undefined && pages !== current.pages && !(isFrozen && current.pages !== undefined)) {
    const fresh = pages.flatMap(({ jobs }) => jobs)
    const isFirst = current.pages === undefined
    current = { key, pages, ...patchRows(isFirst ? [] : current.rows, fresh, hasMore) }
  }
  // During render, React's pattern for state derived from props.
  if (current !== kept) setKept(current)
  const showAll = () => {
    const rows = pages?.flatMap(({ jobs }) => jobs) ?? []
    setKept({ key, pages, rows, arrived: 0 })
  }
  return { rows: current.rows, arrived: current.arrived, showAll }
}
