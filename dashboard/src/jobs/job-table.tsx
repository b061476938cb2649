import { Link } from 'wouter'
import type { Job } from '../../../src/http/contract/index.ts'
import { shortId } from '../format/show-time.ts'
import { useSettings } from '../settings/preferences.ts'
import { Go, jobPath, useAddress } from '../shell/address.tsx'
import { StatusBadge } from '../ui/badge.tsx'
import { Time } from '../ui/time.tsx'
import { cellText, failureOf, type JobColumn } from './job-columns.ts'
import { rowKey } from './job-rows.ts'

interface JobTableProps {
  jobs: Job[]
  columns: JobColumn[]
  selected: ReadonlyMap<string, Job>
  select: (next: ReadonlyMap<string, Job>) => void
}

/** On a phone each row is a card. The roles are written down, since `display` would remove them there. */
export function JobTable({ jobs, columns, selected, select }: JobTableProps) {
  const areAll = jobs.length > 0 && jobs.every((job) => selected.has(rowKey(job)))
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Table of jobs" tabIndex={0}>
      <table role="table" className="w-full text-left max-sm:block">
        <thead role="rowgroup" className="text-xs text-soft max-sm:block">
          <tr role="row" className="max-sm:flex max-sm:items-center">
            <th role="columnheader" scope="col" className="w-10 py-1.5 pl-3">
              <Tick
                label="Select all shown"
                isOn={areAll}
                toggle={() => select(areAll ? new Map() : new Map(jobs.map((job) => [rowKey(job), job])))}
              />
            </th>
            {['Job', ...columns.map(({ name }) => name)].map((name) => (
              <th
                key={name}
                role="columnheader"
                scope="col"
                className="py-2 pr-4 font-medium whitespace-nowrap max-sm:sr-only"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="max-sm:block">
          {jobs.map((job) => (
            <Row
              key={rowKey(job)}
              job={job}
              columns={columns}
              isSelected={selected.has(rowKey(job))}
              toggle={() => {
                const next = new Map(selected)
                if (!next.delete(rowKey(job))) next.set(rowKey(job), job)
                select(next)
              }}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A check box with room for a finger. */
function Tick({ label, isOn, toggle }: { label: string; isOn: boolean; toggle: () => void }) {
  return (
    <label className="grid size-7 place-items-center">
      <input
        type="checkbox"
        aria-label={label}
        className="size-4 accent-accent-fill"
        checked={isOn}
        onChange={toggle}
      />
    </label>
  )
}

interface RowProps {
  job: Job
  columns: JobColumn[]
  isSelected: boolean
  toggle: () => void
}

function Row({ job, columns, isSelected, toggle }: RowProps) {
  const address = useAddress()
  const { isDense } = useSettings()
  const pad = isDense ? 'py-0.5' : 'py-1.5'
  return (
    <tr
      role="row"
      className={`border-t border-line max-sm:relative max-sm:block max-sm:py-2 max-sm:pr-4 max-sm:pl-12 ${isSelected ? 'bg-info-wash' : 'hover:bg-raised/60'}`}
    >
      <td role="cell" className={`pl-3 max-sm:absolute max-sm:top-1 max-sm:left-0 ${pad}`}>
        <Tick label={`Select ${job.id}`} isOn={isSelected} toggle={toggle} />
      </td>
      <td role="cell" className={`pr-4 max-sm:block max-sm:p-0 ${pad}`}>
        <Link
          data-row
          href={address(jobPath(job.id))}
          className="link inline-flex min-h-6 items-center font-mono text-xs whitespace-nowrap"
        >
          {shortId(job.id)}
        </Link>
      </td>
      {columns.map((column) => (
        <td
          key={column.key}
          role="cell"
          className={`max-w-80 truncate pr-4 max-sm:block max-sm:max-w-full max-sm:p-0 ${pad}`}
        >
          <span aria-hidden="true" className="mr-2 inline-block w-24 text-xs text-soft sm:hidden">
            {column.name}
          </span>
          <Cell job={job} column={column} />
        </td>
      ))}
    </tr>
  )
}

function Cell({ job, column }: { job: Job; column: JobColumn }) {
  if (column.key === 'status') return <StatusBadge status={job.status} />
  if (column.key === 'note') return <Note job={job} />
  const text = cellText(column.value(job))
  if (text === '') return '–'
  return column.isTime === true ? <Time at={text} /> : text
}

function Note({ job }: { job: Job }) {
  if (job.status === 'running' && job.worker_id !== null)
    return (
      <Go to="/jobs" values={{ q: `worker:${job.worker_id}` }} className="font-mono text-xs hover:underline">
        {job.worker_id}
      </Go>
    )
  const failure = failureOf(job)
  if (failure?.code != null)
    return (
      <>
        <code className="font-mono text-xs font-semibold">{failure.code}</code>{' '}
        <span className="text-soft">{failure.reason}</span>
      </>
    )
  return job.status === 'waiting' && job.run_at !== null ? (
    <span className="text-soft">
      due <Time at={job.run_at} isRelative />
    </span>
  ) : (
    '–'
  )
}
