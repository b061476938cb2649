// Notices for everyone, shown only while they apply.
import type { ReactNode } from 'react'
import type { Remedy } from '../../../src/http/contract/index.ts'
import { useLive } from '../api/live.ts'
import type { LiveState } from '../api/live-state.ts'
import { useMe, useRecentOperations } from '../api/queries.ts'
import { holdText } from '../format/hold-text.ts'
import { plural, showCount, showDuration } from '../format/show-time.ts'
import { showTotalOf, totalOf } from '../format/totals.ts'
import { operationPath } from '../operations/operation-progress.tsx'
import { actionWords, doneOf } from '../operations/operation-words.ts'
import { pauseText } from '../queues/queue-table.tsx'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { type Tone, washOf } from '../ui/tone.ts'
import { useRefusal } from '../ui/use-refusal.ts'
import { Go } from './address.tsx'

interface Banner {
  key: string
  /** The acts that end it, in the table. */
  remedies?: { table: string | null; remedies: Remedy[] }
  tone: Tone
  text: ReactNode
  isUrgent?: boolean
}

export function Banners() {
  const live = useLive()
  const me = useMe()
  const banners = [
    ...connectionBanners(live),
    ...shardBanners(live),
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
      {banners.map(({ key, tone, text, isUrgent, remedies }) => (
        <div
          key={key}
          className={`flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1.5 font-medium md:px-6 ${washOf[tone]}`}
        >
          <p className="py-1" role={isUrgent === true ? 'alert' : 'status'}>
            {text}
          </p>
          {remedies?.remedies.map((remedy) => (
            <RemedyButton key={remedy.act} remedy={remedy} table={remedies.table} />
          ))}
        </div>
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

function shardBanners({ tables }: LiveState): Banner[] {
  return [...new Set((tables ?? []).flatMap(({ silent_shards }) => silent_shards))].map((shard) => ({
    key: `silent-${shard}`,
    tone: 'bad',
    isUrgent: true,
    text: `${capitalized(shard)} does not answer: its jobs are missing here.`,
  }))
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function reaperBanners({ tables }: LiveState): Banner[] {
  return (tables ?? []).flatMap((health): Banner[] => {
    const { table, reaper_age_ms, is_reaper_late, running, hold_reason, hidden } = health
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
    // Without running jobs there is nothing to sweep.
    if (is_reaper_late && running > 0)
      said.push({
        key: `reaper-${table}`,
        tone: 'bad',
        isUrgent: true,
        remedies: { table, remedies: health.remedies },
        text:
          reaper_age_ms === null
            ? `No reaper has swept ${table} yet.`
            : `No reaper has swept ${table} for ${showDuration(reaper_age_ms)}.`,
      })
    if (hold_reason !== null)
      said.push({
        key: `hold-${table}`,
        tone: 'warn',
        text: `${table}: ${holdText(hold_reason)}`,
      })
    return said
  })
}

function heldBanners({ breakers, queues }: LiveState): Banner[] {
  const ofBreakers = (breakers ?? []).flatMap(
    ({ name, banner, resumes, remedy, queues: bound }): Banner[] => {
      if (banner === null) return []
      const names = bound.map(({ queue }) => queue)
      const theirs = (queues ?? []).filter(({ queue }) => names.includes(queue))
      const held = totalOf(theirs, 'waiting')
      const count =
        held.count === 0 ? null : <span className="font-normal"> {showTotalOf(held, 'job')} held.</span>
      return [
        {
          key: `breaker-${name}`,
          tone: resumes ? 'warn' : 'bad',
          ...(resumes || remedy === null ? {} : { remedies: { table: null, remedies: [remedy] } }),
          text: (
            <>
              <Go to="/dependencies" className="py-1 underline underline-offset-3">
                {banner}
              </Go>
              {count}
            </>
          ),
        },
      ]
    },
  )
  const paused = (queues ?? [])
    .filter(({ is_paused }) => is_paused)
    .map((queue): Banner => {
      const key = `queue-${queue.table}-${queue.queue}`
      const remedies =
        queue.remedy === null ? {} : { remedies: { table: queue.table, remedies: [queue.remedy] } }
      return { key, tone: 'warn', text: `Queue ${queue.queue} is paused ${pauseText(queue)}`, ...remedies }
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
          <Go to={operationPath(operation.id)} className="py-1 underline underline-offset-3">
            {actionWords[operation.action].verb} of {plural(operation.total, 'job')}
          </Go>
          <span className="font-normal">: {showCount(doneOf(operation))} done so far.</span>
        </>
      ),
    }))
}
