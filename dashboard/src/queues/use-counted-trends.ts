import type { UseQueryResult } from '@tanstack/react-query'
import type { TrendList } from '../../../src/http/contract/index.ts'
import { useTrends } from '../api/queries.ts'
import { useTableLive } from '../shell/use-table-live.ts'
import { countedAfterMs, countedUntil } from './trends.ts'

const MINUTE_MS = 60_000
/** Lets the database finish the last write. */
const MARGIN_MS = 1_000

export interface CountedTrends {
  answer: UseQueryResult<TrendList>
  /** Everything before is in the answer; 0 before the first. */
  countedMs: number
}

/** Read again as soon as the next minute is complete. */
export function useCountedTrends(request: { hours: number; span: string }): CountedTrends {
  const { tables } = useTableLive()
  const afterMs = countedAfterMs((tables ?? []).map(({ sweep_interval_ms }) => sweep_interval_ms))
  const answer = useTrends(request, ({ db_now }) => {
    const countedMs = Date.parse(db_now) - afterMs
    return countedUntil('minute', countedMs) + MINUTE_MS - countedMs + MARGIN_MS
  })
  const nowMs = Date.parse(answer.data?.db_now ?? '')
  return { answer, countedMs: Number.isNaN(nowMs) ? 0 : nowMs - afterMs }
}
