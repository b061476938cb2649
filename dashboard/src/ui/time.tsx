import { agoMs } from '../api/database-clock.ts'
import { showAgo, showTime } from '../format/show-time.ts'
import { useTimeMode } from '../shell/address.tsx'
import { useTick } from './use-tick.ts'

/** A database time: how long ago, or local or UTC as the address says. The title has the others. */
export function Time({ at, isRelative = false }: { at: string | null; isRelative?: boolean }) {
  const [mode] = useTimeMode()
  useTick(1_000)
  if (at === null) return <span className="text-soft">–</span>
  const ago = agoMs(at)
  const shown = isRelative ? 'relative' : mode
  const absolute = `${showTime(at, 'local', null)} here, ${showTime(at, 'utc', null)}`
  return (
    <time
      dateTime={at}
      title={shown === 'relative' || ago === null ? absolute : showAgo(ago)}
      className="whitespace-nowrap"
    >
      {showTime(at, shown, ago)}
    </time>
  )
}
