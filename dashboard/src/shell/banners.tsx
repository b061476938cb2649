// Notices for everyone, shown only while they apply.
import type { ReactNode } from 'react'
import { useLive } from '../api/live.ts'
import type { LiveState } from '../api/live-state.ts'
import { useMe, useRecentOperations } from '../api/queries.ts'
import { pauseText } from '../dependencies/queue-table.tsx'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { showTotalOf, totalOf } from '../format/totals.ts'
import { operationPath } from '../operations/operation-progress.tsx'
import { actionWords, doneOf } from '../operations/operation-words.ts'
import { type Tone, washOf } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { Go } from './address.tsx'

interface Banner {
  key: string
  tone: Tone
  text: ReactNode
  isUrgent?: boolean
}

export function Banners() {
  const live = useLive()
  const me = useMe()
  const banners = [
    ...connectionBanners(live),
    ...reaperBanners(live),
    ...heldBanners(live),
    ...useOperationBanners(),
  ]
  if (me.data?.is_read_only === true)
    banners.push({
      key: 'read-only',
      tone: 'quiet',
      text: 'This server is read-only.',
    })
  return (
    <div role="region" aria-label="Notices">
      {banners.map(({ key, tone, text, isUrgent }) => (
        <p
          key={key}
          role={isUrgent === true ? 'alert' : 'status'}
          className={`px-4 py-2 font-medium md:px-6 ${washOf[tone]}`}
        >
          {text}
        </p>
      ))}
    </div>
  )
}

function connectionBanners({ connection, stale, heardAtMs }: LiveState): Banner[] {
  if (connection === 'lost')
    return [
      {
        key: 'lost',
        tone: 'bad',
        text:
          heardAtMs === null
            ? 'Server unreachable; retrying.'
            : 'Connection lost: the data is out of date. Reconnecting.',
        isUrgent: true,
      },
    ]
  return stale === null
    ? []
    : [
        {
          key: 'stale',
          tone: 'warn',
          text: `The database could not be read (${stale.detail}). The data is out of date.`,
        },
      ]
}

function reaperBanners({ tables }: LiveState): Banner[] {
  return (tables ?? []).flatMap((health): Banner[] => {
    const { table, reaper_age_ms, sweep_interval_ms, hold_reason, hidden } = health
    const said: Banner[] = []
    if (hidden !== null)
      said.push({
        key: `hidden-${table}`,
        tone: 'bad',
        isUrgent: true,
        text: (
          <>
            Row security {hidden.is_all ? 'hides every job' : 'may hide jobs'} of {hidden.table} from role{' '}
            {hidden.role}, so these numbers are too low:{' '}
            <code className="font-mono text-xs">{hidden.fix}</code>
          </>
        ),
      })
    if (reaper_age_ms === null || reaper_age_ms > sweep_interval_ms * 6)
      said.push({
        key: `reaper-${table}`,
        tone: 'bad',
        isUrgent: true,
        text: (
          <>
            {reaper_age_ms === null
              ? `No sweep of ${table} has run yet.`
              : `No sweep of ${table} for ${showDuration(reaper_age_ms)}.`}{' '}
            Start a worker or a reaper: <code className="font-mono text-xs">unstuck reaper</code>
          </>
        ),
      })
    if (hold_reason !== null)
      said.push({
        key: `hold-${table}`,
        tone: 'warn',
        text: `Sweeps of ${table} are on hold: ${hold_reason}.`,
      })
    return said
  })
}

function heldBanners({ breakers, queues }: LiveState): Banner[] {
  const ofBreakers = (breakers ?? []).flatMap(({ name, banner, queues: bound }): Banner[] => {
    if (banner === null) return []
    const names = bound.map(({ queue }) => queue)
    const theirs = (queues ?? []).filter(({ queue }) => names.includes(queue))
    const held = totalOf(theirs, 'waiting')
    const count =
      held.count === 0 ? null : <span className="font-normal"> {showTotalOf(held, 'job')} held.</span>
    return [
      {
        key: `breaker-${name}`,
        tone: 'warn',
        text: (
          <>
            <Go to="/dependencies" className="underline underline-offset-3">
              {banner}
            </Go>
            {count}
          </>
        ),
      },
    ]
  })
  const paused = (queues ?? [])
    .filter(({ is_paused }) => is_paused)
    .map((queue): Banner => {
      const key = `queue-${queue.table}-${queue.queue}`
      return { key, tone: 'warn', text: `Queue ${queue.queue} is paused ${pauseText(queue)}` }
    })
  return [...ofBreakers, ...paused]
}

function useOperationBanners(): Banner[] {
  const isAllowed = useRefusal()('listOperations') === null
  const operations = useRecentOperations(isAllowed).data?.operations ?? []
  return operations
    .filter(({ state }) => state === 'running')
    .map((operation) => ({
      key: `operation-${operation.id}`,
      tone: 'info',
      text: (
        <>
          <Go to={operationPath(operation.id)} className="underline underline-offset-3">
            {actionWords[operation.action].verb} of {plural(operation.total, 'job')}
          </Go>
          <span className="font-normal">: {showCount(doneOf(operation))} done so far.</span>
        </>
      ),
    }))
}
