import { useLive } from '../api/live.ts'
import { type LiveState, liveOfTable } from '../api/live-state.ts'
import { useTable } from './address.tsx'

/** What runs now in the table that the address names; in all of them where it names none. */
export function useTableLive(): LiveState {
  const live = useLive()
  const [table] = useTable()
  return table === null ? live : liveOfTable(live, table)
}
