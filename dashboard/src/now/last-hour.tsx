// The last hour by minute.
import { showClock, showCount } from '../format/show-time.ts'
import { countedUntil, lineOf, RANGES } from '../queues/trends.ts'
import { useCountedTrends } from '../queues/use-counted-trends.ts'
import { Go, useTimeMode } from '../shell/address.tsx'
import { Sparkline } from '../ui/sparkline.tsx'

const LINES = [
  { name: 'enqueued', look: 'stroke-info-bar fill-info-bar' },
  { name: 'completed', look: 'stroke-good-bar fill-good-bar' },
  { name: 'failed', look: 'stroke-bad-bar fill-bad-bar' },
  { name: 'rescued', look: 'stroke-warn-bar fill-warn-bar' },
] as const

export function LastHour() {
  const { answer, countedMs } = useCountedTrends(RANGES['1h'])
  const [mode] = useTimeMode()
  if (answer.data === undefined) return null
  const rows = answer.data.trends
  const isBounded = rows.some(({ is_bounded }) => is_bounded)
  return (
    <section aria-label="Last hour" className="panel px-4 py-3">
      <p className="mb-1 flex flex-wrap justify-between gap-x-4 text-xs text-soft">
        <span className="font-medium">Last hour, by minute</span>
        <span>until {showClock(countedUntil('minute', countedMs), mode)}</span>
      </p>
      <ul className="grid grid-cols-2 gap-x-8 gap-y-3 lg:grid-cols-4">
        {LINES.map(({ name, look }) => {
          const line = lineOf(rows, name, '1h', countedMs)
          const sum = line.reduce((all, value) => all + value, 0)
          // Rescues are counted where they are made, so no limit of reading rows applies to them.
          const bound = isBounded && sum > 0 && name !== 'rescued' ? '≥ ' : ''
          return (
            <li key={name}>
              <Go to="/queues" className="mb-1 flex min-h-6 items-baseline gap-2 hover:underline">
                <span className="text-base font-semibold whitespace-nowrap">{bound + showCount(sum)}</span>
                <span className="text-xs text-soft">{name}</span>
              </Go>
              <Sparkline name={`${name} per minute`} values={line} look={look} size="h-9" />
            </li>
          )
        })}
      </ul>
    </section>
  )
}
