import { Link } from 'wouter'
import type { Job } from '../../../src/http/contract.ts'
import { useSettings } from '../settings.ts'
import { shortId } from '../show-time.ts'
import { Go, jobPath, useAddress } from './address.tsx'
import { StatusBadge } from './badge.tsx'
import { Time } from './time.tsx'

interface JobTableProps {
  jobs: Job[]
  selected: ReadonlyMap<string, Job>
  select: (next: ReadonlyMap<string, Job>) => void
}

const keyOf = ({ table, id }: Job) => `${table}/${id}`
const COLUMNS = ['Job', 'Type', 'Status', 'Stage', 'Try', 'Worker or error', 'Created']

export function JobTable({ jobs, selected, select }: JobTableProps) {
  const areAll = jobs.every((job) => selected.has(keyOf(job)))
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
                onChange={() => select(areAll ? new Map() : new Map(jobs.map((job) => [keyOf(job), job])))}
              />
            </th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className="py-2 pr-4 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <Row
              key={keyOf(job)}
              job={job}
              isSelected={selected.has(keyOf(job))}
              toggle={() => {
                const next = new Map(selected)
                if (!next.delete(keyOf(job))) next.set(keyOf(job), job)
                select(next)
              }}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ job, isSelected, toggle }: { job: Job; isSelected: boolean; toggle: () => void }) {
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
      <td className={`pr-4 ${pad}`}>{job.type}</td>
      <td className={`pr-4 ${pad}`}>
        <StatusBadge status={job.status} />
      </td>
      <td className={`pr-4 ${pad}`}>{job.stage ?? '–'}</td>
      <td className={`pr-4 whitespace-nowrap ${pad}`}>
        {job.attempt}
        {job.max_attempts === null ? '' : ` of ${job.max_attempts}`}
      </td>
      <td className={`max-w-80 truncate pr-4 ${pad}`}>
        <Note job={job} />
      </td>
      <td className={`pr-4 ${pad}`}>
        <Time at={job.created_at} />
      </td>
    </tr>
  )
}

function Note({ job }: { job: Job }) {
  if (job.status === 'running' && job.worker_id !== null)
    return (
      <Go to="/jobs" values={{ q: `worker:${job.worker_id}` }} className="font-mono text-xs hover:underline">
        {job.worker_id}
      </Go>
    )
  if (job.error?.code != null)
    return (
      <>
        <code className="font-mono text-xs font-semibold">{job.error.code}</code>{' '}
        <span className="text-soft">{job.error.reason}</span>
      </>
    )
  return job.status === 'waiting' && job.run_at !== null ? (
    <span className="text-soft">
      due <Time at={job.run_at} isRelative />
    </span>
  ) : null
}
