// Running jobs, grouped by stage, shortest remaining lease first; as bars or as a table.

import { agoMs } from '../api/database-clock.ts'
import { type LiveLease, leaseLeftMs } from '../api/live-state.ts'
import { groupBy } from '../format/group-by.ts'
import { plural, shortId, showDuration } from '../format/show-time.ts'
import { Go, jobPath } from '../shell/address.tsx'
import { JobId } from '../ui/job-id.tsx'
import { textOf } from '../ui/tone.ts'
import { useTick } from '../ui/use-tick.ts'
import { LeaseBar, leaseLook } from './lease-bar.tsx'

const MAX_BARS = 200

interface StageGroup {
  stage: string
  leases: LiveLease[]
}

/** Groups by name, so that none jumps; jobs by remaining lease. */
function groupByStage(leases: LiveLease[], nowMs: number): StageGroup[] {
  const left = (lease: LiveLease) => leaseLeftMs(lease, nowMs) ?? -Infinity
  const sorted = leases.toSorted((a, b) => left(a) - left(b)).slice(0, MAX_BARS)
  const groups = groupBy(sorted, ({ stage, type }) => stage ?? type)
  return [...groups]
    .map(([stage, found]) => ({ stage, leases: found }))
    .toSorted((a, b) => (a.stage < b.stage ? -1 : 1))
}

export function LeaseField({ leases, hasMore }: { leases: LiveLease[]; hasMore: boolean }) {
  const now = useTick(500)
  return (
    <div className="grid gap-x-10 gap-y-5 2xl:grid-cols-2">
      {groupByStage(leases, now).map(({ stage, leases: found }) => (
        <section key={stage} aria-label={`Stage ${stage}`}>
          <h3 className="mb-1.5 flex items-baseline gap-2 font-mono text-xs font-semibold">
            {stage}
            <span className="font-sans font-normal text-soft">{plural(found.length, 'job')}</span>
          </h3>
          <ul>
            {found.map((lease) => (
              <Row key={`${lease.table}/${lease.id}`} lease={lease} now={now} />
            ))}
          </ul>
        </section>
      ))}
      <Others leases={leases} hasMore={hasMore} />
    </div>
  )
}

/** Running jobs that are not shown. */
function Others({ leases, hasMore }: { leases: LiveLease[]; hasMore: boolean }) {
  if (leases.length <= MAX_BARS && !hasMore) return null
  return (
    <p className="text-soft">
      + {hasMore ? 'more' : plural(leases.length - MAX_BARS, 'job')}.{' '}
      <Go to="/jobs" values={{ q: 'status:running' }}>
        All running jobs
      </Go>
    </p>
  )
}

function Row({ lease, now }: { lease: LiveLease; now: number }) {
  const look = leaseLook(lease, now)
  const left =
    look.leftMs === null
      ? look.word
      : look.leftMs <= 0
        ? `expired ${showDuration(look.leftMs)}`
        : `${showDuration(look.leftMs)} left`
  return (
    <li>
      <Go
        to={jobPath(lease.id)}
        className="grid min-h-7 grid-cols-[minmax(0,1fr)_3rem_8.5rem] items-center gap-x-3 rounded px-1 hover:bg-raised sm:grid-cols-[13.5rem_minmax(3rem,1fr)_8.5rem] lg:grid-cols-[13.5rem_minmax(3rem,1fr)_8.5rem_14rem]"
      >
        <span className="flex min-w-0 items-baseline gap-2 text-xs max-sm:flex-wrap max-sm:gap-y-0 max-sm:py-1">
          <span className="min-w-0 truncate font-medium">{lease.type}</span>
          <span className="ml-auto font-mono whitespace-nowrap text-soft max-sm:ml-0">
            {shortId(lease.id)}
          </span>
        </span>
        <LeaseBar lease={lease} look={look} />
        <span className={`text-xs whitespace-nowrap tabular-nums max-sm:text-right ${textOf[look.tone]}`}>
          <span aria-hidden="true">{look.sign} </span>
          {left}
        </span>
        <span className="hidden min-w-0 gap-x-2 text-xs text-soft lg:flex">
          <span className="min-w-0 truncate" title={lease.worker_id ?? undefined}>
            {lease.worker_id ?? 'no worker'}
          </span>
          {lease.attempt > 1 ? <span className="ml-auto shrink-0">attempt {lease.attempt}</span> : null}
        </span>
      </Go>
    </li>
  )
}

export function LeaseTable({ leases, hasMore }: { leases: LiveLease[]; hasMore: boolean }) {
  const now = useTick(1_000)
  const rows = groupByStage(leases, now).flatMap(({ leases: found }) => found)
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Table of running jobs" tabIndex={0}>
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            {['Job', 'Type', 'Stage', 'Worker', 'Attempt', 'Lease', 'Last heartbeat'].map((name) => (
              <th key={name} scope="col" className="py-1.5 pr-4 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((lease) => (
            <TableRow key={`${lease.table}/${lease.id}`} lease={lease} now={now} />
          ))}
        </tbody>
      </table>
      <Others leases={leases} hasMore={hasMore} />
    </div>
  )
}

function TableRow({ lease, now }: { lease: LiveLease; now: number }) {
  const look = leaseLook(lease, now)
  const silent = agoMs(lease.heartbeat_at)
  return (
    <tr className="border-t border-line">
      <td className="py-1 pr-4">
        <JobId id={lease.id} />
      </td>
      <td className="pr-4">{lease.type}</td>
      <td className="pr-4">{lease.stage ?? lease.type}</td>
      <td className="pr-4 whitespace-nowrap">{lease.worker_id ?? '–'}</td>
      <td className="pr-4">{lease.attempt}</td>
      <td className={`pr-4 ${textOf[look.tone]}`}>
        {look.word}
        {look.leftMs === null
          ? ''
          : look.leftMs > 0
            ? `, ${showDuration(look.leftMs)} left`
            : ` for ${showDuration(look.leftMs)}`}
      </td>
      <td>{silent === null ? '–' : `${showDuration(silent)} ago`}</td>
    </tr>
  )
}
