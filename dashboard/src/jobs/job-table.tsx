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

export function JobTable({ jobs, columns, selected, select }: JobTableProps) {
  const areAll = jobs.length > 0 && jobs.every((job) => selected.has(rowKey(job)))
  return (
    <div className="relative overflow-x-auto" role="region" aria-label="Table of jobs" tabIndex={0}>
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            <th scope="col" className="w-10 py-2 pl-4">
              <input
                type="checkbox"
                aria-label="Select all shown"
                className="size-4 align-middle accent-accent-fill"
                checked={areAll}
                onChange={() => select(areAll ? new Map() : new Map(jobs.map((job) => [rowKey(job), job])))}
              />
            </th>
            {['Job', ...columns.map(({ name }) => name)].map((name) => (
              <th key={name} scope="col" className="py-2 pr-4 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
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

interface RowProps {
  job: Job
  columns: JobColumn[]
  isSelected: boolean
  toggle: () => void
}

function Row({ job, columns, isSelected, toggle }: RowProps) {
  const address = useAddress()
  const { isDense } = useSettings()
  const pad = isDense ? 'py-1' : 'py-2'
  return (
    <tr className={`border-t border-line ${isSelected ? 'bg-info-wash' : 'hover:bg-raised/60'}`}>
      <td className={`pl-4 ${pad}`}>
        <input
          type="checkbox"
          aria-label={`Select ${job.id}`}
          className="size-4 align-middle accent-accent-fill"
          checked={isSelected}
          onChange={toggle}
        />
      </td>
      <td className={`pr-4 font-mono text-xs ${pad}`}>
        <Link data-row href={address(jobPath(job.id))} className="link inline-block py-0.5">
          {shortId(job.id)}
        </Link>
      </td>
      {columns.map((column) => (
        <td key={column.key} className={`max-w-80 truncate pr-4 ${pad}`}>
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
  ) : null
}
