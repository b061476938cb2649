// A job that its worker claimed ahead, and has no slot for, is given back: another worker may be idle.
import type { History, Violation } from '../../../../chaos/src/judge/history.ts'
import type { Circumstances, Run } from '../circumstances.ts'

/** So long a job may wait for a slot. */
const STALE_MS = 5_000
/** A worker looks at the jobs that wait after each poll, and after this time at the latest. */
const LOOK_MS = 5_000
/** The way of a claim and of a release. */
const CALLS_MS = 1_000

export function* checkClaimedAhead(
  { plan, departures }: Run,
  _: History,
  circumstances: Circumstances,
): Iterable<Violation> {
  const { pollMs, hintedPollMs } = plan.settings
  const mostMs = STALE_MS + Math.min(LOOK_MS, (hintedPollMs ?? pollMs)[1]) + CALLS_MS
  for (const [worker, holds] of circumstances.holds)
    for (const { jobId, from, to, startedAt } of holds) {
      const until = from + mostMs
      if (Math.min(startedAt ?? to, to) <= until || departures.hasLeft(worker, until)) continue
      if (circumstances.isUnhindered(worker, from, until))
        yield {
          invariant: 'claimed ahead',
          message: `job ${jobId}: claimed by ${worker} at ${from}, neither started nor given back within ${mostMs} ms`,
        }
    }
}
