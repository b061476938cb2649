import type { StaleJob } from '../../../src/http/contract/index.ts'
import { useStale, useStaleValidation } from '../api/queries.ts'
import { plural, showDuration } from '../format/show-time.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'
import { Go } from '../shell/address.tsx'
import { Badge } from '../ui/badge.tsx'
import { JobId } from '../ui/job-id.tsx'
import { Panel, Read } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'

/** Green if no job is past twice its lease; else red, with the jobs and why each was not requeued. */
export function StalePanel() {
  const stale = useStale()
  return (
    <Panel title="Past their lease" aside={<Light />}>
      <Read what="Jobs past their lease" from={stale}>
        {({ jobs, count, is_complete }) =>
          jobs.length === 0 ? (
            <p role="status">No job is past its lease.</p>
          ) : (
            <>
              <Table
                name="jobs past their lease"
                columns={['Job', 'Type', 'Worker', 'Overdue', 'Why it was not requeued yet', '']}
              >
                {jobs.map((job) => (
                  <Row key={`${job.table}/${job.id}`} job={job} />
                ))}
              </Table>
              {is_complete ? null : (
                <p className="mt-2 text-soft">
                  {plural(count - jobs.length, 'job')} more:{' '}
                  <Go to="/jobs" values={{ q: 'lease:<0' }}>
                    all of them
                  </Go>
                </p>
              )}
            </>
          )
        }
      </Read>
    </Panel>
  )
}

function Light() {
  const validation = useStaleValidation()
  if (validation.data === undefined) return null
  const { is_valid, count } = validation.data
  return (
    <Badge tone={is_valid ? 'good' : 'bad'}>
      <span aria-hidden="true">{is_valid ? '✓' : '✕'}</span>
      {is_valid ? 'none over 2 × lease' : `${plural(count, 'job')} over 2 × lease`}
    </Badge>
  )
}

function Row({ job }: { job: StaleJob }) {
  const { id, table, stage, type, worker_id, overdue_ms, is_past_twice_lease, why, locked_by, remedy } = job
  return (
    <tr className="border-t border-line">
      <td className="py-1.5 pr-4 font-mono text-xs">
        <JobId id={id} table={table} />
      </td>
      <td className="pr-4">
        {type}
        {stage === null || stage === type ? null : <span className="text-soft"> · {stage}</span>}
      </td>
      <td className="max-w-56 truncate pr-4 font-mono text-xs">{worker_id ?? '–'}</td>
      <td className={`pr-4 whitespace-nowrap ${is_past_twice_lease ? 'text-bad' : ''}`}>
        {overdue_ms === null ? '–' : showDuration(overdue_ms)}
        {is_past_twice_lease ? <span className="sr-only"> (more than twice its lease)</span> : null}
      </td>
      <td className="min-w-64">
        <code className="font-mono text-xs font-semibold">{why.code}</code>{' '}
        <span className="text-soft">
          {why.message}
          {locked_by === null || why.message.includes(String(locked_by.pid)) ? '' : ` (pid ${locked_by.pid})`}
        </span>
      </td>
      <td className="py-1 pl-2 text-right">
        {remedy === null ? null : <RemedyButton remedy={remedy} table={table} />}
      </td>
    </tr>
  )
}
