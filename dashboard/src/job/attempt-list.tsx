import type { Attempt, Job, JobEvent } from '../../../src/http/contract/index.ts'
import { showDuration } from '../format/show-time.ts'
import { Badge } from '../ui/badge.tsx'
import { Empty } from '../ui/page.tsx'
import { Time } from '../ui/time.tsx'
import type { Tone } from '../ui/tone.ts'

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  running: 'good',
  reaped: 'warn',
  retried: 'warn',
  expired: 'bad',
  dead: 'bad',
}

export function AttemptList({ attempts }: { attempts: Attempt[] }) {
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Table of attempts" tabIndex={0}>
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            {['Attempt', 'Outcome', 'Worker', 'Started', 'Took', 'Error'].map((name) => (
              <th key={name} scope="col" className="py-1.5 pr-4 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={`${attempt.attempt}/${attempt.ended_at}`} className="border-t border-line align-top">
              <td className="py-1.5 pr-4">{attempt.attempt}</td>
              <td className="py-1.5 pr-4">
                <Badge tone={TONES[attempt.outcome] ?? 'quiet'}>{attempt.outcome}</Badge>
              </td>
              <td className="py-1.5 pr-4 font-mono text-xs leading-6 whitespace-nowrap">
                {attempt.worker_id ?? '–'}
              </td>
              <td className="py-1.5 pr-4">
                <Time at={attempt.started_at} />
              </td>
              <td className="py-1.5 pr-4 whitespace-nowrap">
                {attempt.duration_ms === null ? '–' : showDuration(attempt.duration_ms)}
              </td>
              <td className="min-w-48 py-1.5">
                {attempt.code === null ? null : (
                  <code className="mr-2 font-mono text-xs font-semibold">{attempt.code}</code>
                )}
                {attempt.reason === attempt.code ? null : attempt.reason}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Details that are shown, in this order, with their names. */
const DETAILS = {
  reason: '',
  code: 'code',
  actor: 'by',
  cause: 'cause',
  locked_by: 'worker',
  worker_id: 'worker',
  attempt: 'attempt',
  generation: 'generation',
} as const

function detailsOf({ details }: JobEvent): string {
  const shown = Object.entries(DETAILS).flatMap(([key, name]) => {
    const value = details[key]
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`.trim()] : []
  })
  const { backoff_ms } = details
  if (typeof backoff_ms === 'number') shown.push(`again in ${showDuration(backoff_ms)}`)
  return shown.join(' · ')
}

/** The policy decides which events are written. */
export const UNRECORDED =
  'Claims and successes are recorded with the policy events: all. Recoveries, failures and changes by people always are.'

export function EventList({ events, job }: { events: JobEvent[]; job: Job }) {
  if (events.length === 0)
    return (
      <Empty title={job.attempt === 0 ? 'Nothing has happened to it yet.' : 'No event was recorded.'}>
        {job.attempt === 0 ? undefined : UNRECORDED}
      </Empty>
    )
  return (
    <ol className="flex flex-col divide-y divide-line">
      {events.toReversed().map((event) => (
        <li
          key={event.id}
          className="grid items-baseline gap-x-3 gap-y-0.5 py-1.5 sm:grid-cols-[9rem_12rem_minmax(0,1fr)]"
        >
          <span className="text-xs text-soft">
            <Time at={event.at} />
          </span>
          <span className="font-medium">{event.type}</span>
          <span className="text-xs wrap-anywhere text-soft">{detailsOf(event)}</span>
        </li>
      ))}
    </ol>
  )
}
