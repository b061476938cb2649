// The last hour by minute, and the workers of a deploy.
import { databaseNowMs } from '../api/database-clock.ts'
import { useTrends, useWorkers } from '../api/queries.ts'
import { plural, showCount } from '../format/show-time.ts'
import { lineOf, RANGES } from '../queues/trends.ts'
import { Go } from '../shell/address.tsx'
import { Sparkline } from '../ui/sparkline.tsx'

const LINES = [
  { name: 'enqueued', look: 'stroke-info' },
  { name: 'completed', look: 'stroke-good-bar' },
  { name: 'failed', look: 'stroke-bad-bar' },
  { name: 'rescued', look: 'stroke-warn' },
] as const

export function LastHour() {
  const trends = useTrends(RANGES['1h'])
  if (trends.data === undefined) return null
  const now = databaseNowMs() ?? 0
  const rows = trends.data.trends
  const bound = rows.some(({ is_bounded }) => is_bounded) ? '≥ ' : ''
  return (
    <section aria-label="Last hour" className="panel px-4 py-3">
      <ul className="grid grid-cols-2 gap-x-6 gap-y-3 lg:grid-cols-4">
        {LINES.map(({ name, look }) => {
          const line = lineOf(rows, name, '1h', now)
          const sum = line.reduce((all, value) => all + value, 0)
          return (
            <li key={name}>
              <Go to="/queues" className="block hover:underline">
                <span className="text-xs text-soft">
                  {name}, last hour <span className="font-semibold text-ink">{bound + showCount(sum)}</span>
                </span>
              </Go>
              <Sparkline name={`${name} per minute`} values={line} look={look} />
            </li>
          )
        })}
      </ul>
      <Fleet />
    </section>
  )
}

const STARTING_MS = 120_000
const HOUR_MS = 3_600_000

/** `4 workers: 3 live, 1 draining; versions 1.4.2 (3), 1.4.1 (1)` */
function Fleet() {
  const answer = useWorkers()
  if (answer.data === undefined) return null
  const workers = answer.data.workers.filter(({ state }) => state !== 'stopped' && state !== 'gone')
  const killed = answer.data.workers.filter(({ state, seen_ms }) => state === 'gone' && seen_ms < HOUR_MS)
  const now = databaseNowMs() ?? 0
  const starting = workers.filter(
    ({ state, started_at }) => state === 'live' && now - Date.parse(started_at) < STARTING_MS,
  )
  const draining = workers.filter(({ state }) => state === 'draining')
  const troubled = workers.filter(({ state }) => ['late', 'silent', 'zombie'].includes(state))
  const parts = [
    [draining.length, 'draining'],
    [starting.length, 'started within 2 min'],
    [troubled.length, 'late, silent or stuck'],
    [killed.length, 'killed or lost within the hour'],
  ] as const
  const notes = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  const isDeploy = draining.length > 0 && starting.length > 0
  return (
    <p className="mt-3 border-t border-line pt-2 text-xs text-soft">
      {isDeploy ? <span className="font-semibold text-info">Deploy under way. </span> : null}
      <Go to="/workers">{plural(workers.length, 'worker')}</Go>
      {notes.length === 0 ? '' : `: ${notes.join(', ')}`}
    </p>
  )
}
