// A producer: enqueues each planned job at its time, until it is answered.
import { retryUntilAnswered } from '../../../src/runtime/calls/retry-until-answered.ts'
import type { JobStore } from '../../../src/store/job-store.ts'
import type { SimDatabase } from '../database/sim-database.ts'
import type { PlannedJob } from '../plan/plan.ts'
import { poisonAttempts } from '../plan/settings.ts'
import type { Evidence } from './evidence.ts'
import { Loop, type VirtualTime } from './virtual-time.ts'

export interface EnqueuerOptions {
  time: VirtualTime
  database: SimDatabase
  evidence: Evidence
  onAnswered: () => void
}

export function startEnqueuer(
  jobs: PlannedJob[],
  { time, database, evidence, onAnswered }: EnqueuerOptions,
): void {
  const loop = new Loop('enqueuer')
  const store = database.connect({ loop, owner: 'enqueuer', kind: 'main', timeoutMs: 30_000 })
  const noteAnswer = (jobId: string | undefined) => {
    onAnswered()
    // Without an id: the job was not created.
    if (jobId !== undefined) evidence.noteEnqueued(jobId)
  }
  for (const [nth, job] of jobs.entries())
    time.after(job.atMs, loop, () => void enqueue(store, nth, job).then(noteAnswer))
}

async function enqueue(store: JobStore, nth: number, planned: PlannedJob): Promise<string | undefined> {
  const { type, workMs, group, owner } = planned
  const job = {
    type,
    payload: { workMs, nth },
    ...(group === undefined ? {} : { group }),
    ...(owner === undefined ? {} : { owner }),
    ...(type === 'hang' || type === 'deaf' ? { stage: type } : {}),
    ...(type === 'poison' ? { maxAttempts: poisonAttempts } : {}),
  }
  const [enqueued] = await retryUntilAnswered(
    () => store.enqueueJobs([job]),
    () => false,
  )
  return enqueued?.jobId
}
