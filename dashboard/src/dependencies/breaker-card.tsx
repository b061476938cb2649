import type { Breaker, Queue } from '../../../src/http/contract/index.ts'
import { holdBreaker, resumeBreaker } from '../api/commands.ts'
import { agoMs } from '../api/database-clock.ts'
import { showCount, showDuration } from '../format/show-time.ts'
import { showTotalOf, totalOf } from '../format/totals.ts'
import { Badge } from '../ui/badge.tsx'
import type { Tone } from '../ui/tone.ts'
import { useTick } from '../ui/use-tick.ts'
import { HoldControl } from './hold-control.tsx'

const STATES: Record<Breaker['state'], { tone: Tone; word: string }> = {
  closed: { tone: 'good', word: 'closed: calls pass' },
  open: { tone: 'bad', word: 'open: jobs are held' },
  'half-open': { tone: 'warn', word: 'half-open: probing' },
  held: { tone: 'warn', word: 'held manually' },
}

export function BreakerCard({ breaker, queues }: { breaker: Breaker; queues: Queue[] }) {
  useTick(1_000)
  const { tone, word } = STATES[breaker.state]
  const names = breaker.queues.map(({ queue }) => queue)
  const bound = queues.filter(({ queue }) => names.includes(queue))
  return (
    <section aria-label={`Dependency ${breaker.name}`} className="panel flex h-full flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{breaker.name}</h2>
        <Badge tone={tone}>{word}</Badge>
        <span className="ml-auto text-xs text-soft">for {showDuration(agoMs(breaker.since) ?? 0)}</span>
      </div>
      {breaker.banner === null ? null : (
        <p className="rounded-md bg-warn-wash px-3 py-2 font-medium text-warn">{breaker.banner}</p>
      )}
      <Calls breaker={breaker} />
      <dl className="grid grid-cols-[7.5rem_1fr] gap-y-1">
        <dt className="text-soft">Next probe</dt>
        <dd>
          {breaker.next_probe_in_ms === null
            ? breaker.state === 'held'
              ? 'none while it is held'
              : 'not needed'
            : breaker.next_probe_in_ms <= 0
              ? 'with the next job'
              : `in ${showDuration(breaker.next_probe_in_ms)}`}
        </dd>
        <dt className="text-soft">Waiting jobs</dt>
        <dd>
          {names.length === 0
            ? 'no queue uses it'
            : `${showTotalOf(totalOf(bound, 'waiting'), 'job')} waiting in ${names.join(', ')}`}
        </dd>
        {breaker.changed_by === null ? null : (
          <>
            <dt className="text-soft">Changed by</dt>
            <dd>
              {breaker.changed_by}
              {breaker.reason === null ? '' : `: “${breaker.reason}”`}
              {breaker.held_for_ms === null ? '' : `, for ${showDuration(breaker.held_for_ms)} more`}
            </dd>
          </>
        )}
      </dl>
      <HoldControl
        target={{ id: breaker.name, table: null }}
        isOn={breaker.state !== 'closed'}
        hold={holdBreaker}
        resume={resumeBreaker}
        words={{
          hold: 'Hold',
          resume: 'Resume',
          effect: 'Its jobs wait until the time ends or it is resumed. No attempt is spent.',
        }}
        cli={['breaker', 'hold']}
        commands={['holdBreaker', 'resumeBreaker']}
      />
    </section>
  )
}

/** The last calls, newest on the right. */
function Calls({ breaker: { calls, failures, last_calls } }: { breaker: Breaker }) {
  const known = Math.max(calls, failures)
  if (known === 0) return <p className="text-soft">No recent calls.</p>
  return (
    <div className="flex flex-wrap items-center gap-3">
      {last_calls.length === 0 ? null : (
        <span aria-hidden="true" className="flex gap-1">
          {last_calls.map(({ is_failure, at }, index) => (
            <span
              key={index}
              title={`${is_failure ? 'failed' : 'succeeded'}${at === null ? '' : ` ${at}`}`}
              className={`size-2.5 ${is_failure ? 'rounded-[2px] bg-bad-bar' : 'rounded-full bg-good-bar'}`}
            />
          ))}
        </span>
      )}
      <span>
        {showCount(failures)} of the last {showCount(known)} calls failed{' '}
        <span className="text-soft">({Math.round((failures / known) * 100)} %)</span>
      </span>
    </div>
  )
}
