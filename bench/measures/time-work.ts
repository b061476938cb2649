// Times a worker's statements on any store: claim, complete, and an empty sweep.
import type { JobStore } from '../../dist/index.js'
import type { Values } from '../measure.ts'
import { percentile } from '../report/statistics.ts'
import { timed } from '../timed.ts'

export interface WorkToTime {
  store: Pick<JobStore, 'claimJobs' | 'completeJobs' | 'sweepJobs'>
  /** Jobs per call. */
  batch: number
  calls: number
  /** Warm-up calls, which fill caches and plan statements. */
  warmUps: number
  beforeCall?: () => Promise<unknown>
}

/** Medians in milliseconds. */
export async function timeWork({ store, batch, calls, warmUps, beforeCall }: WorkToTime): Promise<Values> {
  const claims: number[] = []
  const completions: number[] = []
  const sweeps: number[] = []
  for (let call = -warmUps; call < calls; call++) {
    await beforeCall?.()
    const [claimMs, jobs] = await timed(() =>
      store.claimJobs({ workerId: 'bench', queues: ['noop'], limit: batch }),
    )
    if (jobs.length < batch) throw new Error('there are too few jobs to claim')
    const [completeMs] = await timed(() => store.completeJobs(jobs))
    const [sweepMs] = await timed(() => store.sweepJobs())
    if (call < 0) continue
    claims.push(claimMs)
    completions.push(completeMs)
    sweeps.push(sweepMs)
  }
  return {
    claim: percentile(claims, 0.5),
    complete: percentile(completions, 0.5),
    sweep: percentile(sweeps, 0.5),
  }
}
