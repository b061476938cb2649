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

const SHOWN_DETAILS = [
  'reason',
  'code',
  'actor',
  'cause',
  'locked_by',
  'worker_id',
  'attempt',
  'backoff_ms',
  'generation',
]

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
        <li key={event.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 py-1.5">
          <span className="w-40 text-xs text-soft">
            <Time at={event.at} />
          </span>
          <span className="font-medium">{event.type}</span>
          <span className="text-xs text-soft">
            {SHOWN_DETAILS.flatMap((name) => {
              const value = event.details[name]
              return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : []
            }).join(' · ')}
          </span>
        </li>
      ))}
    </ol>
  )
}
