// Says that no live worker handles the jobs of a queue, with the command that starts one.
import type { Queue } from '../../../src/http/contract/index.ts'
import { useNewestWaiting, useWhy } from '../api/queries.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'

export function MissingWorker({ queue: { queue, table } }: { queue: Queue }) {
  const job = useNewestWaiting(queue, table).data?.jobs[0]
  return job === undefined ? <>–</> : <Why id={job.id} table={table} />
}

function Why({ id, table }: { id: string; table: string }) {
  const reasons = useWhy(id).data?.reasons ?? []
  const missing = reasons.find(({ code }) => code === 'NO_WORKER_FOR_TYPE')
  const remedy = missing?.remedies.find(({ act }) => act === 'start-worker')
  if (missing === undefined || remedy === undefined) return <>–</>
  return (
    <span className="flex flex-col items-end gap-1" title={missing.message}>
      <span className="font-medium text-bad">none</span>
      <RemedyButton remedy={remedy} table={table} />
    </span>
  )
}
