// Says that no live worker claims the jobs of a queue, with the command that starts one.
import type { ReactNode } from 'react'
import type { Queue } from '../../../src/http/contract/index.ts'
import { useNewestWaiting, useWhy } from '../api/queries.ts'
import { RemedyButton } from '../remedies/remedy-button.tsx'

interface MissingWorkerProps {
  queue: Queue
  /** Shown if a worker claims them. */
  children: ReactNode
}

export function MissingWorker({ queue: { queue, table }, children }: MissingWorkerProps) {
  const job = useNewestWaiting(queue, table).data?.jobs[0]
  if (job === undefined) return <>{children}</>
  return (
    <Why id={job.id} table={table}>
      {children}
    </Why>
  )
}

function Why({ id, table, children }: { id: string; table: string; children: ReactNode }) {
  const reasons = useWhy(id).data?.reasons ?? []
  const missing = reasons.find(({ code }) => code === 'NO_WORKER_FOR_TYPE')
  const remedy = missing?.remedies.find(({ act }) => act === 'start-worker')
  if (missing === undefined || remedy === undefined) return <>{children}</>
  return (
    <span className="flex flex-col items-end gap-1 py-1.5" title={missing.message}>
      <span className="font-medium text-bad">none</span>
      <RemedyButton remedy={remedy} table={table} />
    </span>
  )
}
