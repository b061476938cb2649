import { useRef } from 'react'
import type { Job } from '../../../src/http/contract/index.ts'
import { agoMs } from '../api/database-clock.ts'
import { useLive } from '../api/live.ts'
import type { LiveLease } from '../api/live-state.ts'
import { showDuration } from '../format/show-time.ts'
import { LeaseBar, leaseLook } from '../now/lease-bar.tsx'
import { textOf } from '../ui/tone.ts'
import { useTick } from '../ui/use-tick.ts'

/** The lease of a running job, from the stream if available, else from the job. */
export function LeaseCard({ job }: { job: Job }) {
  const now = useTick(250)
  const { leases } = useLive()
  const read = useRef<{ job: Job; lease: LiveLease } | null>(null)
  if (read.current?.job !== job) read.current = { job, lease: { ...job, readAtMs: now } }
  const lease = leases?.find(({ id, table }) => id === job.id && table === job.table) ?? read.current.lease
  const look = leaseLook(lease, now)
  const silent = agoMs(lease.heartbeat_at)
  const deadline = agoMs(lease.deadline_at)
  return (
    <section aria-label="Lease" className="panel flex flex-col gap-3 px-4 py-3">
      <div className="flex flex-wrap items-baseline gap-x-6 gap-y-1">
        <h2 className="text-sm font-semibold">Lease</h2>
        <p className={`text-lg font-semibold ${textOf[look.tone]}`}>
          <span aria-hidden="true">{look.sign} </span>
          {look.leftMs === null
            ? 'no lease'
            : look.leftMs > 0
              ? `${showDuration(look.leftMs)} left`
              : `expired ${showDuration(look.leftMs)} ago`}
        </p>
        <p className="text-soft">
          {silent === null ? 'no heartbeat yet' : `last heartbeat ${showDuration(silent)} ago`}
        </p>
      </div>
      <LeaseBar lease={lease} look={look} isBig />
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs">
        <Pair name="Worker" value={lease.worker_id ?? '–'} />
        <Pair name="Fence" value={lease.fence} />
        <Pair name="Attempt" value={String(lease.attempt)} />
        <Pair
          name="Hard deadline"
          value={deadline === null ? 'none' : deadline < 0 ? `in ${showDuration(deadline)}` : 'over'}
        />
      </dl>
    </section>
  )
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-soft">{name}</dt>
      <dd className="font-mono">{value}</dd>
    </div>
  )
}
