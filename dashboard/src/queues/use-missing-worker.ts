import type { Queue, Remedy } from '../../../src/http/contract/index.ts'
import { useNewestWaiting, useWhy } from '../api/queries.ts'
import { isHeld } from './is-held.ts'

interface MissingWorker {
  message: string
  remedies: Remedy[]
}

/** Why no live worker claims from a queue; null if one does. Asks only if jobs are due while nothing runs or holds them. */
export function useMissingWorker(queue: Queue): MissingWorker | null {
  const isAsked = queue.due > 0 && queue.running === 0 && !isHeld(queue)
  const job = useNewestWaiting(queue, isAsked).data?.jobs[0]
  const why = useWhy(job?.id ?? '', isAsked && job !== undefined).data
  const reason = why?.reasons.find(({ code }) => code === 'NO_WORKER_FOR_TYPE')
  if (!isAsked || reason === undefined) return null
  const { message, remedies } = reason
  return { message, remedies: remedies.filter(({ act }) => act === 'start-worker') }
}
