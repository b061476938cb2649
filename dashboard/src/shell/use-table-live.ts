import { useLive } from '../api/live.ts'
import { type LiveState, liveOfTable } from '../api/live-state.ts'
import { useTable } from './address.tsx'

/** Live state of the selected table, or of all. */
export function useTableLive(): LiveState {
  const live = useLive()
  const [table] = useTable()
  return table === null ? live : liveOfTable(live, table)
}
