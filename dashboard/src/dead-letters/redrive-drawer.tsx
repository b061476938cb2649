import type { DeadLetterGroup } from '../../../src/http/contract/index.ts'
import { useJobs } from '../api/queries.ts'
import { failureOf } from '../jobs/job-columns.ts'
import { OperationForm } from '../operations/operation-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { JobId } from '../ui/job-id.tsx'

/** Shows examples, retries a canary first, then the rest at a rate, and stops if they fail again. */
export function RedriveDrawer({ group, close }: { group: DeadLetterGroup; close: () => void }) {
  const q = `status:dead cause:${group.cause_id}`
  return (
    <Dialog title={`Redrive ${group.code ?? 'these jobs'}`} onClose={close} isDrawer>
      <OperationForm
        planned={{ action: 'redrive', q, table: group.table }}
        causeId={group.cause_id}
        pace={{ canary: '1', rate: '5' }}
        close={close}
      >
        <Examples q={q} />
      </OperationForm>
    </Dialog>
  )
}

function Examples({ q }: { q: string }) {
  const jobs = useJobs({ q, limit: 5 }, true)
  const shown = jobs.data?.pages[0]?.jobs ?? []
  if (shown.length === 0) return null
  return (
    <div>
      <h3 className="mb-1 font-medium">Examples</h3>
      <ul className="flex flex-col gap-1">
        {shown.map((job) => (
          <li key={job.id} className="flex items-center gap-2">
            <JobId id={job.id} />
            <span className="truncate text-soft">{failureOf(job)?.reason ?? job.type}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
