// A worker gives no lease up before it ends. Whatever was lost on the way, an attempt ends with an answer to its last call; until
// then its lease is extended. Without it a reap would be excused: the worker that gave up runs the job no longer.
import type { EventRow, Violation } from '../../../../chaos/src/judge/history.ts'
import type { Simulation } from '../../world/simulation.ts'

type Run = Pick<Simulation, 'evidence' | 'departures'>

export function* checkGivenUp({ evidence, departures }: Run, events: EventRow[]): Iterable<Violation> {
  const reapedAt = new Map<string, number>()
  for (const { jobId, type, at, details } of events)
    if (type.startsWith('reaper:') && details['cause'] === 'crash')
      reapedAt.set(`${jobId} ${String(details['lease_id'])}`, at)
  for (const { job, lease, worker, at } of evidence.lostAttempts()) {
    // One on its way out waits only for so long.
    if (departures.has(worker)) continue
    if (at < (reapedAt.get(`${job} ${lease}`) ?? 0))
      yield { invariant: 'given up', message: `job ${job}: ${worker} gave up a lease that was reaped later` }
  }
}
