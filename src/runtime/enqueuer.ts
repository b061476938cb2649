// Enqueue calls that come at the same time become one statement: each answers after its own commit, and nobody waits for
// company. A job that is refused spoils no other.
import { isUnstuckError } from '../errors/index.ts'
import type { NewJob } from '../job/job.ts'
import type { EnqueuedJob } from '../store/job-store.ts'
import { type Batcher, createBatcher } from './batcher.ts'

type Send = (jobs: NewJob[]) => Promise<EnqueuedJob[]>
type Answer = PromiseSettledResult<EnqueuedJob>

export function createEnqueuer(send: Send): (job: NewJob) => Promise<EnqueuedJob> {
  const plain = createLane(send)
  // A key may have to wait for another transaction that has it: only jobs with keys wait with it.
  const keyed = createLane(send)
  return async (job) => {
    const answer = await (job.dedupeKey === undefined ? plain : keyed).add(job)
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  }
}

function createLane(send: Send): Batcher<NewJob, Answer> {
  return createBatcher(async (jobs) => {
    try {
      return (await send(jobs)).map((value) => ({ status: 'fulfilled', value }))
    } catch (error) {
      // The statement writes all or none, so after a refusal each may be sent by itself.
      const isRefused = isUnstuckError(error) && error.code === 'INVALID_ARGUMENT'
      if (!isRefused || jobs.length === 1) throw error
      return Promise.allSettled(jobs.map((job) => sendOne(send, job)))
    }
  })
}

async function sendOne(send: Send, job: NewJob): Promise<EnqueuedJob> {
  const [enqueued] = await send([job])
  if (enqueued === undefined) throw new Error('an enqueue was not answered')
  return enqueued
}
