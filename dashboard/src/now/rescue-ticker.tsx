import { useRef } from 'react'
import { agoMs } from '../api/database-clock.ts'
import type { LiveLease } from '../api/live-state.ts'
import { useReclaims } from '../api/queries.ts'
import { showDuration } from '../format/show-time.ts'
import { mergeRescues, type Rescue, type Return, returnOf } from '../reaper/rescues.ts'
import { useTableLive } from '../shell/use-table-live.ts'
import { Badge } from '../ui/badge.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Time } from '../ui/time.tsx'
import { useRefusal } from '../ui/use-refusal.ts'

const SHOWN = 10
const ENDS = { requeued: 'requeued', dead: 'dead', cancelled: 'cancelled' } as const

export function RescueTicker() {
  const { events, leases } = useTableLive()
  const types = useSeenTypes(leases)
  const reclaims = useReclaims({ isEnabled: useRefusal()('listReclaims') === null }, SHOWN)
  const rescues = mergeRescues(reclaims.data?.pages[0]?.reclaims ?? [], events).slice(0, SHOWN)
  if (rescues.length === 0)
    return <p className="py-2 text-soft">No rescues yet. Requeued jobs of silent workers appear here.</p>
  return (
    <ol className="flex flex-col divide-y divide-line">
      {rescues.map((rescue) => (
        <Line
          key={rescue.key}
          rescue={rescue}
          type={rescue.type ?? types.get(rescue.jobId) ?? null}
          back={returnOf(rescue, leases ?? [], events)}
        />
      ))}
    </ol>
  )
}

const MAX_SEEN = 5_000

/** Types of the jobs that were seen running: an event of a rescue names its job alone. */
function useSeenTypes(leases: LiveLease[] | null): Map<string, string> {
  const seen = useRef(new Map<string, string>()).current
  if (seen.size > MAX_SEEN) seen.clear()
  for (const { id, type } of leases ?? []) seen.set(id, type)
  return seen
}

function Line({ rescue, type, back }: { rescue: Rescue; type: string | null; back: Return | null }) {
  const waitMs = rescue.backoffMs === null ? 0 : rescue.backoffMs - (agoMs(rescue.at) ?? 0)
  return (
    <li className="arriving flex flex-col gap-0.5 py-2 first:pt-0">
      <div className="flex items-center gap-2">
        <Badge tone={rescue.outcome === 'dead' ? 'bad' : rescue.outcome === 'requeued' ? 'good' : 'quiet'}>
          {ENDS[rescue.outcome]}
        </Badge>
        <span className="min-w-0 truncate font-medium" title={stageTitle(type, rescue.stage)}>
          {type ?? rescue.stage ?? 'unknown type'}
        </span>
        <span className="ml-auto text-xs whitespace-nowrap text-soft">
          <Time at={rescue.at} isRelative />
        </span>
      </div>
      <p className="flex flex-wrap items-center gap-x-2 text-xs text-soft *:max-w-full *:truncate">
        <JobId id={rescue.jobId} />
        <span>from {rescue.worker ?? 'an unknown worker'}</span>
        {rescue.silentMs === null ? null : <span>silent {showDuration(rescue.silentMs)}</span>}
        <span className="empty:hidden">{nextOf(back, waitMs)}</span>
      </p>
    </li>
  )
}

const stageTitle = (type: string | null, stage: string | null) =>
  stage === null || stage === type ? undefined : `stage ${stage}`

function nextOf(back: Return | null, waitMs: number): string {
  if (back !== null)
    return `→ claimed by ${back.worker}${back.afterMs === null ? '' : ` after ${showDuration(back.afterMs)}`}`
  return waitMs > 0 ? `→ runs again in ${showDuration(waitMs)}` : ''
}
