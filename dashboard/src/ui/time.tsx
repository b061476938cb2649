import { agoMs } from '../api/database-clock.ts'
import { showAgo, showTime } from '../format/show-time.ts'
import { useTimeMode } from '../shell/address.tsx'
import { useTick } from './use-tick.ts'

/** A database time in the format of the address: local, UTC or relative. */
export function Time({ at, isRelative = false }: { at: string | null; isRelative?: boolean }) {
  const [mode] = useTimeMode()
  useTick(1_000)
  if (at === null) return <span className="text-soft">–</span>
  const ago = agoMs(at)
  const shown = isRelative ? 'relative' : mode
  return (
    <time
      dateTime={at}
      title={shown === 'relative' ? at : ago === null ? at : showAgo(ago)}
      className="whitespace-nowrap"
    >
      {showTime(at, shown, ago)}
    </time>
  )
}
